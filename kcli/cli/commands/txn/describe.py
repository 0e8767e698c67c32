"""`kcli txn describe`: transactions with the partitions that wait for their markers."""

from __future__ import annotations

from collections.abc import Iterable

from kcli.admin.transactions.producers import ProducerState, describe_producers
from kcli.admin.transactions.transactions import Described, describe_transactions
from kcli.asking.fan_out import good
from kcli.cli.commands.txn.options import NamedTransactions
from kcli.cli.commands.txn.rows import moment, since
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, words_of
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition


class TransactionRow(Row, section="transactions"):
    transactional_id: str = column("The transactional id.", rank=1)
    coordinator: int = column("Id of the broker that coordinates it.", rank=3)
    producer_id: int = column("Id of the producer.", rank=1)
    epoch: int = column("Epoch of the producer.", rank=3)
    state: str = column(
        "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, …", unit="word", rank=1
    )
    timeout: float | None = duration("Seconds after which the coordinator aborts it.")
    started: str | None = column("When its last transaction began, UTC.", unit="time", rank=3)
    age: float | None = duration("Seconds since then, while it is open.")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


class PartitionRow(Row, section="partitions"):
    transactional_id: str = column("The transactional id.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    open_since: int | None = column("Offset at which the open transaction begins here.")
    last_write: str | None = column("Timestamp of its last record or marker, UTC.", unit="time", rank=3)
    idle: float | None = duration("Seconds since then.")


SHAPE = shape(
    "txn.describe",
    "Transactional ids, and the partitions that wait for their markers.",
    TransactionRow,
    PartitionRow,
)


class DescribeOptions(NamedTransactions, ReadOptions):
    """Ids as arguments, or by the option."""


@command(
    "txn describe",
    help="Show transactional ids with timeout, age and open partitions.",
    words="TXN",
    examples="""
kcli txn describe billing-1
kcli txn describe billing-1 billing-2 -J | jq '.partitions[].topic'""",
)
def describe(options: DescribeOptions) -> int:
    """Print transactional ids: state, producer id and epoch, timeout, age, and the partitions that wait for the
    markers, with the offset that blocks each.
    """
    names = words_of(options, "transactional id")

    async def work(cluster: Cluster, document: Document) -> None:
        transactions = await describe_transactions(cluster, names)
        rows = document.of(TransactionRow)
        for name, transaction in transactions.items():
            if isinstance(transaction, KcliError):
                document.fail(transaction, name)
            else:
                rows.append(_described(transaction))
        described = list(good(transactions).values())
        states = good(
            await describe_producers(cluster, {at for transaction in described for at in transaction.partitions})
        )
        document.of(PartitionRow).extend(
            _waiting(transaction, at, states.get(at, [])) for transaction in described for at in transaction.partitions
        )

    return answer(options, SHAPE, work)


def _described(transaction: Described) -> TransactionRow:
    return TransactionRow.of(
        transaction,
        transactional_id=transaction.name,
        timeout=transaction.timeout_ms / 1000,
        started=moment(transaction.started),
        error=None,
    )


def _waiting(transaction: Described, at: TopicPartition, states: Iterable[ProducerState]) -> PartitionRow:
    """A partition of a transaction; its figures are null where the leader knows nothing of the producer: nothing was
    written there yet, or it may not be asked."""
    state = next((state for state in states if state.producer_id == transaction.producer_id), None)
    return PartitionRow(
        transactional_id=transaction.name,
        topic=at.topic,
        partition=at.partition,
        open_since=state.open_since if state is not None else None,
        last_write=moment(state.last_timestamp) if state is not None else None,
        idle=since(state.last_timestamp) if state is not None and state.last_timestamp >= 0 else None,
    )
