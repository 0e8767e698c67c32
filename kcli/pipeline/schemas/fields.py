"""Columns of keys and values whose schemas are in a registry: their types, and what reads them in a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.errors import UsageError
from kcli.pipeline.schemas.columns import ddl
from kcli.pipeline.schemas.sealed import SealedSchemas
from kcli.schemas import SchemaRefused
from kcli.serde.contracts.rules import encrypting

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from kcli.pipeline.schemas.reading import RegisteredField
    from kcli.serde.avro.columns.columns import Column


def column_of(sealed: SealedSchemas) -> Column:
    """The column of the reader's schema. Raises SchemaRefused for a schema that no column can have, and for one whose
    values are encrypted."""
    schema = sealed.reader.schema
    rule = encrypting(schema)
    if rule is not None:
        raise SchemaRefused(
            f"{schema.name} encrypts {sealed.field}s (rule {rule.name}, {rule.type}, key {rule.key or 'not named'}), "
            f"and kcli has no key: read them as {sealed.field}Format binary"
        )
    if sealed.form == "protobuf":
        from kcli.pipeline.schemas.protobuf import protobuf_column

        return protobuf_column(sealed.reader, sealed.message)
    if sealed.form == "json-schema":
        from kcli.pipeline.schemas.json_schema import json_column

        return json_column(sealed.reader)
    from kcli.pipeline.schemas.avro import avro_column

    return avro_column(sealed.reader)


def field_of(sealed: SealedSchemas) -> RegisteredField:
    """What reads the column in a task."""
    if sealed.form == "protobuf":
        from kcli.pipeline.schemas.protobuf import ProtobufField

        return ProtobufField(sealed)
    if sealed.form == "json-schema":
        from kcli.pipeline.schemas.json_schema import JsonField

        return JsonField(sealed)
    from kcli.pipeline.schemas.avro import AvroField

    return AvroField(sealed)


def check_types(schema: StructType, schemas: Mapping[str, SealedSchemas]) -> None:
    """Raise UsageError where a schema that the user gives has another type than the registry's."""
    from pyspark.sql.pandas.types import to_arrow_schema

    from kcli.pipeline.formats.avro_arrow import arrow_type

    shape = to_arrow_schema(schema, timezone="UTC")
    for field in schema.fields:
        if field.name in schemas:
            column = column_of(schemas[field.name])
            if shape.field(field.name).type != arrow_type(column):
                raise UsageError(
                    f"column {field.name} is {ddl(column)} by its schema in the registry, not "
                    f"{field.dataType.simpleString()}"
                )
