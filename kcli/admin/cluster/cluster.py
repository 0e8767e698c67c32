"""A cluster's description: its id, its controller, its brokers."""

from __future__ import annotations

from kcli.asking.ask import ask_anyone
from kcli.model import Cluster, Node
from kcli.proto.messages.metadata import MetadataRequest
from kcli.values import Value, field


class ClusterDescription(Value):
    """A cluster as one of its brokers sees it now. `controller` is -1 if unknown or not reported."""

    cluster_id: str | None = None
    controller: int = -1
    brokers: list[Node] = field(factory=list)


async def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """Describe the cluster by one Metadata request without topics, to any broker; brokers by id. Raises KcliError if no
    broker answers."""
    answer = await ask_anyone(cluster, MetadataRequest(topics=[], allow_auto_topic_creation=False))
    brokers = [Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in answer.brokers]
    return ClusterDescription(cluster_id=answer.cluster_id, controller=answer.controller_id, brokers=sorted(brokers))
