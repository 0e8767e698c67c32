"""`kcli groups delete`: groups without members, and what they have committed."""

from __future__ import annotations

from kcli.changes import groups as planner
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.change import apply_plan
from kcli.cli.runtime.names import group_names_of, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from kcli.changes.change import Plan
    from kcli.cli.parsing.shared import IfExists, KcliOption
    from kcli.model import Cluster


class GroupRow(Row, section="groups"):
    group: str = column("Name of the group.", rank=1)
    result: str = column("would delete, deleted, refused, absent, failed or unknown.", unit="word", rank=1)
    state: str | None = column("State of the group; null if the broker is too old to report it.", unit="word", rank=1)
    members: int | None = column("Number of its members.", unit="count")
    partitions: int | None = column("Partitions whose committed offset is deleted with it.", unit="count")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")
    internal_topics: list[str] | None = column(
        "Internal topics of a streams group that are deleted with it; null without --delete-internal-topics.",
        sparse=True,
        rank=3,
    )


SHAPE = shape("groups.delete", "Deletions, applied or planned.", GroupRow)


class DeleteOptions(NamedGroups, EveryGroup, PatternOptions, UndoOptions):
    if_exists: IfExists = False
    internal_topics: Annotated[
        bool,
        KcliOption(
            "--delete-internal-topics",
            help="Delete the changelogs and repartition topics of streams groups, too.",
            also=("--delete-all-internal-topics",),
        ),
    ] = False


@command(
    "groups delete",
    help="Delete groups without members.",
    words="GROUP",
    examples="""
kcli groups delete billing --dry-run     # the plan
kcli groups delete billing --execute
kcli groups delete 'ci-*' --dry-run      # all that match
kcli groups delete wordcount --delete-internal-topics --execute""",
)
def delete(options: DeleteOptions) -> int:
    """Delete groups that have no members, and their committed offsets. `kcli undo` restores the offsets; a share group,
    which commits none, cannot be restored.
    """
    groups = names_of(options, words_of(options, "GROUP"))

    async def planned(cluster: Cluster) -> Plan:
        plan = await planner.plan_deletion(
            cluster,
            await group_names_of(cluster, groups, changes=True, empty=options.if_exists),
            if_exists=options.if_exists,
            internal_topics=options.internal_topics,
            undoable=not options.no_undo,
        )
        for row in plan.rows:
            if row.note:
                say(options, f"{row.name}: {row.note}; --delete-internal-topics deletes them, too")
        return plan

    pattern = bool(groups.patterns)
    return apply_plan(options, SHAPE, GroupRow, planned, verb="delete", noun="group", by_pattern=pattern, nothing="")
