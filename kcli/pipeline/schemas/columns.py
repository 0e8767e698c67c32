"""Spark's types of the columns of an Avro schema, as DDL."""

from __future__ import annotations

from kcli.serde.avro.columns.columns import Column

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


def ddl(column: Column) -> str:
    """The type of a column."""
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
"""Kinds of numbers that a table widens."""


def not_grown(before: Column, now: Column, path: str = "") -> str:
    """Why `now` is not `before` with columns added and numbers widened; "" where it is."""
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
