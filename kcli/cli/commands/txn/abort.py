"""`kcli txn abort`: end a transaction that holds up readers, from outside.

Three ways to end one, and each is right for one case only: the producer itself; `fence` for an id that a coordinator
knows, which aborts the whole transaction; `abort` for a hanging one, which no coordinator ends, partition by partition.
"""

from __future__ import annotations

from kcli.admin.transactions.hanging_transactions import OpenTransaction, abort, find_one, still_open
from kcli.admin.transactions.producers import ProducerState
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.fence import fence_all
from kcli.cli.commands.txn.rows import ProducerRow
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag, integer, text
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition


class AbortedRow(ProducerRow, section="transactions"):
    open_since: int | None = column("Offset at which the open transaction begins here.", before="producer_id")
    idle: float | None = duration("Seconds since then.")
    transactional_id: str | None = column(
        "Its transactional id, where a coordinator knows it.",
        sparse=True,
        before="idle",
        rank=1,
    )
    result: str = column("would abort, aborted or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("txn.abort", "Hanging transactions that were aborted, or would be.", AbortedRow)


class AbortOptions(ChangeOptions):
    start_offset = integer("--start-offset", least=0, help="First offset, as find-hanging prints it (OPEN SINCE).")
    topic = text("-t", "--topic", metavar="TOPIC", help="The topic, in the form of Kafka's tool.")
    partition = integer("-p", "--partition", least=0, help="The partition.")
    producer_id = integer(
        "--producer-id", least=0, help="Instead of --start-offset, with both epochs; nothing is checked."
    )
    producer_epoch = integer("--producer-epoch", least=0, help="Its epoch.")
    coordinator_epoch = integer(
        "--coordinator-epoch", least=-1, help="The epoch of its coordinator; -1 for one that never wrote a marker."
    )
    fence = flag("--fence", help="The arguments are transactional ids: fence them.")
    force = flag("--force", help="Also a transaction that its coordinator knows; its other partitions stay open.")


@command(
    "txn abort",
    help="Abort a hanging transaction in a partition.",
    words="TOPIC[:0,1]",
    examples="""
kcli txn abort orders:0 --start-offset 42
kcli txn abort orders:0 --start-offset 42 --execute
kcli txn abort orders:0 --producer-id 7 --producer-epoch 0 --coordinator-epoch 3 --execute
kcli txn abort --fence billing-1 --execute   # the same as kcli txn fence""",
)
def abort_command(options: AbortOptions) -> int:
    """Abort a hanging transaction by writing the marker that its coordinator will never write. It is named by the
    offset at which it began; one that its coordinator knows is refused: `kcli txn fence` is for those. The plan
    comes first; --execute applies it. This cannot be undone.
    """
    if options.fence:
        if options.start_offset is not None or options.producer_id is not None:
            raise UsageError("--fence takes transactional ids; --start-offset and --producer-id are for hanging ones")
        return fence_all(options)
    at = _partition(options)
    producer = _named_producer(options)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        transaction = await _open_transaction(cluster, at, options.start_offset, producer)
        row = _row(transaction)
        if producer is not None:
            row.idle = None
        document.of(AbortedRow).append(row)
        if producer is None and not transaction.hangs and not options.force:
            row.result, row.error = "failed", f"{transaction.name} is not hanging"
            document.fail(KcliError(_living(transaction)), f"{at.topic} [{at.partition}]")
            return None

        async def carry_out() -> int | None:
            problem = await abort(cluster, at, transaction.producer) or await still_open(
                cluster, at, transaction.producer
            )
            row.result, row.error = ("aborted", None) if problem is None else ("failed", str(problem))
            if problem is not None:
                document.fail(problem, f"{at.topic} [{at.partition}]")
            else:
                say(options, "1 transaction aborted")
            return None

        return PlannedChange(names=[at.topic], carry_out=carry_out)

    return make_change(options, SHAPE, make_plan)


def _row(transaction: OpenTransaction) -> AbortedRow:
    producer = transaction.producer
    return AbortedRow.of(
        producer,
        topic=transaction.at.topic,
        partition=transaction.at.partition,
        idle=round(transaction.age, 3),
        transactional_id=transaction.name,
        result="would abort",
        error=None,
    )


def _living(transaction: OpenTransaction) -> str:
    state = f" ({transaction.known.state})" if transaction.known is not None else ""
    return (
        f"its coordinator knows this transaction{state} and will end it; an abort here would end only a part of it. "
        f"To abort all of it: kcli txn fence {transaction.name}"
    )


def _partition(options: AbortOptions) -> TopicPartition:
    """The one partition meant: TOPIC:N, or --topic and --partition as Kafka's tool has them. Raises UsageError."""
    words = [*options.words, *([options.topic] if options.topic else [])]
    if len(words) != 1:
        raise UsageError("missing argument: kcli txn abort TOPIC:PARTITION --start-offset N")
    topic, numbers = next(iter(Scope(words).topics.items()))
    if numbers is None and options.partition is not None:
        return TopicPartition(topic, options.partition)
    if numbers is None or options.partition is not None or len(numbers) != 1:
        raise UsageError(f"{words[0]}: name one partition: kcli txn abort {topic}:0 --start-offset N")
    return TopicPartition(topic, next(iter(numbers)))


def _named_producer(options: AbortOptions) -> ProducerState | None:
    """The producer as the options name it, for brokers before 2.8 that do not tell. Raises UsageError."""
    ids = (options.producer_id, options.producer_epoch, options.coordinator_epoch)
    if ids == (None, None, None):
        if options.start_offset is None:
            raise UsageError("missing option: --start-offset N, as `kcli txn find-hanging` prints it (OPEN SINCE)")
        return None
    producer_id, epoch, coordinator_epoch = ids
    if producer_id is None or epoch is None or coordinator_epoch is None:
        raise UsageError("--producer-id, --producer-epoch and --coordinator-epoch go together")
    if options.start_offset is not None:
        raise UsageError("--start-offset finds the producer by itself; take it or --producer-id")
    return ProducerState(producer_id=producer_id, epoch=epoch, coordinator_epoch=coordinator_epoch)


async def _open_transaction(
    cluster: Cluster, at: TopicPartition, start: int | None, producer: ProducerState | None
) -> OpenTransaction:
    if producer is not None:
        return OpenTransaction(at=at, producer=producer)
    transactions = await find_one(cluster, at)
    for transaction in transactions:
        if transaction.producer.open_since == start:
            return transaction
    others = ", ".join(str(transaction.producer.open_since) for transaction in transactions)
    about = f"{at.topic} [{at.partition}]"
    there = f"those open begin at {others}" if others else "none is open"
    raise KcliError(f"{about}: no open transaction begins at {start}; {there}")
