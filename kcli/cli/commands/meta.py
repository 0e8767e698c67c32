"""`kcli meta`: what one broker says about the cluster. kpax had it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.cluster import MetadataAnswer, ask_metadata
from kcli.admin.topics.topics import describe_topics, id_text
from kcli.asking.leaders import TopicMissing
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, fail_all
from kcli.cli.runtime.names import names_of, topic_names
from kcli.model import Cluster, TopicPartition
from kcli.proto.messages.metadata import MetadataResponsePartition

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class ClusterRow(Row, section="cluster"):
    cluster_id: str | None = column("Its id.", unit="word")
    controller: int | None = column("Id of the controller.")
    answered_by: int = column("Id of the broker that answered.")


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    host: str = column("Host that it advertises.", rank=1)
    port: int = column("Its port.", rank=1)
    rack: str | None = column("Its rack.", sparse=True, rank=3)


class MetaTopicRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    topic_id: str | None = column("Its id; null from brokers before 2.8.", rank=3, unit="word")
    internal: bool = column("Whether it is an internal topic of Kafka.", rank=3)
    partitions: int = column("Number of partitions.", unit="count")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


class PartitionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    leader: int | None = column("Broker that leads; null for none.")
    leader_epoch: int | None = column("Epoch of the leader; null from old brokers.", rank=3)
    replicas: list[int] = column("Brokers with a replica; the first is the preferred leader.")
    isr: list[int] = column("Replicas in sync with the leader.")
    offline: list[int] = column("Replicas that are offline.", table=False)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape(
    "meta",
    "A broker's metadata: brokers, topics and partitions, from one response.",
    ClusterRow,
    BrokerRow,
    MetaTopicRow,
    PartitionRow,
)


class MetaOptions(NamedTopics, PatternOptions, ReadOptions):
    broker: Annotated[
        int | None, typer.Option("--broker", metavar="ID", min=0, help="Query this broker (default: any).")
    ] = None


@command(
    "meta",
    words="TOPIC",
    examples="""
kcli meta
kcli meta orders payments
kcli meta --broker 3 -J | jq '.partitions[] | select(.leader == null)'""",
)
def meta(options: MetaOptions) -> int:
    """Print the metadata that one broker reports, from one response: brokers, topics, partitions with leader,
    replicas and in-sync replicas. All topics, or those named; no topic is created. --broker shows whether a broker's
    metadata is stale.
    """
    meant = names_of(options, dict.fromkeys(options.words))

    async def work(cluster: Cluster, document: Document) -> None:
        names = await topic_names(cluster, meant, internal=True) if options.words else None
        metadata = await ask_metadata(cluster, names, broker=options.broker)
        topics = sorted(metadata.answer.topics, key=lambda topic: topic.name or "")
        document.of(ClusterRow)[:] = [
            ClusterRow(
                cluster_id=metadata.cluster_id,
                controller=metadata.controller if metadata.controller >= 0 else None,
                answered_by=metadata.answered_by,
            )
        ]
        document.of(BrokerRow)[:] = [BrokerRow.of(node, broker=node.id) for node in metadata.brokers]
        document.of(MetaTopicRow)[:] = [
            MetaTopicRow(
                topic=topic.name or "",
                topic_id=id_text(topic.topic_id) or None,
                internal=topic.is_internal,
                partitions=len(topic.partitions),
                error=str(metadata.missing[topic.name or ""]) if (topic.name or "") in metadata.missing else None,
            )
            for topic in topics
        ]
        document.of(PartitionRow)[:] = [
            _partition(metadata, topic.name or "", part)
            for topic in topics
            for part in sorted(topic.partitions, key=lambda part: part.partition_index)
        ]

        async def known() -> list[str]:
            return list(await describe_topics(cluster, None))

        await fail_all(document, metadata.missing, TopicMissing, known)

    return answer(options, SHAPE, work)


def _partition(metadata: MetadataAnswer, topic: str, part: MetadataResponsePartition) -> PartitionRow:
    problem = metadata.troubled.get(TopicPartition(topic, part.partition_index))
    return PartitionRow(
        topic=topic,
        partition=part.partition_index,
        leader=part.leader_id if part.leader_id >= 0 else None,
        leader_epoch=part.leader_epoch if part.leader_epoch >= 0 else None,
        replicas=part.replica_nodes,
        isr=part.isr_nodes,
        offline=part.offline_replicas,
        error=None if problem is None else str(problem),
    )
