"""Protobuf records as typed columns: each payload is read with the reader's message, whatever schema wrote it, because
fields are identified by number. The writer's schema determines the message of a payload."""

from __future__ import annotations

import json
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from kcli.pipeline.formats.avro_arrow import arrow_type, spans_of
from kcli.pipeline.formats.formats import Unknown
from kcli.pipeline.formats.json_time import instant_of
from kcli.pipeline.schemas.framing import MOST_FRONT, BareMessage, Fronts, parsed
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto import protobuf_code as code
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns import MOST, Column
from kcli.serde.avro.exact import read_json
from kcli.serde.protobuf.program import known
from kcli.serde.protobuf.reader import ProtobufReader
from kcli.serde.protobuf.schema.types import Enum, Field, Message
from kcli.serde.schemas.payloads import Unreadable, cells_of
from kcli.serde.schemas.readers import read_rows

SCALARS = {
    "double": "double",
    "float": "float",
    "int32": "int",
    "sint32": "int",
    "sfixed32": "int",
    "uint32": "long",
    "fixed32": "long",
    "int64": "long",
    "sint64": "long",
    "sfixed64": "long",
    "uint64": "unsigned",
    "fixed64": "unsigned",
    "bool": "boolean",
    "string": "string",
    "bytes": "binary",
}
KINDS = {code.KINDS[name]: kind for name, kind in SCALARS.items()}
DIGITS = 20  # of an unsigned 64-bit number
NONE: Mapping[int, Any] = MappingProxyType({})


def protobuf_column(known: Known, message: str) -> Column:
    """Return the column of a schema's message, "" for its first. Raises SchemaRefused."""
    return message_column(parsed(known).message(message))


Front = Fronts | BareMessage


class ProtobufField(RegisteredField):
    """Keys or values in Protobuf."""

    def __init__(self, sealed: SealedSchemas, unknown: Unknown | None = None) -> None:
        super().__init__(sealed, unknown)
        schema = parsed(sealed.reader)
        message = schema.message(sealed.message)
        self._name = message.name
        self._reader = ProtobufReader(schema, message)
        defaults: dict[int, Any] = {}
        self._message = message
        self._column = message_column(message, defaults)
        self._defaults = defaults if sealed.defaults else {}
        self._type = arrow_type(self._column)

    def reader_of(self, known: Known, name: bytes) -> Fronts:
        return Fronts(known, name, self._name)

    def writer_of(self, known: Known) -> Callable[[str], bytes]:
        schema = parsed(known)
        writer = schema.writer(schema.message(self._name))
        return lambda text: writer.write(read_json(text))

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Front]) -> Decoded:
        spans = spans_of(cells)
        data, starts, lengths = spans
        errors: dict[int, str] = {}
        behind = array("i", skips)
        for row in np.flatnonzero((np.asarray(which) >= 0) & (lengths >= 0)).tolist():
            begin, stop = int(starts[row]) + skips[row], int(starts[row] + lengths[row])
            try:
                name, size = readers[which[row]].message(bytes(data[begin : min(stop, begin + MOST_FRONT)]))
            except (Unreadable, SchemaRefused) as problem:
                errors[row] = str(problem)
                continue
            behind[row] += size
            if name != self._name:
                errors[row] = self._another(name)
        numbers = array("i", [-1 if number < 0 or row in errors else 0 for row, number in enumerate(which)])
        before = self._reader.unknown
        texts, said = read_rows(data, starts, lengths, behind, numbers, [self._reader])
        errors |= dict(said)
        rows = zip(cells_of(texts), numbers, strict=True)
        shown = [None if n < 0 or row in errors else text for row, (text, n) in enumerate(rows)]
        self._without_indexes(spans, skips, which, readers, shown, errors)
        if self._unknown is not None and self._reader.unknown > before:
            self._note_unknown(spans, behind, numbers)
        values = (None if text is None else fitted(self._column, json.loads(text), self._defaults) for text in shown)
        return pa.array(list(values), self._type), errors

    def _note_unknown(self, spans: tuple[Any, Any, Any], behind: array[int], numbers: array[int]) -> None:
        """Find the rows with fields that the message lacks, one by one, because few batches have any."""
        assert self._unknown is not None
        data, starts, lengths = spans
        for row in np.flatnonzero((np.asarray(numbers) >= 0) & (lengths >= 0)).tolist():
            before = self._reader.unknown
            try:
                self._reader.json(bytes(data[starts[row] + behind[row] : starts[row] + lengths[row]]))
            except Unreadable:
                continue
            if self._reader.unknown > before:
                self._unknown.note([row], ["fields of a newer schema"])

    def lacking(self, known: Known) -> list[str]:
        theirs = parsed(known).types.get(self._name)
        paths = _lacking(theirs, self._message, "", set()) if isinstance(theirs, Message) else iter(())
        return list(paths) or ["fields of a newer schema"]

    def note_unknown(self, unknown: Unknown, which: array[int], lacking: Sequence[Sequence[str]]) -> None:
        super().note_unknown(unknown, which, lacking)
        rows = list(unknown.by_row())
        unknown.clear()
        for row in rows:
            unknown.note([row], lacking[which[row]])

    def _without_indexes(
        self,
        spans: tuple[Any, Any, Any],
        skips: array[int],
        which: array[int],
        readers: Sequence[Front],
        shown: list[bytes | None],
        errors: dict[int, str],
    ) -> None:
        """Handle rows that do not match their indexes, and may have none: if so they are shown, and not errors."""
        data, starts, lengths = spans
        for row in list(errors):
            payload = bytes(data[starts[row] + skips[row] : starts[row] + lengths[row]])
            try:
                name = readers[which[row]].unindexed(payload, chosen=bool(self.sealed.message))
                if name == self._name:
                    shown[row] = self._reader.json(payload)
                    del errors[row]
                elif name:
                    errors[row] = self._another(name)
            except Unreadable as problem:
                errors[row] = str(problem)

    def _another(self, name: str) -> str:
        return f"it is a message {name}, but {self.sealed.field}s are read as {self._name}"


def _lacking(writer: Message, reader: Message, path: str, open: set[tuple[int, int]]) -> Iterator[str]:
    """Yield the paths of one message's fields that another lacks."""
    if (id(writer), id(reader)) in open:
        return
    open.add((id(writer), id(reader)))
    for number, field in sorted(writer.fields.items()):
        inner = f"{path}.{field.name}" if path else field.name
        found = reader.fields.get(number)
        if found is None:
            yield inner
        elif isinstance(field.type, Message) and isinstance(found.type, Message):
            yield from _lacking(field.type, found.type, inner, open)


def message_column(message: Message, defaults: dict[int, Any] | None = None) -> Column:
    """Return the column of a message. `defaults` collects, by column id, the values of fields without presence that are
    not sent. Raises SchemaRefused for a recursive message, and for too many columns."""
    column = Column("struct", nullable=True)
    _Columns({} if defaults is None else defaults).message(column, message)
    return column


ZERO = {"boolean": False, "binary": b"", "decimal": Decimal(0), "float": 0.0, "double": 0.0, "int": 0, "long": 0}


class _Columns:
    def __init__(self, defaults: dict[int, Any]) -> None:
        self.count = 0
        self.defaults = defaults
        self.open: list[int] = []

    def message(self, column: Column, message: Message) -> None:
        if id(message) in self.open:
            raise SchemaRefused(
                f"the message {message.name} contains itself, which Spark columns do not support: read with a schema "
                "without that field (readerSchema), or as binary"
            )
        self.open.append(id(message))
        column.parts = [self.field(field) for _, field in sorted(message.fields.items())]
        self.open.pop()

    def field(self, field: Field) -> Column:
        self.count += 1
        if self.count > MOST:
            raise SchemaRefused(f"the Protobuf schema has more than {MOST:,} columns")
        entry = field.entry
        if entry is not None:
            column = Column("map", field.name)
            column.parts = [self.single(entry.fields[1], "key"), self.single(entry.fields[2], "value")]
            return column
        if field.repeated:
            column = Column("array", field.name)
            column.parts = [self.single(field, "element")]
            return column
        return self.single(field, field.name)

    def single(self, field: Field, name: str) -> Column:
        """Return the column for one value of a field."""
        column = Column("string", name, nullable=True)
        kind = KINDS.get(field.kind, "string")
        if isinstance(field.type, Message):
            own = known(field.type)
            if own == code.WRAPPER:
                kind = KINDS[field.type.fields[1].kind]
            elif own:
                kind = "timestamp" if own == code.TIMESTAMP else "string"
            else:
                kind = "struct"
                self.message(column, field.type)
        if kind == "unsigned":
            kind, column.precision = "decimal", DIGITS
        column.kind = kind
        if not field.presence and not isinstance(field.type, Message):
            first = next(iter(field.type.names.values()), "") if isinstance(field.type, Enum) else ""
            self.defaults[id(column)] = ZERO.get(kind, first)
        return column


def fitted(column: Column, value: Any, defaults: Mapping[int, Any] = NONE) -> Any:
    """Return a value of proto3's JSON in Arrow's form; `defaults` are as in `message_column`."""
    if value is None:
        return [] if column.kind in ("array", "map") else defaults.get(id(column))
    kind = column.kind
    if kind == "struct":
        return {part.name: fitted(part, value.get(part.name), defaults) for part in column.parts}
    if kind == "array":
        return [fitted(column.parts[0], item, defaults) for item in value]
    if kind == "map":
        key, item = column.parts
        return [(fitted(key, name), fitted(item, one, defaults)) for name, one in value.items()]
    return _scalar(kind, value)


def _scalar(kind: str, value: Any) -> Any:
    if kind in ("int", "long"):
        return int(value)
    if kind in ("float", "double"):
        return float(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else value == "true"  # map keys are text
    if kind == "decimal":
        return Decimal(value)
    if kind == "binary":
        return b64decode(value)
    if kind == "timestamp":
        return instant_of(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
