"""`kcli txn abort`: end a transaction that holds up readers, from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.transactions.producers import ProducerState
from kcli.changes import transactions
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.fence import fence_all
from kcli.cli.commands.txn.rows import ProducerRow
from kcli.cli.output.tables.rows import column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes.change import Plan, Row
    from kcli.model import Cluster


class AbortedRow(ProducerRow, section="transactions"):
    open_since: int | None = column("Offset at which the open transaction begins here.", before="producer_id")
    idle: float | None = duration("Seconds since then.")
    transactional_id: str | None = column(
        "Its transactional id, where a coordinator knows it.",
        sparse=True,
        before="idle",
        rank=1,
    )
    result: str = column("would abort, aborted, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("txn.abort", "Hanging transactions that were aborted, or would be.", AbortedRow)


class AbortOptions(ChangeOptions):
    start_offset: Annotated[
        int | None, typer.Option("--start-offset", min=0, help="First offset, as find-hanging prints it (OPEN SINCE).")
    ] = None
    topic: Annotated[
        str | None, typer.Option("-t", "--topic", metavar="TOPIC", help="The topic, as in Kafka's own tool.")
    ] = None
    partition: Annotated[int | None, typer.Option("-p", "--partition", min=0, help="The partition.")] = None
    producer_id: Annotated[
        int | None,
        typer.Option("--producer-id", min=0, help="Instead of --start-offset, with both epochs; nothing is checked."),
    ] = None
    producer_epoch: Annotated[int | None, typer.Option("--producer-epoch", min=0, help="Its epoch.")] = None
    coordinator_epoch: Annotated[
        int | None,
        typer.Option(
            "--coordinator-epoch",
            min=-1,
            help="The epoch of its coordinator; -1 if the coordinator never wrote a marker.",
        ),
    ] = None
    fence: Annotated[bool, typer.Option("--fence", help="The arguments are transactional ids: fence them.")] = False
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Abort even a transaction that its coordinator knows; its other partitions stay open."
        ),
    ] = False


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
    """Abort a hanging transaction by writing the marker that its coordinator will never write. Identify it by the
    offset at which it began. A transaction that its coordinator knows is refused: use `kcli txn fence` instead. The
    plan comes first; --execute applies it. This cannot be undone.
    """
    if options.fence:
        if options.start_offset is not None or options.producer_id is not None:
            raise UsageError(
                "--fence needs transactional ids; --start-offset and --producer-id are for hanging transactions"
            )
        return fence_all(options)
    at = _partition(options)
    producer = _named_producer(options)

    async def planned(cluster: Cluster) -> Plan:
        return await transactions.plan_abort(cluster, at, options.start_offset, producer, force=options.force)

    return apply_plan(options, SHAPE, AbortedRow, planned, done=_done)


def _done(rows: Sequence[Row]) -> str:
    return "" if rows[0].error is not None else "1 transaction aborted"


def _partition(options: AbortOptions) -> TopicPartition:
    """The one partition meant: TOPIC:N, or --topic and --partition as Kafka's tool has them. Raises UsageError."""
    words = [*options.words, *([options.topic] if options.topic else [])]
    if len(words) != 1:
        raise UsageError("missing argument: kcli txn abort TOPIC:PARTITION --start-offset N")
    topic, numbers = next(iter(Scope(words).topics.items()))
    if numbers is None and options.partition is not None:
        return TopicPartition(topic, options.partition)
    if numbers is None or options.partition is not None or len(numbers) != 1:
        raise UsageError(
            f"{words[0]}: give one partition: kcli txn abort {topic}:0 --start-offset N; to fence a transactional "
            f"id: kcli txn fence {topic}"
        )
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
        raise UsageError("--producer-id, --producer-epoch and --coordinator-epoch require each other")
    if options.start_offset is not None:
        raise UsageError("--start-offset and --producer-id cannot be combined: kcli finds the producer by the offset")
    return ProducerState(producer_id=producer_id, epoch=epoch, coordinator_epoch=coordinator_epoch)
