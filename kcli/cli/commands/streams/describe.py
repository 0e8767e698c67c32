"""`kcli streams describe`."""

from __future__ import annotations

from kcli.admin.groups.groups import find_groups
from kcli.admin.groups.kinds import processing_nodes
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import good
from kcli.changes.offsets import missing
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, words_of
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class ApplicationRow(Row, section="applications"):
    application: str = column("Application id, which is the name of its group.", rank=1)
    state: str | None = column("State of the group; null if the broker is too old to report it.", unit="word", rank=1)
    members: int = column("Members.", unit="count")
    topology_epoch: int | None = column("Epoch of the topology; null if the broker does not know it.", rank=3)
    subtopologies: int | None = column("Number of subtopologies; null if the broker does not know it.", unit="count")
    error: str | None = column("Why the topology is unknown; null if it is known.", table=False, unit="sentence")
    assignor: str | None = column("Assignor of its tasks; null from brokers before Kafka 4.4.", unit="word", rank=3)
    nodes: int | None = column("Processing nodes; null if brokers keep no description.", unit="count", rank=3)


class SubtopologyRow(Row, section="subtopologies"):
    application: str = column("Application id.", rank=1)
    subtopology: str = column("Its number, the first part of a task's name: 0 in 0_3.", unit="word", rank=1)
    sources: list[str] = column("Topics that it reads, without internal ones.", rank=1)
    repartitions: list[str] = column("Repartition topics that it reads.")
    sinks: list[str] = column("Repartition topics that it writes.")
    changelogs: list[str] = column("Changelogs that its state is restored from.")
    tasks: list[str] = column("Tasks that members have: 0_3, 0_3 standby, 0_3 warm-up.", rank=3)


class NodeRow(Row, section="nodes"):
    application: str = column("Application id.", rank=1)
    subtopology: str | None = column("Its subtopology; null for a node of a global store.", unit="word", rank=1)
    node: str = column("Name of the processing node.", rank=1)
    kind: str = column("source, processor or sink.", unit="word", rank=1)
    topics: list[str] = column("Topics that a source reads or a sink writes.", rank=2)
    stores: list[str] = column("State stores that a processor uses.", rank=2)
    successors: list[str] = column("Nodes that get its records.", rank=2)


SHAPE = shape("streams.describe", "Topologies of Kafka Streams applications.", ApplicationRow, SubtopologyRow, NodeRow)


class DescribeOptions(NamedGroups, PatternOptions, ReadOptions):
    """Names as arguments, or by the option."""


@command(
    "streams describe",
    help="Show the topology of Kafka Streams applications.",
    words="APPLICATION",
    examples="""
kcli streams describe wordcount
kcli streams describe wordcount -J | jq '.subtopologies[].changelogs'""",
)
def describe(options: DescribeOptions) -> int:
    """Print the subtopologies of Kafka Streams applications: what each reads, writes and restores from, and its tasks.

    Brokers know the topology of applications with `group.protocol=streams` (KIP-1071). To them, an application with the
    classic protocol is a consumer group: `kcli groups describe` shows it. The processing nodes and their order are
    shown if brokers of Kafka 4.4 or newer store them, which requires a plugin (KIP-1331).
    """
    groups = names_of(options, words_of(options, "APPLICATION"))

    async def work(cluster: Cluster, document: Document) -> None:
        names, coordinators = await group_names_of(cluster, groups), Coordinators(cluster)
        found = (await find_groups(coordinators, names))[0] if names else {}
        applications = [name for name, group in good(found).items() if group.type == "streams"]
        nodes = await processing_nodes(coordinators, applications)
        for name, group in found.items():
            if isinstance(group, KcliError):
                document.fail(await missing(cluster, name) if isinstance(group, GroupMissing) else group, name)
                continue
            row = ApplicationRow.of(
                group,
                application=name,
                state=group.state or None,
                members=len(group.members),
                subtopologies=None if group.topology is None else len(group.topology),
                error=None,
                assignor=group.assignor or None,
                nodes=None,
            )
            document.of(ApplicationRow).append(row)
            if group.topology is None:
                other = "a consumer group" if group.type in ("classic", "consumer") else f"a {group.type} group"
                what = "the broker does not know its topology" if group.type == "streams" else f"this is {other}"
                row.error = f"{what}; brokers know the topology only of groups with group.protocol=streams"
                document.fail(KcliError(f"{name}: {row.error}"), name)
            document.of(SubtopologyRow).extend(
                SubtopologyRow.of(
                    part,
                    application=name,
                    subtopology=part.name,
                    tasks=[task for one in group.members for task in one.tasks if task.startswith(f"{part.name}_")],
                )
                for part in group.topology or ()
            )
            if isinstance(described := nodes.get(name), KcliError):
                row.error = row.error or str(described)
                document.fail(described, name)
            elif described is not None:
                row.nodes = len(described)
                document.of(NodeRow).extend(NodeRow.of(node, application=name) for node in described)

    return answer(options, SHAPE, work)
