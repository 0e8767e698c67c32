"""Describes a cluster: its id, its controller, its brokers."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.admin.cluster.quorum import controller_of
from kcli.asking.ask import ask_anyone
from kcli.asking.leaders import TopicMissing
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster, Node, TopicPartition
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kcli.values import Value, field


class ClusterDescription(Value):
    """A cluster as one of its brokers currently sees it. `controller` is -1 if unknown."""

    cluster_id: str | None = None
    controller: int = -1
    brokers: list[Node] = field(factory=list)


async def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """Describe the cluster with a Metadata request without topics and a DescribeQuorum request, to any broker. Brokers
    are sorted by id. Raises KcliError if no broker responds."""
    answer = await _ask(cluster)
    brokers = [Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in answer.brokers]
    controller = await controller_of(cluster, answer.controller_id)
    return ClusterDescription(cluster_id=answer.cluster_id, controller=controller, brokers=sorted(brokers))


async def cluster_id(cluster: Cluster) -> str | None:
    """Return the cluster id; None from brokers that do not report it. Raises KcliError if no broker responds."""
    return (await _ask(cluster)).cluster_id


async def _ask(cluster: Cluster) -> MetadataResponse:
    return await ask_anyone(cluster, MetadataRequest(topics=[], allow_auto_topic_creation=False))


class MetadataAnswer(Value):
    """The metadata response of broker `answered_by`. `controller` is -1 if unknown; `missing` and `troubled` are errors
    of topics and of partitions."""

    answered_by: int = -1
    cluster_id: str | None = None
    controller: int = -1
    brokers: list[Node] = field(factory=list)
    answer: MetadataResponse = None  # type: ignore[assignment]  # always given
    missing: dict[str, KcliError] = field(factory=dict)
    troubled: dict[TopicPartition, KcliError] = field(factory=dict)


async def ask_metadata(cluster: Cluster, topics: Iterable[str] | None, *, broker: int | None = None) -> MetadataAnswer:
    """Request the metadata of these topics, or of all, from this broker or any; this creates no topics. Raises
    KcliError."""
    asked = None if topics is None else [MetadataRequestTopic(name=name) for name in dict.fromkeys(topics)]
    peer: Broker = await (cluster.anyone() if broker is None else cluster.node(broker))
    answer = await peer.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False))
    description = MetadataAnswer(
        answered_by=peer.node_id,
        cluster_id=answer.cluster_id,
        controller=await controller_of(cluster, answer.controller_id),
        brokers=sorted(Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in answer.brokers),
        answer=answer,
    )
    for topic in answer.topics:
        code, name = codes.of(topic.error_code), topic.name or ""
        if code:
            absent = code is codes.UNKNOWN_TOPIC_OR_PARTITION
            refused = BrokerError(code, name, api=MetadataRequest.api_key, topic=name)
            description.missing[name] = TopicMissing(name) if absent else refused
        for part in topic.partitions:
            if part.error_code:
                at = TopicPartition(name, part.partition_index)
                description.troubled[at] = BrokerError(codes.of(part.error_code), f"{name} [{part.partition_index}]")
    return description
