"""`kcli txn find-hanging`: transactions that hold up readers and that no coordinator will end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.topics.topics import Topic, describe_topics
from kcli.admin.transactions.hanging_transactions import OLD, OpenTransaction, every_partition, find_open
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.rows import ProducerRow, moment
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, plural, say
from kcli.errors import KcliError
from kcli.grammar.durations import seconds
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption

FOUND = 3


class HangingRow(ProducerRow, section="transactions"):
    open_since: int | None = column("Offset at which the open transaction begins here.")
    last_write: str | None = column("Timestamp of its last record or marker, UTC.", unit="time", rank=3)
    idle: float | None = duration("Seconds since then.")
    transactional_id: str | None = column("Its transactional id, where a coordinator knows it.", sparse=True, rank=1)
    why: str = column("Why it does not end by itself.", unit="sentence", rank=1)


SHAPE = shape("txn.find-hanging", "Open transactions that no coordinator will end, one a row.", HangingRow)


class FindHangingOptions(NamedTopics, PatternOptions, ReadOptions):
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="Minimum age of its last record (default 15m, the longest timeout brokers allow).",
        ),
    ] = None
    brokers: Annotated[
        list[str],
        KcliOption(
            "--broker", metavar="ID", help="Only partitions that this broker leads. Repeatable.", also=("--broker-id",)
        ),
    ]


@command(
    "txn find-hanging",
    help="Find open transactions that no coordinator will end.",
    words="TOPIC[:0,1]",
    examples="""
kcli txn find-hanging
kcli txn find-hanging orders --older-than 1h
kcli txn find-hanging --broker 2 -J""",
)
def find_hanging(options: FindHangingOptions) -> int:
    """Find hanging transactions (KIP-664): a transaction is open in a partition, its last record is older than
    --older-than, and its coordinator does not know the producer, or does not include the partition. Consumers with
    read_committed wait for it forever. All topics are scanned, or those named. Exit code 3 if a transaction hangs.
    """
    words = list(dict.fromkeys(options.words))
    scope = Scope(words, literal=options.literal, reads=True) if words else None
    brokers = broker_ids(options.brokers)
    older = seconds(options.older_than, "--older-than", OLD)

    async def work(cluster: Cluster, document: Document) -> int | None:
        parts = await _scanned(cluster, scope, brokers)
        search = await find_open(cluster, parts, older_than=older)
        hanging = [transaction for transaction in search.transactions if transaction.hangs]
        document.of(HangingRow).extend(map(_row, hanging))
        for at, problem in search.failed.items():
            document.fail(problem, f"{at.topic} [{at.partition}]")
        for node, problem in search.untold.items():
            document.fail(problem, f"broker {node}")
        if search.untold and search.transactions:
            document.fail(
                KcliError("not every coordinator responded, so no transaction is reported as hanging"), "coordinators"
            )
        _advise(options, search.transactions, hanging, len(parts))
        return FOUND if hanging and not document.errors else None

    return answer(options, SHAPE, work)


def _row(transaction: OpenTransaction) -> HangingRow:
    producer = transaction.producer
    return HangingRow.of(
        producer,
        topic=transaction.at.topic,
        partition=transaction.at.partition,
        last_write=moment(producer.last_timestamp),
        idle=round(transaction.age, 3),
        transactional_id=transaction.name,
        why=transaction.hangs,
    )


def _advise(
    options: FindHangingOptions, opened: list[OpenTransaction], hanging: list[OpenTransaction], looked_at: int
) -> None:
    """Say what was scanned, and how a transaction is ended."""
    say(
        options,
        f"{plural(looked_at, 'partition')}, {plural(len(opened), 'old open transaction')}, "
        f"{len(hanging)} of them hanging",
    )
    if hanging:
        transaction = hanging[0]
        say(
            options,
            f"to end one: kcli txn abort {transaction.at.topic}:{transaction.at.partition} "
            f"--start-offset {transaction.producer.open_since} --execute",
        )
    for transaction in opened:
        if not transaction.hangs and transaction.name is not None:
            say(
                options,
                f"{transaction.at.topic} [{transaction.at.partition}] is blocked by {transaction.name}, which its "
                f"coordinator knows; to end it: kcli txn fence {transaction.name} --execute",
            )
            break


async def _scanned(cluster: Cluster, scope: Scope | None, brokers: set[int]) -> list[TopicPartition]:
    """The partitions to look at: those named, or all; of these, those that the `brokers` lead."""
    if scope is not None:
        parts = await scope.partitions(cluster, ())
    else:
        parts = await every_partition(cluster)
    if not brokers:
        return parts
    known = await describe_topics(cluster, {at.topic for at in parts})
    led = {
        (partition.topic, partition.partition)
        for topic in known.values()
        if isinstance(topic, Topic)
        for partition in topic.partitions
        if partition.leader in brokers
    }
    return [at for at in parts if at in led]
