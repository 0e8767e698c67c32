"""Columns of keys and values with a registry's schemas: their types, and their readers in a task."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kcli.errors import UsageError
from kcli.pipeline.formats.avro_arrow import AvroColumns
from kcli.pipeline.formats.formats import Unknown
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.core import AvroReader
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns import Column, column_reader, columns_of
from kcli.serde.avro.exact import read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.types import Array, Map, Record, Type, Union
from kcli.serde.avro.write import AvroWriter
from kcli.serde.contracts.rules import encrypting

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

TYPES = {
    "null": "VOID",
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "local": "TIMESTAMP_NTZ",
    "string": "STRING",
    "binary": "BINARY",
}


def column_of(sealed: SealedSchemas) -> Column:
    """Return the column of the reader's schema. Raises SchemaRefused for a schema that no column supports, and for
    encrypted values."""
    schema = sealed.reader.schema
    rule = encrypting(schema)
    if rule is not None:
        raise SchemaRefused(
            f"{schema.name} encrypts {sealed.field}s (rule {rule.name}, {rule.type}, key "
            f"{rule.key or 'not named'}), but kcli has no key: read them as {sealed.field}Format binary"
        )
    if sealed.form == "protobuf":
        from kcli.pipeline.schemas.protobuf import protobuf_column

        return protobuf_column(sealed.reader, sealed.message)
    if sealed.form == "json-schema":
        from kcli.pipeline.schemas.json_schema import json_column

        return json_column(sealed.reader)
    return avro_column(sealed.reader)


def field_of(sealed: SealedSchemas, unknown: Unknown | None = None) -> RegisteredField:
    """Return the reader of the column in a task; `unknown` is as in RegisteredField."""
    if sealed.form == "protobuf":
        from kcli.pipeline.schemas.protobuf import ProtobufField

        return ProtobufField(sealed, unknown)
    if sealed.form == "json-schema":
        from kcli.pipeline.schemas.json_schema import JsonField

        return JsonField(sealed, unknown)
    return AvroField(sealed, unknown)


def check_types(schema: StructType, schemas: Mapping[str, SealedSchemas]) -> None:
    """Raise UsageError if a schema given by the user has a different type than the registry's."""
    from pyspark.sql.pandas.types import to_arrow_schema

    from kcli.pipeline.formats.avro_arrow import arrow_type

    shape = to_arrow_schema(schema, timezone="UTC")
    for field in schema.fields:
        if field.name in schemas:
            column = column_of(schemas[field.name])
            if shape.field(field.name).type != arrow_type(column):
                raise UsageError(
                    f"column {field.name} is {ddl(column)} in its registry schema, not {field.dataType.simpleString()}"
                )


def avro_column(known: Known) -> Column:
    """Return the column of an Avro schema. Raises SchemaRefused."""
    return columns_of(_parsed(known))


def _parsed(known: Known) -> Type:
    return parse(known.schema.text, [text for _, text in known.referred])


class AvroField(RegisteredField):
    """Keys or values in Avro."""

    def __init__(self, sealed: SealedSchemas, unknown: Unknown | None = None) -> None:
        super().__init__(sealed, unknown)
        self._reader = _parsed(sealed.reader)
        self._columns = AvroColumns(columns_of(self._reader))

    def reader_of(self, known: Known, name: bytes) -> AvroReader:
        writer = self._reader if known == self.sealed.reader else _parsed(known)
        return column_reader(writer, self._reader, self._columns.column)

    def writer_of(self, known: Known) -> Callable[[str], bytes]:
        """The specification's JSON encoding."""
        writer = AvroWriter(_parsed(known), specified=True)
        return lambda text: writer.write(read_json(text))

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[AvroReader]) -> Decoded:
        return self._columns.read(cells, skips, which, readers)

    def lacking(self, known: Known) -> list[str]:
        return list(_lacking(_parsed(known), self._reader, "", set()))

    def note_unknown(self, unknown: Unknown, which: array[int], lacking: Sequence[Sequence[str]]) -> None:
        rows = np.asarray(which, np.int32)
        for number in {number for number in set(which) if number >= 0 and lacking[number]}:
            unknown.note(np.flatnonzero(rows == number), lacking[number])


def _lacking(writer: Type, reader: Type, path: str, open: set[tuple[int, int]]) -> Iterator[str]:
    """Yield the paths of fields that values of `writer` lose when read as `reader`."""
    if isinstance(writer, Union) or isinstance(reader, Union):
        branches = reader.branches if isinstance(reader, Union) else (reader,)
        for branch in writer.branches if isinstance(writer, Union) else (writer,):
            same = [one for one in branches if one.kind == branch.kind]
            of_name = [one for one in same if one.name.rpartition(".")[2] == branch.name.rpartition(".")[2]]
            for one in (of_name or same)[:1]:
                yield from _lacking(branch, one, path, open)
    elif isinstance(writer, Array) and isinstance(reader, Array):
        yield from _lacking(writer.items, reader.items, f"{path}[]", open)
    elif isinstance(writer, Map) and isinstance(reader, Map):
        yield from _lacking(writer.values, reader.values, f"{path}.*", open)
    elif isinstance(writer, Record) and isinstance(reader, Record) and (id(writer), id(reader)) not in open:
        open.add((id(writer), id(reader)))
        for field in writer.fields:
            inner = f"{path}.{field.name}" if path else field.name
            found = next((one for one in reader.fields if field.name in (one.name, *one.aliases)), None)
            if found is None:
                yield inner
            else:
                yield from _lacking(field.type, found.type, inner, open)


def ddl(column: Column) -> str:
    """Return the type of a column as DDL."""
    if column.kind == "decimal":
        return f"DECIMAL({column.precision},{column.scale})"
    if column.kind == "array":
        return f"ARRAY<{ddl(column.parts[0])}>"
    if column.kind == "map":
        return f"MAP<{ddl(column.parts[0])}, {ddl(column.parts[1])}>"
    if column.kind == "struct":
        return f"STRUCT<{', '.join(f'{quoted(part.name)}: {ddl(part)}' for part in column.parts)}>"
    return TYPES[column.kind]


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


WIDER = {("int", "long"), ("int", "double"), ("long", "double")}
"""Number types that a table widens."""


def not_grown(before: Column, now: Column, path: str = "") -> str:
    """Return why `now` is not `before` with columns added and numbers widened; "" if it is."""
    if before.kind != now.kind and (before.kind, now.kind) not in WIDER:
        return f"{path or 'it'} is {ddl(now)}, not {ddl(before)} as"
    if before.kind == "decimal" and (before.precision, before.scale) != (now.precision, now.scale):
        return f"{path or 'it'} is {ddl(now)}, not {ddl(before)} as"
    if before.kind != "struct":
        pairs = zip(before.parts, now.parts, strict=True)
        return next((why for old, new in pairs if (why := not_grown(old, new, _within(path, new)))), "")
    parts = {part.name: part for part in now.parts}
    for part in before.parts:
        inner = _within(path, part)
        why = not_grown(part, parts[part.name], inner) if part.name in parts else f"it lacks {inner}, which is"
        if why:
            return why
    return ""


def _within(path: str, part: Column) -> str:
    return f"{path}.{part.name}" if path else part.name
