"""`kcli groups delete-offsets`."""

from __future__ import annotations

from kcli.changes import offsets
from kcli.cli.commands.groups import changes
from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.scope import Scope, ScopeOptions
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kcli.changes.change import Plan
    from kcli.model import Cluster, TopicPartition

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

    async def where(cluster: Cluster, committed: Collection[TopicPartition]) -> list[TopicPartition]:
        partitions = await scope.partitions(cluster, committed)
        return [at for at in partitions if at in committed or scope.topics.get(at.topic)]

    async def planned(cluster: Cluster) -> Plan:
        plan = await offsets.plan_deletion(cluster, await group_names_of(cluster, groups, changes=True), where)
        if not plan.rows and not plan.failed:
            say(options, "no committed offset there")
        return plan

    return changes.run(options, SHAPE, planned, by_pattern=bool(groups.patterns), verb="delete")
