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
