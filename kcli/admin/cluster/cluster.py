"""A cluster's description: its id, its controller, its brokers."""

from __future__ import annotations

from kcli.admin.cluster.quorum import controller_of
from kcli.asking.ask import ask_anyone
from kcli.model import Cluster, Node
from kcli.proto.messages.metadata import MetadataRequest, MetadataResponse
from kcli.values import Value, field


class ClusterDescription(Value):
    """A cluster as one of its brokers sees it now. `controller` is -1 if it is unknown."""

    cluster_id: str | None = None
    controller: int = -1
    brokers: list[Node] = field(factory=list)


async def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """Describe the cluster: a Metadata request without topics and a DescribeQuorum request, to any broker. Brokers are
    sorted by id. Raises KcliError if no broker answers."""
    answer = await _ask(cluster)
    brokers = [Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in answer.brokers]
    controller = await controller_of(cluster, answer.controller_id)
    return ClusterDescription(cluster_id=answer.cluster_id, controller=controller, brokers=sorted(brokers))


async def cluster_id(cluster: Cluster) -> str | None:
    """Return the id of the cluster, None from brokers that do not report it. Raises KcliError if no broker answers."""
    return (await _ask(cluster)).cluster_id


async def _ask(cluster: Cluster) -> MetadataResponse:
    return await ask_anyone(cluster, MetadataRequest(topics=[], allow_auto_topic_creation=False))
