"""`kcli txn producers`: the producers that partitions know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.transactions.producers import ProducerState, describe_producers
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.options import OpenOptions
from kcli.cli.commands.txn.rows import ProducerRow, moment, since
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, words_of
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class StateRow(ProducerRow, section="producers"):
    last_sequence: int = column("Sequence number of its last record; -1 for none.", rank=3)
    last_write: str | None = column("Timestamp of its last record or marker, UTC.", unit="time", rank=3)
    idle: float | None = duration("Seconds since then.")
    open_since: int | None = column("Offset at which the open transaction begins here.")


SHAPE = shape("txn.producers", "Producers of a partition, one a row.", StateRow, empty="no producers")


class ProducersOptions(NamedTopics, PatternOptions, OpenOptions, ReadOptions):
    broker: Annotated[
        int | None,
        typer.Option("--broker", metavar="ID", min=0, help="Query this broker's replicas instead of the leaders."),
    ] = None


@command(
    "txn producers",
    help="Show producers of partitions and open transactions.",
    words="TOPIC[:0,1]",
    examples="""
kcli txn producers orders
kcli txn producers orders:0,1 --open
kcli txn producers orders:0 --broker 2       # as this replica knows them""",
)
def producers(options: ProducersOptions) -> int:
    """Print the producers known to partitions: idempotent and transactional ones, the last to write first."""
    scope = Scope(words_of(options, "TOPIC"), literal=options.literal, reads=True)

    async def work(cluster: Cluster, document: Document) -> None:
        parts = await scope.partitions(cluster, ())
        rows = document.of(StateRow)
        for at, states in (await describe_producers(cluster, parts, replica=options.broker)).items():
            if isinstance(states, KcliError):
                document.fail(states, f"{at.topic} [{at.partition}]")
                continue
            states = [state for state in states if state.open_since is not None or not options.open]
            rows += [_producer(at, state) for state in sorted(states, key=lambda state: -state.last_timestamp)]

    return answer(options, SHAPE, work)


def _producer(at: TopicPartition, state: ProducerState) -> StateRow:
    return StateRow.of(
        state,
        topic=at.topic,
        partition=at.partition,
        last_write=moment(state.last_timestamp),
        idle=since(state.last_timestamp) if state.last_timestamp >= 0 else None,
    )
