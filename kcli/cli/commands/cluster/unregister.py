"""`kcli cluster unregister`: brokers that will not come back."""

from __future__ import annotations

from kcli.admin.cluster.brokers import look_at_brokers
from kcli.admin.cluster.changes import unregister_broker
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.model import Cluster


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    host: str | None = column("Host that it registered.", rank=3)
    port: int | None = column("Its port.", rank=3)
    state: str | None = column("fenced or up; null for one that is not registered.", unit="word", rank=1)
    replicas: int = column("Replicas that are still assigned to it: reassign them.", unit="count")
    result: str = column("would unregister, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("cluster.unregister", "Brokers that were unregistered, or would be.", BrokerRow)


class UnregisterOptions(ChangeOptions):
    force = flag("--force", help="Also a running broker.")


@command(
    "cluster unregister",
    help="Unregister brokers that are gone for good.",
    words="BROKER",
    examples="""
kcli cluster unregister 4
kcli cluster unregister 4 5 --execute""",
)
def unregister(options: UnregisterOptions) -> int:
    """Unregister brokers that are gone for good. A running broker is refused. Replicas that are still
    assigned to it are counted in the plan: reassign them first, or they stay under-replicated. --execute applies it.
    """
    from kcli.cli.commands.brokers.ids import broker_ids

    ids = sorted(broker_ids(words_of(options, "broker")))

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        brokers = {row.node.id: row for row in await look_at_brokers(cluster, figures=False)}
        topics = [topic for topic in (await describe_topics(cluster, None)).values() if isinstance(topic, Topic)]
        parts = [part for topic in topics for part in topic.partitions]
        rows = document.of(BrokerRow)
        for number in ids:
            known = brokers.get(number)
            row = BrokerRow(
                broker=number,
                host=None if known is None else known.node.host,
                port=None if known is None else known.node.port,
                state=None if known is None else "fenced" if known.fenced else "up",
                replicas=sum(number in part.replicas for part in parts),
                result="would unregister",
                error=None,
            )
            rows.append(row)
            problem = _objection(number, row, options.force, sorted(brokers))
            if problem:
                row.result, row.error = "failed", problem
                document.fail(KcliError(problem), f"broker {number}")
        ready = [row for row in rows if row.result != "failed"]
        if not ready:
            return None

        async def carry_out() -> int | None:
            for row in ready:
                await _forgotten(cluster, document, row)
            return None

        return PlannedChange(
            names=[f"broker {row.broker}" for row in ready], verb="unregister", noun="broker", carry_out=carry_out
        )

    return make_change(options, SHAPE, make_plan)


def _objection(number: int, row: BrokerRow, force: bool, known: list[int]) -> str:
    """Why it had better stay, "" for nothing."""
    if row.state is None:
        return f"unknown broker {number}; known: {', '.join(map(str, known))}"
    if row.state == "up" and not force:
        return f"broker {number} is up: stop it first, or it runs on without a registration (--force allows that)"
    return ""


async def _forgotten(cluster: Cluster, document: Document, row: BrokerRow) -> None:
    try:
        await unregister_broker(cluster, row.broker)
        row.result = "done"
    except KcliError as problem:
        row.result, row.error = "failed", str(problem)
        document.fail(problem, f"broker {row.broker}")
