"""`kcli brokers list`: the brokers of the cluster."""

from __future__ import annotations

from kcli.admin.cluster.brokers import BrokerRow, list_brokers
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError
from kcli.model import Cluster


class StateRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    host: str = column("Where it listens.")
    port: int = column("Its port.", rank=3)
    rack: str | None = column("Its rack.", sparse=True, rank=3)
    state: str = column("up, controller, fenced or silent.", unit="word", rank=1)
    took_ms: float | None = column("Response time in milliseconds.", rank=3)
    release: str | None = column(
        "Kafka release, from metadata.version; with ≥, the oldest release that has its APIs.", unit="word", rank=3
    )
    leads: int = column("Partitions it leads.", unit="count")
    replicas: int = column("Replicas it has.", unit="count")
    behind: int = column("Its replicas that are not in sync.", unit="count")
    size: int | None = column("Bytes of its replicas.", unit="bytes")
    free: int | None = column("Bytes left on its volumes.", sparse=True, unit="bytes")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("brokers.list", "Brokers, one a row.", StateRow)


@command(
    "brokers list",
    help="List brokers with leaders, replicas and sizes.",
    examples="""
kcli brokers
kcli brokers list -J | jq '.brokers[] | select(.behind > 0)'""",
)
def brokers(options: ReadOptions) -> int:
    """Print the brokers: whether and how quickly each responds, what it leads and stores, and which replicas are
    behind. Fenced brokers are included if the cluster reports them (Kafka 4.0). Exit code 1 if a broker does not
    respond.
    """

    async def work(cluster: Cluster, document: Document) -> None:
        rows = await list_brokers(cluster)
        document.of(StateRow).extend(_broker(row) for row in rows)
        for row in rows:
            if row.problem and not row.fenced:
                document.fail(KcliError(row.problem), f"broker {row.node.id}")

    return answer(options, SHAPE, work)


def _broker(row: BrokerRow) -> StateRow:
    return StateRow.of(
        row,
        broker=row.node.id,
        host=row.node.host,
        port=row.node.port,
        rack=row.node.rack,
        state="fenced" if row.fenced else "controller" if row.controller else "up" if not row.problem else "silent",
        took_ms=None if row.took is None else round(row.took * 1000, 1),
        free=row.usable,
        error=None if row.fenced else row.problem or None,
    )
