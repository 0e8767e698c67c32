"""`kcli brokers list`: who is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.brokers import BrokerRow, look_at_brokers
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row


@command(
    "brokers list",
    help="All brokers, with what they lead and store.",
    examples="""
kcli brokers
kcli brokers list -J | jq '.brokers[] | select(.behind > 0)'""",
)
def brokers(options: OutputOptions) -> int:
    """Print the brokers: whether each answers and how quickly, what it leads and stores, which replicas are behind.
    Fenced ones are shown too, from clusters that tell (Kafka 4.0). Exit code 1 when one does not answer.
    """

    async def work(cluster: Cluster, document: Document) -> None:
        rows = await look_at_brokers(cluster)
        document.rows["brokers"] = [_broker(row) for row in rows]
        for row in rows:
            if row.problem and not row.fenced:
                document.fail(KcliError(row.problem), f"broker {row.node.id}")

    return answer(options, "brokers.list", work)


def _broker(row: BrokerRow) -> Row:
    return {
        "broker": row.node.id,
        "host": row.node.host,
        "port": row.node.port,
        "rack": row.node.rack,
        "state": "fenced" if row.fenced else "controller" if row.controller else "up" if not row.problem else "silent",
        "took_ms": None if row.took is None else round(row.took * 1000, 1),
        "release": row.release,
        "leads": row.leads,
        "replicas": row.replicas,
        "behind": row.behind,
        "size": row.size,
        "free": row.usable,
        "error": None if row.fenced else row.problem or None,
    }
