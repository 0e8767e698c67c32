"""Frames of all serializers: the schema that each row names, the message of a payload, and bare payloads."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto import core
from kcli.proto.faults import Fault
from kcli.proto.plain.avro import LONGEST_NAME
from kcli.proto.plain.protobuf_tree import Payload
from kcli.proto.spans import Gathered, Spans
from kcli.schemas import PROTOBUF, SchemaRefused
from kcli.serde.protobuf.indexes import read_indexes, read_name
from kcli.serde.protobuf.reader import IndexedReader, ProtobufSchema, parsed_schema
from kcli.serde.protobuf.schema.types import Message, message_at
from kcli.serde.schemas.frames import (
    APICURIO,
    BUF,
    EVENT,
    GLUE,
    GUID,
    ID,
    JSON_FORMS,
    ZLIB,
    front,
    may_name,
    of_headers,
    reader_behind,
    unpacked,
)
from kcli.serde.schemas.payloads import Unreadable
from kcli.serde.schemas.readers import reader_of

if TYPE_CHECKING:
    Names = tuple[list[bytes], array[int], array[int]]
    """The names, the number of each row's name (-1 for none), and the size of each row's framing in bytes."""

MOST_FRONT = 400  # bytes before a payload that identify its message
Open = Callable[[bytes], bytes]
"""Returns the bare payload. Raises ValueError."""


def parsed(known: Known) -> ProtobufSchema:
    """Raises SchemaRefused."""
    return parsed_schema(known.schema.text, tuple(text for _, text in known.referred))


class BareMessage:
    """The message of payloads without a prefix: the one given by the user, "" for the first."""

    def __init__(self, known: Known, message: str) -> None:
        """Raises SchemaRefused."""
        self._name = parsed(known).message(message).name

    def message(self, data: bytes) -> tuple[str, int]:
        """Return its full name, and no prefix bytes."""
        return self._name, 0

    def unindexed(self, data: bytes, *, chosen: bool) -> str:
        """Do nothing: payloads have no indexes anyway."""
        return ""


class Fronts:
    """The messages of payloads under one name. `wanted` is the full name of the reader's message."""

    def __init__(self, known: Known, name: bytes, wanted: str) -> None:
        """Raises SchemaRefused."""
        self._schema = parsed(known)
        self._form, self._rest = name[0], name[front(name) :]
        self._wanted = wanted
        self._indexed: IndexedReader | None = None

    def message(self, data: bytes) -> tuple[str, int]:
        """Return the full name of the message, and the number of bytes before it. Raises Unreadable, SchemaRefused."""
        if self._form in JSON_FORMS:  # encoded again as the reader's message
            return self._wanted, 0
        if self._form == GLUE:
            return self._numbered(data)
        if self._form in (BUF, EVENT) or (self._form in APICURIO and self._rest):
            return self._schema.message(self._rest.decode(errors="replace")).name, 0
        name = None if self._rest else read_name(data)
        if name is not None:
            return self._schema.message(name).name, data[0] + 1
        path, size = read_indexes(self._rest or data)
        found: Message | None = message_at(self._schema.messages, path)
        if found is None:
            raise Unreadable(f"its schema has no message with the indexes {', '.join(map(str, path))}")
        return found.name, 0 if self._rest else size

    def _numbered(self, data: bytes) -> tuple[str, int]:
        """Find the message by AWS Glue's number."""
        payload, ordered = Payload(data), self._schema.ordered()
        try:
            number = payload.varint(len(data))
        except Fault as fault:
            raise Unreadable(str(fault)) from None
        if number >= len(ordered):
            raise Unreadable(f"its schema has no message with the number {number}")
        return ordered[number].name, payload.at

    def unindexed(self, data: bytes, *, chosen: bool) -> str:
        """Return the full name of the only message that can read a payload without indexes, as KafkaJS writes it; ""
        for none. A reader's message that the user has `chosen` has precedence. Raises Unreadable for several."""
        if self._form in (GLUE, BUF, EVENT, *JSON_FORMS) or self._rest or (data and data[0] < 8):
            return ""
        if self._indexed is None:
            self._indexed = IndexedReader(self._schema)
        try:
            self._indexed.json(data)
            return ""  # its indexes identify it
        except Unreadable:
            pass
        names = list(self._indexed.unindexed.fits(data))
        if chosen and self._wanted in names:
            return self._wanted
        if len(names) > 1:
            raise Unreadable(
                f"it has no message indexes, and {' and '.join(names[:3])} can all read it; add #MESSAGE to the "
                "reader's schema to choose the message"
            )
        return next(iter(names), "")


class Frames:
    """Provides `core.frame_names` with columns without headers."""

    def __init__(self, data: Any, rows: int) -> None:
        self.data = data
        self.header_starts = self.header_counts = array("i", bytes(4 * rows))


def names_of(spans: tuple[Any, Any, Any], got: Gathered, field: str) -> Names:
    """Return the names of keys or values (`field`), located by `spans`. A header, which names the schema of a bare
    payload, has precedence over the cell's prefix."""
    data, starts, lengths = spans
    frames: Any = Frames(data, len(starts))
    names, numbers, skips = core.frame_names(frames, starts, lengths, b"")
    if got.header_ends is None or got.header_names is None or got.header_values is None:
        return names, numbers, skips
    known = {name: number for number, name in enumerate(names)}
    for row, name in _in_headers(got.header_ends, got.header_names, got.header_values, field):
        if row < len(lengths) and lengths[row] >= 0:
            numbers[row], skips[row] = known.setdefault(name, len(known)), 0
    return list(known), numbers, skips


def _in_headers(header_ends: Any, names: Spans, values: Spans, field: str) -> list[tuple[int, bytes]]:
    """Return the rows whose headers name a schema, and the names; the last header of a row counts."""
    from kcli.pipeline.formats.arrow import binary

    ends = np.frombuffer(header_ends, np.int32)
    titles, contents = binary(names), binary(values)
    found = _of_confluent(ends, titles, contents, f"__{field}_schema_id".encode())
    if may_name(bytes(names.data) + b"\n" + bytes(values.data), field):
        found += _of_others(ends, titles.to_pylist(), contents.to_pylist(), field)
    return found


def _of_confluent(ends: Any, titles: pa.Array, contents: pa.Array, title: bytes) -> list[tuple[int, bytes]]:
    places = np.flatnonzero(pc.equal(titles, title).to_numpy(zero_copy_only=False))
    rows = np.searchsorted(ends[1:], places, side="right").tolist()
    found = []
    for row, place in zip(rows, places.tolist(), strict=True):
        name = (contents[place].as_py() or b"")[:LONGEST_NAME]
        if (name[:1] == bytes([ID]) and len(name) == 5) or (name[:1] == bytes([GUID]) and len(name) >= 17):
            found.append((row, name))
    return found


def _of_others(
    ends: Any, titles: Sequence[bytes], contents: Sequence[bytes | None], field: str
) -> list[tuple[int, bytes]]:
    """Return those of Apicurio, Azure, Buf and CloudEvents."""
    found = []
    for row in np.flatnonzero(np.diff(ends)).tolist():
        start, stop = ends[row], ends[row + 1]
        texts = [title.decode("utf-8", "surrogateescape") for title in titles[start:stop]]
        name = of_headers(list(zip(texts, contents[start:stop], strict=True)), field)
        if name:
            found.append((row, name))
    return found


def compressed(name: bytes) -> bool:
    return name[0] == GLUE and name[1] == ZLIB


def in_json(name: bytes) -> bool:
    return name[0] in JSON_FORMS


def opening(name: bytes, write: Callable[[str], bytes] | None) -> Open | None:
    """Return the function that opens payloads with a name; None if they are bare. `write` encodes JSON as payload, None
    if payloads are JSON."""
    if compressed(name):
        return unpacked
    if not in_json(name) or write is None:
        return None

    def written(payload: bytes) -> bytes:
        try:
            return write(payload.decode())
        except ValueError as problem:
            raise Unreadable(f"the JSON of its schema: {problem}") from None

    return written


def opened(
    cells: pa.Array, skips: array[int], which: array[int], openings: Sequence[Open | None]
) -> tuple[pa.Array, dict[int, str]]:
    """Return the cells with opened payloads, which then have no prefix (`skips`), and by row why opening failed;
    `which` then assigns no reader to the row."""
    texts, errors = cells.to_pylist(), dict[int, str]()
    for row, number in enumerate(which):
        way = openings[number] if number >= 0 else None
        if way is None or texts[row] is None:
            continue
        try:
            texts[row], skips[row] = way(texts[row][skips[row] :]), 0
        except Unreadable as problem:
            errors[row], which[row] = str(problem), -1
    return pa.array(texts, pa.binary()), errors


def with_rules(known: Known, name: bytes, way: Open | None) -> Open | None:
    """Return the function that opens payloads with a name (`way`, None if they are bare) and runs their rules. Raises
    SchemaRefused for an unsupported rule."""
    if 'READ"' not in known.schema.rule_set or in_json(name):
        return way
    bare = name[:1] + b"\0" + name[2:] if compressed(name) else name
    reader = reader_behind(bare, known.schema, reader_of()(known.schema, list(known.referred)))
    ruled: Open | None = getattr(reader, "payload", None)  # of a reader that runs rules
    if ruled is None:
        return way
    return ruled if way is None else lambda payload: ruled(way(payload))


def check_rules_for_reading(sealed: SealedSchemas, subject: str) -> None:
    """Raise UsageError if the reader's schema, or a version of its subject, has a rule for reading that is not run
    here: values would differ from those of `kcli consume`."""
    if not sealed.rules:
        return
    versions = [known for _, known in sealed.written if subject and known.schema.subject == subject]
    if sealed.bare is not None:
        _check_bare(sealed.bare)
        versions.append(sealed.bare)
    for known in {id(one): one for one in (sealed.reader, *versions)}.values():
        try:
            with_rules(known, bytes([ID]) * 5, None)
        except SchemaRefused as problem:
            raise UsageError(f"{problem} (option withoutRules true)") from None


def _check_bare(known: Known) -> None:
    """Raise UsageError if rules would apply to Protobuf messages without a prefix."""
    if known.schema.kind == PROTOBUF and 'READ"' in known.schema.rule_set:
        raise UsageError(
            f"{known.schema.name} has rules for reading, which run only for framed messages (option withoutRules true)"
        )
