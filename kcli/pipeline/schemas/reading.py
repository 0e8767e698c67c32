"""Converts framed values to typed columns: each record is read with the schema of its frame, resolved to the reader's.
If the user gives the schema of unframed payloads, it reads those, and bytes that look like a frame by chance.

Schemas are sent with the task. A schema newer than the query is requested once per Python process. A failing registry
fails the task, because the records may be good; an id that it does not have makes records bad.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kcli.errors import KcliError
from kcli.pipeline.formats.avro_arrow import spans_of
from kcli.pipeline.schemas.framing import BareMessage, Frames, Open, in_json, names_of, opened, opening, with_rules
from kcli.pipeline.schemas.look_up import named
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.spans import Gathered
from kcli.schemas import PROTOBUF, Schema, SchemaNotFound, SchemaRefused
from kcli.serde.contracts.rules import encrypting
from kcli.serde.schemas.bare import frame_skips
from kcli.serde.schemas.frames import BUF, ID, front, lasting

if TYPE_CHECKING:
    from typing import Protocol

    from kcli.pipeline.formats.formats import Unknown

    class Field(Protocol):
        """A kind of schema: reading.RegisteredField."""

        sealed: SealedSchemas

        def reader_of(self, known: Known, name: bytes) -> Any: ...
        def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Any]) -> Decoded: ...


Decoded = tuple[pa.Array, dict[int, str]]

UNFRAMED = "no schema id is in front of it"
GUESSES = 32
"""Number of names unknown to the registry after which further doubtful names are no longer looked up."""
KEPT = 1000
_found: OrderedDict[tuple[str, bytes], Known] = OrderedDict()
"""What this process requested from registries. The schema of an id never changes."""
FRAMED, BARE = 0, 1
"""The numbers of the readers: after a frame, and of a bare payload."""


class RegisteredField:
    """Decodes the keys or the values of a task's records. Subclasses implement `reader_of` and `read` for one type of
    schema. `unknown`, if given, collects for each row the fields of its writer's schema that the reader's lacks."""

    def __init__(self, sealed: SealedSchemas, unknown: Unknown | None = None) -> None:
        self.sealed = sealed
        self._unknown = unknown
        self._lacking: list[Sequence[str]] = []
        """By reader, the fields of its schema that the reader's lacks; empty unless it is newer."""
        self._written = dict(sealed.written)
        self._readers: list[Any] = []
        self._openings: list[Open | None] = []
        self._numbers: dict[bytes, int] = {}
        self._reasons: dict[bytes, str] = {}
        self._missing = 0
        self._absent: set[bytes] = set()
        self._bare: BareField | None = None
        self._bare_numbers: dict[bytes, int] = {}

    def reader_of(self, known: Known, name: bytes) -> Any:
        """Return the reader of a schema's payloads, whose frames have this name. Raises SchemaRefused."""
        raise NotImplementedError

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Any]) -> Decoded:
        """Return the cells, each decoded by its reader after `skips` bytes; -1 makes a row null."""
        raise NotImplementedError

    def writer_of(self, known: Known) -> Callable[[str], bytes] | None:
        """Return the encoder for the JSON that Apicurio's serializers write; None if payloads are JSON. Raises
        SchemaRefused."""
        return None

    def lacking(self, known: Known) -> list[str]:
        """Return the fields of a newer schema that the reader's lacks. Raises SchemaRefused."""
        raise NotImplementedError

    def note_unknown(self, unknown: Unknown, which: array[int], lacking: Sequence[Sequence[str]]) -> None:
        """Leave in `unknown` the rows with a newer schema, each with the fields that the reader's lacks."""
        unknown.keep(np.array([bool(paths) for paths in lacking])[np.asarray(which, np.int32)])

    def __call__(self, cells: pa.Array, got: Gathered) -> Decoded:
        """Return binary cells as columns of the reader's schema, and by row why a record has none. Raises KcliError if
        the registry does not respond."""
        if self.sealed.bare is not None:
            self._bare = self._bare or BareField(self, self.sealed.bare, self.sealed.payload)
            if not self.sealed.settings.name:
                return self._bare(cells, got)
        spans = spans_of(cells)
        names, numbers, skips = names_of(spans, got, self.sealed.field)
        used = np.bincount(np.asarray(numbers, np.int32) + 1, minlength=len(names) + 1)[1:]
        # a header may have replaced a name
        readers = array("i", [*(self._number(name) if n else -1 for n, name in zip(used, names, strict=True)), -1])
        # -1, no name, indexes the last one
        which = array("i", np.asarray(readers, np.int32)[np.asarray(numbers, np.int32)].tobytes())
        unread = np.flatnonzero((np.asarray(which) < 0) & (spans[2] >= 0)).tolist()
        reasons = dict[int, str]()
        for row in unread:
            name = names[numbers[row]] if numbers[row] >= 0 else b""
            if name or self._bare is None:
                reasons[row] = self._reasons.get(name, UNFRAMED)
            if self._bare is not None and (not name or skips[row] or name[0] == BUF):
                which[row], skips[row] = self._instead(name), 0
        made, errors = self._read(cells, array("i", skips), array("i", which))
        by_chance = [row for row in errors if skips[row]] if self._bare is not None else []
        if by_chance:
            before = errors
            for row in by_chance:
                which[row], skips[row] = self._instead(b""), 0
            again, left = self._read(cells, skips, which)
            if len(left) < len(before):
                made, errors = again, {row: before.get(row, reason) for row, reason in left.items()}
        errors |= {row: reason for row, reason in reasons.items() if which[row] < 0 or row in errors}
        if self._unknown is not None:
            self.note_unknown(self._unknown, which, [*self._lacking, ()])  # -1, no reader, indexes the last one
        return made, errors

    def _read(self, cells: pa.Array, skips: array[int], which: array[int]) -> Decoded:
        closed = dict[int, str]()
        if any(self._openings[number] for number in set(which) if number >= 0):
            cells, closed = opened(cells, skips, which, self._openings)
        made, errors = self.read(cells, skips, which, self._readers)
        return made, errors | closed

    def _instead(self, name: bytes) -> int:
        """Return the number of the reader for payloads without a frame; -1 if the registry has the schema of the name
        in the frame or header."""
        assert self._bare is not None
        if name and name not in self._absent:
            return -1
        kept = name if name[:1] == bytes([BUF]) else b""
        if kept not in self._bare_numbers:
            reader, way = self._bare.alone(kept)
            self._readers.append(reader)
            self._openings.append(way)
            self._lacking.append(())
            self._bare_numbers[kept] = len(self._readers) - 1
        return self._bare_numbers[kept]

    def _number(self, name: bytes) -> int:
        """Return the number of the reader for a name; -1 for none."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._made(name)
        return number

    def _made(self, name: bytes) -> int:
        try:
            known = self._known(name)
            sealing = encrypting(known.schema)
            if sealing is not None:
                raise SchemaRefused(f"encrypted: {sealing.key or sealing.name}")
            reader = self.reader_of(known, name)
            way = opening(name, self.writer_of(known) if in_json(name) else None)
            if self.sealed.rules:
                way = with_rules(known, name, way)
            asked = self._unknown is not None and newer(known.schema, self.sealed.reader.schema)
            lacking = self.lacking(known) if asked else ()
        except KcliError as problem:
            no_guids = name[0] != ID and not problem.retriable  # the registry has none
            if not (no_guids or isinstance(problem, SchemaNotFound | SchemaRefused)):
                raise
            self._missing += 1
            if isinstance(problem, SchemaNotFound):
                self._absent.add(name)
            self._reasons[name] = str(problem)
            return -1
        self._readers.append(reader)
        self._openings.append(way)
        self._lacking.append(lacking)
        return len(self._readers) - 1

    def _known(self, name: bytes) -> Known:
        """Return the schema for a name. Raises SchemaNotFound, KcliError."""
        name = name[: front(name)]  # after it are a message's indexes
        known = self._written.get(name)
        if known is not None:
            return known
        settings = self.sealed.settings
        key = settings.name, name
        if key not in _found:
            if self._missing >= max(GUESSES, 4 * len(self._readers)):
                raise SchemaNotFound("more schema ids than the registry has")
            known = named(settings, name)
            if not lasting(name):
                return known
            _found[key] = known
            if len(_found) > KEPT:
                _found.popitem(last=False)
        return _found[key]


def newer(schema: Schema, than: Schema) -> bool:
    """Whether a schema was registered later, by its version or the registry's ids; False if neither is known."""
    if schema.subject == than.subject and min(schema.version, than.version) >= 0:
        return schema.version > than.version
    return min(schema.id, than.id) >= 0 and schema.id > than.id


class BareField:
    """Decodes the keys or the values of a task's records with the single schema `known`, like `kcli consume
    --value-schema`. `message` names a Protobuf message: "" means the one in Buf's header, or the first."""

    def __init__(self, field: Field, known: Known, message: str) -> None:
        """Raises SchemaRefused."""
        self._field, self._known, self._message = field, known, message
        of_messages = known.schema.kind == PROTOBUF
        behind = field.reader_of(known, bytes([ID]) * 5)
        self._readers = [behind, BareMessage(known, message) if of_messages else behind]
        self._named: dict[bytes, int] = {}
        self._by_header = of_messages and not message
        way = with_rules(known, bytes([ID]) * 5, None) if field.sealed.rules and not of_messages else None
        self._openings: list[Open | None] = [way, way]

    def __call__(self, cells: pa.Array, got: Gathered) -> Decoded:
        """Return binary cells as columns of the reader's schema, and by row why a record has none."""
        spans = spans_of(cells)
        data, starts, lengths = spans
        which = np.where(lengths >= 0, BARE, -1).astype(np.int32)
        frames: Any = Frames(data, len(starts))
        if self._by_header and self._names(which, spans, got):
            return self._read(cells, array("i", bytes(4 * len(which))), which)
        return self._tried(cells, frame_skips(frames, starts, lengths), which)

    def alone(self, name: bytes) -> tuple[Any, Open | None]:
        """Return the reader of an unframed payload, for the message in a header's name, and the function that
        opens it."""
        number = self._number(name) if name and self._by_header else BARE
        return self._readers[number], self._openings[number]

    def _tried(self, cells: pa.Array, skips: array[int] | None, bare: Any) -> Decoded:
        """Decode from the beginning; rows that all begin like frames are decoded after the frames or from the
        beginning, whichever fails less."""
        none, behind = array("i", bytes(4 * len(bare))), np.where(bare < 0, bare, FRAMED).astype(np.int32)
        ways = [(none, bare)] if skips is None else [(skips, behind), (none, bare), (skips, bare)]
        best: Decoded | None = None
        for skip, which in ways:
            made, errors = self._read(cells, array("i", skip), which)
            if best is None or len(errors) < len(best[1]):
                best = made, errors
            if not errors:
                break
        assert best is not None
        return best

    def _read(self, cells: pa.Array, skips: array[int], numbers: Any) -> Decoded:
        which, closed = array("i", numbers.tobytes()), dict[int, str]()
        if self._openings[BARE] is not None:
            cells, closed = opened(cells, skips, which, self._openings)
        made, errors = self._field.read(cells, skips, which, self._readers)
        return made, errors | closed

    def _names(self, which: Any, spans: tuple[Any, Any, Any], got: Gathered) -> bool:
        """Assign rows to the messages in Buf's header; return whether there are any."""
        names, numbers, _ = names_of(spans, got, self._field.sealed.field)
        readers = np.asarray([*(self._number(name) for name in names), -1], np.int32)
        named = readers[np.asarray(numbers, np.int32)]  # -1, no name, indexes the last one
        rows = named >= 0
        which[rows] = named[rows]
        return bool(rows.any())

    def _number(self, name: bytes) -> int:
        """Return the number of the reader for the message in Buf's header; -1 for another kind of name."""
        if name[:1] != bytes([BUF]):
            return -1
        if name not in self._named:
            self._readers.append(self._field.reader_of(self._known, name))
            self._openings.append(None)
            self._named[name] = len(self._readers) - 1
        return self._named[name]
