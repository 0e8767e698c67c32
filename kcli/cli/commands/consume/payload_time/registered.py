"""Times in values that a schema registry decodes, for commands that search for a time and print no records."""

from __future__ import annotations

from contextlib import asynccontextmanager

from kcli.cli.runtime.connection import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kcli.cli.parsing.groups import ConnectionOptions
    from kcli.serde.payload_time import TimeField


@asynccontextmanager
async def by_registry(field: TimeField, options: ConnectionOptions) -> AsyncIterator[None]:
    """Have a search read values by the schemas of the registry that a property names. Raises UsageError."""
    registry = Connection(options).registry()
    if registry is None:
        yield
        return
    from kcli.registry.lookup import open_schemas
    from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
    from kcli.serde.schemas.readers import reader_of

    schemas = open_schemas(registry)
    field.decode = SchemaDecoder([FieldDecoder("value", schemas, reader_of())]).batch
    try:
        yield
    finally:
        await schemas.close()
