"""JSON schemas as typed columns: those of the schema's properties, with cells as in `valueFormat=json`."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kcli.pipeline.formats.avro_arrow import arrow_type, spans_of
from kcli.pipeline.formats.formats import Unknown, converter
from kcli.pipeline.formats.json_cell import JSON_TEXT
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns import MOST, Column

SIMPLE = {"integer": "long", "number": "double", "boolean": "boolean", "string": "string"}
DEEPEST = 64


def json_column(known: Known) -> Column:
    """Return the column of a JSON schema's objects. Values of several types, and arrays with a schema per position, are
    text with the value's JSON (`json_type`). Raises SchemaRefused unless it is a schema of objects."""
    schema, files = parsed(known)
    column = JsonColumns(schema, files).column(schema, schema, "", ())
    if column.kind != "struct":
        raise SchemaRefused("the JSON schema does not describe objects with properties, so it has no columns")
    column.nullable = True
    return column


def parsed(known: Known) -> tuple[Any, dict[str, Any]]:
    """Return the schema, and the files that it references by name. Raises SchemaRefused."""
    try:
        files = {name: json.loads(text) for name, text in known.referred}
        return json.loads(known.schema.text), files
    except (ValueError, RecursionError):
        raise SchemaRefused("the JSON schema is not JSON") from None


class JsonColumns:
    """Converts the parts of a schema to columns. `files` are the schemas for references by name."""

    def __init__(self, schema: Any, files: Mapping[str, Any]) -> None:
        self._schema = schema
        self._files = files
        self._count = 0
        self._made: list[Column] = []  # kept, so that their ids are not reused
        self.texts: set[int] = set()
        """The columns of JSON texts, by id."""

    def column(self, schema: Any, root: Any, name: str, open: tuple[int, ...]) -> Column:
        """`root` is the file of the schema, `open` are the enclosing schemas: a recursive one is text."""
        self._count += 1
        if self._count > MOST:
            raise SchemaRefused(f"the JSON schema has more than {MOST:,} columns")
        schema, root = self.followed(schema, root)
        column = Column("string", name, nullable=True)
        self.texts.add(id(column))
        self._made.append(column)
        if not isinstance(schema, dict) or id(schema) in open or len(open) > DEEPEST:
            return column
        within = (*open, id(schema))
        kind, properties = _type(schema), schema.get("properties")
        if kind == "object" and isinstance(properties, dict) and properties:
            column.kind = "struct"
            column.parts = [self.column(own, root, one, within) for one, own in properties.items()]
        elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            column.kind = "map"
            values = self.column(schema["additionalProperties"], root, "value", within)
            column.parts = [Column("string", "key"), values]
        elif kind == "array" and isinstance(schema.get("items"), dict) and "prefixItems" not in schema:
            column.kind = "array"
            column.parts = [self.column(schema["items"], root, "element", within)]
        else:
            column.kind = SIMPLE.get(kind, "string")
            if takes_json(schema):
                return column
        self.texts.discard(id(column))
        return column

    def followed(self, schema: Any, root: Any) -> tuple[Any, Any]:
        """Resolve `$ref`, and a choice between null and one other schema."""
        for _ in range(DEEPEST):
            if not isinstance(schema, dict):
                break
            choices = schema.get("oneOf", schema.get("anyOf"))
            if isinstance(choices, list):
                others = [one for one in choices if not (isinstance(one, dict) and one.get("type") == "null")]
                if len(others) != 1:
                    texts = all(isinstance(one, dict) and _type(one) == "string" for one in others)
                    return {"type": "string"} if others and texts else None, root
                schema = others[0]
            elif isinstance(schema.get("$ref"), str):
                schema, root = self._referred(schema["$ref"], root)
            else:
                return schema, root
        return None, root

    def _referred(self, reference: str, root: Any) -> tuple[Any, Any]:
        file, _, pointer = reference.partition("#")
        found = root = self._files.get(file) if file else root
        for step in (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]):
            found = found.get(step) if isinstance(found, dict) else None
        return found, root


def _type(schema: Mapping[str, Any]) -> str:
    """Return the only type besides null; "" for several."""
    given = schema.get("type", "object" if "properties" in schema else "")
    types = [given] if isinstance(given, str) else [one for one in given if one != "null"]
    return types[0] if len(types) == 1 and isinstance(types[0], str) else ""


def _texts(schema: Mapping[str, Any]) -> bool:
    """Whether a schema without a type allows only strings, by its values."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return isinstance(values, list) and any(values) and all(one is None or isinstance(one, str) for one in values)


def takes_json(schema: Any) -> bool:
    """Whether values of a schema without columns are of several types, so that a column has their JSON."""
    return not isinstance(schema, dict) or (_type(schema) not in SIMPLE and not _texts(schema))


def json_type(column: Column, texts: Collection[int]) -> pa.DataType:
    """Return Arrow's type of a column, in which `texts` are marked as JSON."""

    def part(one: Column, name: str) -> pa.Field:
        return pa.field(name, json_type(one, texts), metadata=JSON_TEXT if id(one) in texts else None)

    if column.kind == "struct":
        return pa.struct([part(one, one.name) for one in column.parts])
    if column.kind == "array":
        return pa.list_(part(column.parts[0], "element"))
    if column.kind == "map":
        return pa.map_(pa.string(), part(column.parts[1], "value"))
    return arrow_type(column)


class JsonField(RegisteredField):
    """Keys or values of JSON schemas."""

    def __init__(self, sealed: SealedSchemas, unknown: Unknown | None = None) -> None:
        super().__init__(sealed, unknown)
        schema, files = parsed(sealed.reader)
        columns = JsonColumns(schema, files)
        column = columns.column(schema, schema, "", ())
        self._type = arrow_type(column)
        decode = converter("json", json_type(column, columns.texts), unknown)
        assert decode is not None
        self._decode = decode

    def lacking(self, known: Known) -> list[str]:
        return ["fields that each record shows itself"]

    def reader_of(self, known: Known, name: bytes) -> None:
        """Do nothing: the reader's columns read the JSON; the schema only has to exist."""

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[None]) -> Decoded:
        data, starts, lengths = spans_of(cells)
        rows = zip(starts.tolist(), lengths.tolist(), skips, which, strict=True)
        texts = [None if size < 0 or n < 0 else bytes(data[at + skip : at + size]) for at, size, skip, n in rows]
        if self._unknown is not None:
            self._unknown.clear()  # of an attempt to read it in another way
        made, errors = self._decode(pa.array(texts, pa.binary()))
        return made.cast(self._type), errors  # without the marks
