"""`kcli groups delete-offsets`."""

from __future__ import annotations

from kcli.admin.groups.groups import group_names
from kcli.admin.groups.reset_deletion import plan_deletion
from kcli.admin.groups.reset_plan import targets
from kcli.admin.groups.rows import GroupMissing
from kcli.cli.commands.groups import changes
from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.scope import Scope, ScopeOptions
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import missing, words_of
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.groups.reset import Change
    from kcli.asking.coordinators import Coordinators
    from kcli.cli.output.tables.document import Document

SHAPE = shape("groups.delete-offsets", "Committed offsets that were deleted, or would be.", ChangeRow)


class DeleteOffsetsOptions(NamedGroups, EveryGroup, PatternOptions, ScopeOptions, UndoOptions):
    pass


@command(
    "groups delete-offsets",
    help="Delete committed offsets of groups, topic by topic.",
    words="GROUP",
    examples="""
kcli groups delete-offsets billing -t old-orders                 # the plan
kcli groups delete-offsets 'billing-*' -t 'old-*' --dry-run
kcli groups delete-offsets billing -t old-orders:3 --execute""",
)
def delete_offsets(options: DeleteOffsetsOptions) -> int:
    """Delete the committed offsets of groups for some topics. A group may have members, as long as none is
    subscribed to the topic. A share group must have no members, and forgets all partitions of a topic.
    """
    scope = Scope(options.topics, all_topics=options.all_topics, literal=options.literal)
    groups = names_of(options, words_of(options, "GROUP"))
    if scope.empty:
        raise UsageError("missing topics: --topic TOPIC, or --all-topics")

    async def planned(coordinators: Coordinators, document: Document) -> list[Change]:
        plan: list[Change] = []
        meant = await group_names_of(coordinators.cluster, groups, changes=True)
        for target in (await targets(coordinators, meant)).values():
            if target.described is None and target.refusal is None:
                error = GroupMissing(target.group)
                missing(document, target.group, error, await group_names(coordinators.cluster))
                continue
            partitions = await scope.partitions(coordinators.cluster, target.commits)
            named = [at for at in partitions if at in target.commits or scope.topics.get(at.topic)]
            plan += plan_deletion(target, named)
        return plan

    return changes.run(options, SHAPE, planned, by_pattern=bool(groups.patterns), verb="delete")
