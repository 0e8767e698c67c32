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
    """Have a search read values by the schemas of the registry that a property names, and say at its end what could not
    be decoded. The search raises KcliError where the registry does not answer. Raises UsageError."""
    connection = Connection(options)
    registry = connection.registry()
    if registry is None:
        yield
        return
    from kcli.cli.commands.consume.payload_time.searched import Searched
    from kcli.registry.lookup import open_schemas
    from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
    from kcli.serde.schemas.readers import reader_of

    schemas = open_schemas(registry)
    values = Searched(FieldDecoder("value", schemas, reader_of(), must_answer=True))
    field.decode = SchemaDecoder([values]).batch
    try:
        yield
    finally:
        await schemas.close()
    if values.undecoded.total and not connection.quiet:
        from kcli.cli.output.messages import complain
        from kcli.cli.runtime.schemas.decoding import undecoded_sentence

        complain(undecoded_sentence(values, "searched"))
