"""`kcli groups list`."""

from __future__ import annotations

from kcli.admin.groups.groups import list_groups
from kcli.admin.groups.rows import STATES, TYPES, GroupMissing
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, missing, some_of, unlisted
from kcli.cli.runtime.names import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import GroupStates
    from kcli.model import Cluster


class GroupRow(Row, section="groups"):
    group: str = column("Name of the group.", rank=1)
    type: str | None = column(
        "classic, consumer (KIP-848), share or streams; null if the broker is too old to report it.", unit="word"
    )
    state: str | None = column("State of the group; null if the broker is too old to report it.", unit="word", rank=1)
    protocol: str = column("Protocol type, such as consumer or connect.", unit="word", rank=3)
    coordinator: int = column("Id of the coordinating broker.", rank=3)


SHAPE = shape("groups.list", "Groups of all types, one a row.", GroupRow, empty="no groups")


class ListOptions(NamedGroups, PatternOptions, ReadOptions):
    types: Annotated[
        list[str], typer.Option("--type", metavar="TYPE", help="Only this type: classic, consumer, share, streams.")
    ]
    states: GroupStates


@command(
    "groups list",
    help="List groups of all types.",
    words="GROUP",
    examples="""
kcli groups list
kcli groups list 'billing-*'
kcli groups list --state Empty --format plain | cut -f1""",
)
def list_all(options: ListOptions) -> int:
    """List groups of all types: classic, consumer (KIP-848), share, streams. All groups, or those named."""
    names = names_of(options, options.words)
    wanted_types = some_of(options.types, TYPES, "--type")
    wanted_states = some_of(options.states, STATES, "--state")

    async def work(cluster: Cluster, document: Document) -> None:
        document.empty = "no group has such a type and state" if wanted_types or wanted_states else ""
        listed, failed = await list_groups(cluster)
        if failed:
            await unlisted(cluster, document, failed)
        match = names.among(row.group for row in listed)
        if match.unmatched and not failed:
            raise match.refusal("group")
        known = {row.group for row in listed}
        for name in match.names:
            if name not in known and not failed:
                missing(document, name, GroupMissing(name), known)
        document.of(GroupRow)[:] = [
            GroupRow(
                group=row.group, type=row.type, state=row.state, protocol=row.protocol, coordinator=row.coordinator
            )
            for row in listed
            if (not names.words or row.group in match.names)
            and (not wanted_types or (row.type or "") in wanted_types)
            and (not wanted_states or (row.state or "").lower() in wanted_states)
        ]

    return answer(options, SHAPE, work)
