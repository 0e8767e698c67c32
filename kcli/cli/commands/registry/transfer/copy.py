"""`kcli registry copy`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.commands.registry.transfer.moves import COPIED, planned
from kcli.cli.commands.registry.transfer.selection import taken
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PatternOptions, UndoOptions
from kcli.cli.runtime.change import make_change
from kcli.cli.runtime.connection import connection_of
from kcli.config.properties.merged import read_properties
from kcli.errors import UsageError
from kcli.registry.listing.names import subject_names
from kcli.registry.settings import registry_of
from kcli.settings import ClientSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import KeptIds
    from kcli.cli.runtime.answer import Opened
    from kcli.cli.runtime.change import PlannedChange
    from kcli.cli.runtime.connection import Connection

SHAPE = shape("registry.copy", "Schemas that were copied, or would be, one a row.", *COPIED)
NO_TARGET = "missing target: --to URL or --to-profile NAME"


class RegistryCopyOptions(RegistryOptions, PatternOptions, UndoOptions):
    to: Annotated[str | None, typer.Option("--to", metavar="URL", help="The registry to copy to.")] = None
    to_profile: Annotated[
        str | None, typer.Option("--to-profile", metavar="NAME", help="Profile of the registry to copy to.")
    ] = None
    to_properties: Annotated[
        list[str],
        typer.Option(
            "--to-X", metavar="KEY=VALUE", help="A property of the registry to copy to, such as its login. Repeatable."
        ),
    ]
    ids: KeptIds = None


@command(
    "registry copy",
    help="Copy subjects to another registry.",
    words="SUBJECT",
    examples="""
kcli registry copy --to http://new:8081
kcli registry copy 'orders-*' --to-profile staging --execute
kcli registry copy --to http://HOST:8080/apis/ccompat/v7 --ids new --execute""",
)
def copy(options: RegistryCopyOptions) -> int:
    """Copy subjects to another registry, all versions in the order of their references, with ids, levels, modes and
    other settings, like `kcli registry import`. Soft-deleted versions are copied and soft-deleted there: their ids
    still read records. Other subjects that a schema refers to are copied, too. Credentials of the source are not used
    for the target: give them with --to-profile or --to-X. The plan comes first, --execute applies it.
    """
    names = subject_names(options.words, literal=options.literal)

    async def make_plan(both: tuple[Registry, Registry], document: Document) -> PlannedChange | None:
        source, target = both
        guard, profile = target.cluster.guard, target.cluster.profile
        document.read_only = profile if guard == "read_only" else ""
        document.protected = profile if guard == "protected" else ""
        snapshot = await taken(source.client, names, document)
        if document.errors:
            return None
        return await planned(options, target, document, snapshot, keep=options.ids != "new")

    return make_change(options, SHAPE, make_plan, _both(options))


def _both(options: RegistryCopyOptions) -> Opened[tuple[Registry, Registry]]:
    """How the source and the target are opened."""

    @asynccontextmanager
    async def open_both(connection: Connection, settings: ClientSettings) -> AsyncIterator[tuple[Registry, Registry]]:
        target = _target(options)
        try:
            async with opened(options)(connection, settings) as source:
                yield source, target
        finally:
            await target.schemas.close()

    return open_both


def _target(options: RegistryCopyOptions) -> Registry:
    """The registry to copy to. Raises UsageError."""
    if options.to_profile:
        connection = connection_of(options.to_profile, None, options.to_properties)
        named = connection.registry(options.to or None)
        settings = connection.client()
    else:
        if not options.to:
            raise UsageError(NO_TARGET)
        properties = read_properties(None, options.to_properties, option="--to-X")
        properties.put("schema.registry.url", options.to, "--to")
        named, settings = registry_of(properties), ClientSettings()
    if named is None:
        raise UsageError(f"profile {options.to_profile} has no registry; add --to URL")
    return Registry(named, settings)
