"""The cluster of a declaration, and the schema registry where one is named."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kcli.cli.parsing.option import Options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Annotated

    import typer

    from kcli.cli.runtime.answer import Opened
    from kcli.cli.runtime.connection import Connection
    from kcli.model import Cluster
    from kcli.registry.client import RegistryClient
    from kcli.settings import ClientSettings

    Both = tuple[Cluster, RegistryClient | None]


class SchemasOptions(Options):
    """Where declared schemas go."""

    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry",
            metavar="URL",
            help="The registry for declared schemas (default: schema.registry.url of the profile).",
        ),
    ] = None


def both(options: SchemasOptions) -> Opened[Both]:
    """How the two are opened. The registry is not asked before a schema is declared."""

    @asynccontextmanager
    async def open_both(connection: Connection, settings: ClientSettings) -> AsyncIterator[Both]:
        from kcli.client import Client
        from kcli.registry.lookup import client_of

        named = connection.registry(options.schema_registry)
        async with Client(settings) as client:
            if named is None:
                yield client.cluster, None
                return
            if named.folder:
                from kcli.registry.folder import FolderSchemas
                from kcli.registry.moving.folder_client import FolderClient

                yield client.cluster, FolderClient(named, FolderSchemas(named.folder))
                return
            registry = client_of(named, guard=settings.guard, profile=settings.profile)
            try:
                yield client.cluster, registry
            finally:
                await registry.close()

    return open_both
