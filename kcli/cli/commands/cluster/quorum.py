"""`kcli cluster quorum`: who decides, and how far each is behind."""

from __future__ import annotations

from kcli.admin.cluster.quorum import describe_quorum
from kcli.cli.output.render import Document
from kcli.cli.output.timestamps import known
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster


@command(
    "cluster quorum",
    help="Who decides: voters and observers, and how far each is behind.",
    examples="""
kcli cluster quorum
kcli cluster quorum -J | jq '.nodes[] | select(.lag > 100)'""",
)
def quorum(options: OutputOptions) -> int:
    """Print the KRaft quorum: its leader, voters and observers, and how far each is behind in the metadata log."""

    async def work(cluster: Cluster, document: Document) -> None:
        described = await describe_quorum(cluster)
        document.rows["quorum"] = [
            {"leader": described.leader, "epoch": described.epoch, "high_watermark": described.high_watermark}
        ]
        document.rows["nodes"] = [
            {
                "node": node.node,
                "role": "leader" if node.leader else "voter" if node.voter else "observer",
                "end": node.end,
                "lag": node.lag,
                "fetched": known(node.fetched),
                "caught_up": known(node.caught_up),
            }
            for node in described.nodes
        ]

    return answer(options, "cluster.quorum", work)
