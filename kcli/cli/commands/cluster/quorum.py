"""`kcli cluster quorum`: the leader, voters and observers, and how far each is behind."""

from __future__ import annotations

from kcli.admin.cluster.quorum import describe_quorum
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.timestamps import known
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ControllerOptions, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster


class QuorumRow(Row, section="quorum"):
    leader: int = column("Id of the leading node.", rank=1)
    epoch: int = column("Its epoch.")
    high_watermark: int = column("High watermark of the metadata log.")


class NodeRow(Row, section="nodes"):
    node: int = column("Id of the node.", rank=1)
    role: str = column("leader, voter or observer.", unit="word")
    end: int = column("End offset of its metadata log.")
    lag: int = column("Number of records it is behind the leader.", unit="count", rank=1)
    fetched: str | None = column("Time of its last fetch, UTC.", unit="time")
    caught_up: str | None = column("When it was last caught up, UTC.", unit="time")


SHAPE = shape("cluster.quorum", "The KRaft quorum: one row for it, one for each node.", QuorumRow, NodeRow)


class QuorumOptions(ControllerOptions, ReadOptions):
    """Which servers to ask, and how to print the rows."""


@command(
    "cluster quorum",
    help="Show the KRaft quorum: voters, observers and lag.",
    examples="""
kcli cluster quorum
kcli cluster quorum --bootstrap-controller ctrl1:9093    # while no broker answers
kcli cluster quorum -J | jq '.nodes[] | select(.lag > 100)'""",
)
def quorum(options: QuorumOptions) -> int:
    """Print the KRaft quorum: its leader, voters and observers, and how far each lags behind in the metadata log."""

    async def work(cluster: Cluster, document: Document) -> None:
        described = await describe_quorum(cluster)
        document.of(QuorumRow).append(QuorumRow.of(described))
        document.of(NodeRow)[:] = [
            NodeRow(
                node=node.node,
                role="leader" if node.leader else "voter" if node.voter else "observer",
                end=node.end,
                lag=node.lag,
                fetched=known(node.fetched),
                caught_up=known(node.caught_up),
            )
            for node in described.nodes
        ]

    return answer(options, SHAPE, work)
