"""`kcli logdirs replicas`: the replicas in them, with sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage import ReplicaSize
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.logdirs.list import BrokersOptions, directories_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, missing
from kcli.cli.runtime.names import names_of, topic_names
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer


class ReplicaRow(Row, section="replicas"):
    broker: int | None = column("Id of the broker.", sparse=True, rank=1)
    directory: str | None = column("Log directory.", sparse=True, rank=1)
    topic: str | None = column("Name of the topic.", sparse=True, rank=1)
    partition: int | None = column("Number of the partition.", sparse=True, rank=1)
    replicas: int = column("Number of replicas in this row.", unit="count")
    size: int = column("Bytes.", unit="bytes")
    behind: int = column("Offsets it is behind the leader.", unit="count")
    moving: bool = column("True while the replica moves to another directory.", table=False)


SHAPE = shape("logdirs.replicas", "Replicas on disks, one a row, or totals.", ReplicaRow, empty="no replicas")


class ReplicasOptions(PatternOptions, BrokersOptions, ReadOptions):
    topics: Annotated[list[str], typer.Option("-t", "--topic", metavar="TOPIC", help="Only this topic. Repeatable.")]
    by: Annotated[
        Literal["replica", "topic", "broker"] | None,
        typer.Option("--by", help="Group rows by this (default: replica)."),
    ] = None


@command(
    "logdirs replicas",
    help="List replicas with their sizes.",
    examples="""
kcli logdirs replicas --topic orders
kcli logdirs replicas -t 'orders-*' --by topic
kcli logdirs replicas --by topic --sort size
kcli logdirs replicas --broker 1 --format csv""",
)
def replicas(options: ReplicasOptions) -> int:
    """Print replicas with their sizes, by directory; or totals by topic or broker."""
    brokers, names = broker_ids(options.brokers, "--broker") or None, names_of(options, options.topics)

    async def work(cluster: Cluster, document: Document) -> None:
        topics = None
        if options.topics:
            topics = {}
            wanted = await topic_names(cluster, names, internal=True)
            for name, topic in (await describe_topics(cluster, wanted)).items():
                if isinstance(topic, Topic):
                    topics[name] = [replica.partition for replica in topic.partitions]
                elif isinstance(topic, TopicMissing):
                    missing(document, name, topic, await describe_topics(cluster, internal=False))
                else:
                    document.fail(topic, name)
        places = await directories_of(cluster, document, topics, brokers)
        rows = _added([replica for place in places for replica in place.replicas], options.by or "replica")
        document.of(ReplicaRow).extend(sorted(rows, key=_place))

    return answer(options, SHAPE, work)


def _added(some: list[ReplicaSize], by: str) -> list[ReplicaRow]:
    """A row per replica, or the sum by topic or broker; what is not the same in a sum is null."""
    if by == "replica":
        return [
            ReplicaRow(
                broker=replica.broker,
                directory=replica.directory,
                topic=replica.topic,
                partition=replica.partition,
                replicas=1,
                size=replica.size,
                behind=replica.offset_lag,
                moving=replica.future,
            )
            for replica in some
        ]
    sums: dict[str | int, ReplicaRow] = {}
    for replica in some:
        key: str | int = replica.topic if by == "topic" else replica.broker
        empty = ReplicaRow(
            broker=replica.broker if by == "broker" else None,
            directory=None,
            topic=replica.topic if by == "topic" else None,
            partition=None,
            replicas=0,
            size=0,
            behind=0,
            moving=False,
        )
        row = sums.setdefault(key, empty)
        row.replicas += 1
        row.size += replica.size
        row.behind += replica.offset_lag
        row.moving = row.moving or replica.future
    return list(sums.values())


def _place(row: ReplicaRow) -> tuple[int, str, int]:
    return row.broker or 0, row.topic or "", row.partition or 0
