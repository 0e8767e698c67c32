"""A column of frames as typed columns: each record by the schema that its frame names, resolved to the reader's. Where
the user names the schema of payloads without a frame, it reads those, and what begins like a frame by chance.

The schemas came with the task. One that is new since the query began is asked for once in a process of Python. A
registry that fails ends the task, as the records may be good; an id that it does not have makes bad records.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kcli.errors import KcliError
from kcli.pipeline.formats.avro_arrow import spans_of
from kcli.pipeline.schemas.bare import BareField
from kcli.pipeline.schemas.framing.names import names_of
from kcli.pipeline.schemas.framing.opened import Open, in_json, opened, opening
from kcli.pipeline.schemas.framing.ruled import with_rules
from kcli.pipeline.schemas.look_up import named
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.spans import Gathered
from kcli.schemas import SchemaNotFound, SchemaRefused
from kcli.serde.contracts.rules import encrypting
from kcli.serde.schemas.frames import BUF, ID, front, lasting

Decoded = tuple[pa.Array, dict[int, str]]

UNFRAMED = "no schema id is in front of it"
GUESSES = 32
"""Names that a registry does not have, from which on others that it may not have are no longer asked for."""
KEPT = 1000
_found: OrderedDict[tuple[str, bytes], Known] = OrderedDict()
"""What this process asked registries for. Schemas of an id never change."""


class RegisteredField:
    """The keys or the values of a task's records. A kind of schema says how payloads are read: `reader_of` and
    `read`."""

    def __init__(self, sealed: SealedSchemas) -> None:
        self.sealed = sealed
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
        """What reads payloads of a schema, whose frames have this name. Raises SchemaRefused."""
        raise NotImplementedError

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Any]) -> Decoded:
        """The cells, each by its reader after `skips` bytes; -1 makes a row null."""
        raise NotImplementedError

    def writer_of(self, known: Known) -> Callable[[str], bytes] | None:
        """What makes a payload of the JSON that Apicurio's serializers write; None where payloads are JSON. Raises
        SchemaRefused."""
        return None

    def __call__(self, cells: pa.Array, got: Gathered) -> Decoded:
        """Binary cells as the columns of the reader's schema, and by row why a record has none. Raises KcliError where
        the registry cannot be asked."""
        if self.sealed.bare is not None:
            self._bare = self._bare or BareField(self, self.sealed.bare, self.sealed.payload)
            if not self.sealed.settings.name:
                return self._bare(cells, got)
        spans = spans_of(cells)
        names, numbers, skips = names_of(spans, got, self.sealed.field)
        used = np.bincount(np.asarray(numbers, np.int32) + 1, minlength=len(names) + 1)[1:]
        # a header may have taken a name's place
        readers = array("i", [*(self._number(name) if n else -1 for n, name in zip(used, names, strict=True)), -1])
        # -1, no name, is the last one's number
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
        return made, errors

    def _read(self, cells: pa.Array, skips: array[int], which: array[int]) -> Decoded:
        closed = dict[int, str]()
        if any(self._openings[number] for number in set(which) if number >= 0):
            cells, closed = opened(cells, skips, which, self._openings)
        made, errors = self.read(cells, skips, which, self._readers)
        return made, errors | closed

    def _instead(self, name: bytes) -> int:
        """The number of the reader of payloads without a frame; -1 for a name in front, or in a header, whose schema
        the registry has."""
        assert self._bare is not None
        if name and name not in self._absent:
            return -1
        kept = name if name[:1] == bytes([BUF]) else b""
        if kept not in self._bare_numbers:
            reader, way = self._bare.alone(kept)
            self._readers.append(reader)
            self._openings.append(way)
            self._bare_numbers[kept] = len(self._readers) - 1
        return self._bare_numbers[kept]

    def _number(self, name: bytes) -> int:
        """The number of the reader for a name; -1 for none."""
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
        except KcliError as problem:
            no_guids = name[0] != ID and not problem.retriable  # of the registry
            if not (no_guids or isinstance(problem, SchemaNotFound | SchemaRefused)):
                raise
            self._missing += 1
            if isinstance(problem, SchemaNotFound):
                self._absent.add(name)
            self._reasons[name] = str(problem)
            return -1
        self._readers.append(reader)
        self._openings.append(way)
        return len(self._readers) - 1

    def _known(self, name: bytes) -> Known:
        """The schema of a name. Raises SchemaNotFound, KcliError."""
        name = name[: front(name)]  # behind it are a message's indexes
        known = self._written.get(name)
        if known is not None:
            return known
        settings = self.sealed.settings
        key = settings.name, name
        if key not in _found:
            if self._missing >= max(GUESSES, 4 * len(self._readers)):
                raise SchemaNotFound("more ids of schemas than the registry has")
            known = named(settings, name)
            if not lasting(name):
                return known
            _found[key] = known
            if len(_found) > KEPT:
                _found.popitem(last=False)
        return _found[key]
