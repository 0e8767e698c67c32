"""`kcli topics describe`."""

from __future__ import annotations

import asyncio

from kcli.admin.configs import topic_configs
from kcli.admin.topics.topics import Topic, add_eligible, describe_topics
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, TieredOffsets, list_offsets, tiered_offsets
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, fail_all, words_of
from kcli.cli.runtime.names import names_of, topic_names
from kcli.errors import KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.topics.topics import Partition
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class DescribedTopicRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    partitions: int = column("Number of partitions.", unit="count")
    replicas: int = column("Replication factor.", unit="count")
    under_replicated: int = column("Partitions with fewer in-sync replicas than replicas.", table=False, unit="count")
    leaderless: int = column("Leaderless partitions.", table=False, unit="count")
    internal: bool = column("True for Kafka's own topics.", table=False, rank=3)
    topic_id: str | None = column("Topic id; null from brokers before 2.8.", rank=3, unit="word")
    configs: dict[str, str | None] | None = column(
        "Configs set on the topic itself; a secret is null. Null if they are unknown."
    )
    error: str | None = column("Why the configs are unknown.", table=False, unit="sentence")


class PartitionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    leader: int | None = column("Id of the leading broker; null if leaderless.")
    leader_epoch: int | None = column("Leader epoch.", table=False, rank=3)
    replicas: list[int] = column("Brokers with a replica, preferred leader first.")
    isr: list[int] = column("Replicas in sync.")
    offline: list[int] = column("Replicas offline.", table=False)
    start: int | None = column("Log start offset.")
    end: int | None = column("High watermark.")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")
    elr: list[int] | None = column(
        "Eligible leader replicas: not in sync, with all committed records. Null without any.", sparse=True
    )
    last_known_elr: list[int] | None = column(
        "The last eligible leader replicas, where none is eligible now. Null without any.", sparse=True, rank=3
    )
    local_start: int | None = column("First offset on the leader's disk; null without tiered storage.", sparse=True)
    tiered: int | None = column("Last offset in remote storage; null without one.", sparse=True)
    pending: int | None = column(
        "First offset that is not in remote storage yet; null without tiered storage.", sparse=True, rank=3
    )
    note: str | None = column(
        "Replicas that may lead a leaderless partition; null for others.", unit="sentence", sparse=True
    )


SHAPE = shape(
    "topics.describe", "Partitions of topics, and the topics with their own configs.", DescribedTopicRow, PartitionRow
)


class DescribeOptions(NamedTopics, PatternOptions, ReadOptions):
    """Names as arguments, or by the option."""


@command(
    "topics describe",
    help="Show partitions, offsets and configs of topics.",
    words="TOPIC",
    examples="""
kcli topics describe orders
kcli topics describe 'orders-*' payments
kcli topics describe orders -J | jq '.topics[].configs'""",
)
def describe(options: DescribeOptions) -> int:
    """Print partitions with leader, replicas and offsets, and the topics with the configs set on them.

    Columns about eligible leader replicas (KIP-966) and tiered storage appear where a partition has them. NOTE shows
    which replica can lead a leaderless partition.
    """
    names = names_of(options, words_of(options, "TOPIC"))

    async def work(cluster: Cluster, document: Document) -> None:
        topics = await _existing(cluster, await topic_names(cluster, names), document)
        partitions = {TopicPartition(p.topic, p.partition): p for topic in topics.values() for p in topic.partitions}
        await cluster.refresh(list(topics))
        configs, starts, ends, tiers, _ = await asyncio.gather(
            topic_configs(cluster, topics),
            list_offsets(cluster, dict.fromkeys(partitions, EARLIEST)),
            list_offsets(cluster, dict.fromkeys(partitions, LATEST)),
            tiered_offsets(cluster, [at for at, partition in partitions.items() if partition.leader >= 0]),
            add_eligible(cluster, topics.values()),
        )
        for name, error in bad(configs).items():
            document.fail(error, name)
        document.of(DescribedTopicRow).extend(_row(topic, configs.get(name, {})) for name, topic in topics.items())
        rows = document.of(PartitionRow)
        for at, partition in partitions.items():
            problem = next((answer for answer in (starts[at], ends[at]) if isinstance(answer, KcliError)), None)
            if problem is not None:
                document.fail(problem, f"{at.topic} [{at.partition}]")
            rows.append(_partition_row(partition, starts[at], ends[at], tiers.get(at, TieredOffsets()), problem))

    return answer(options, SHAPE, work)


async def _existing(cluster: Cluster, names: list[str], document: Document) -> dict[str, Topic]:
    """The topics that exist, in the order asked; the others are errors of the document."""
    topics = await describe_topics(cluster, names)
    await fail_all(document, bad(topics), TopicMissing, lambda: describe_topics(cluster, internal=False))
    return good({name: topics[name] for name in dict.fromkeys(names) if name in topics})


def _row(topic: Topic, configs: dict[str, str | None] | KcliError) -> DescribedTopicRow:
    return DescribedTopicRow.of(
        topic,
        partitions=len(topic.partitions),
        replicas=topic.replication_factor,
        topic_id=topic.topic_id or None,
        configs=None if isinstance(configs, KcliError) else configs,
        error=configs.args[0] if isinstance(configs, KcliError) else None,
    )


def _partition_row(
    partition: Partition,
    start: LogOffset | KcliError,
    end: LogOffset | KcliError,
    tiers: TieredOffsets,
    problem: KcliError | None,
) -> PartitionRow:
    return PartitionRow(
        topic=partition.topic,
        partition=partition.partition,
        leader=partition.leader if partition.leader >= 0 else None,
        leader_epoch=partition.leader_epoch if partition.leader_epoch >= 0 else None,
        replicas=partition.replicas,
        isr=partition.isr,
        offline=partition.offline,
        start=start.offset if isinstance(start, LogOffset) else None,
        end=end.offset if isinstance(end, LogOffset) else None,
        error=None if problem is None else str(problem),
        elr=partition.elr or None,
        last_known_elr=partition.last_known_elr or None,
        local_start=tiers.local_start,
        tiered=tiers.last,
        pending=tiers.pending,
        note=partition.advice,
    )
