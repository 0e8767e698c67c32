"""What the per-partition APIs share: finding a partition that this broker leads."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.schema import NO_ID
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.request_context import RequestContext

FETCH, DESCRIBE_PRODUCERS = 1, 61


def led_here(context: RequestContext, api: int, name: str, index: int, epoch: int = -1) -> Partition:
    """The partition, if this broker leads it in this epoch (-1: any). Raises BrokerError: a scripted one,
    TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH,
    UNKNOWN_LEADER_EPOCH."""
    scripted = context.refused(api, name, index)
    if scripted is not None:
        raise BrokerError(scripted)
    partition = context.cluster.topics.partition(name, index)
    me = context.broker.node_id
    served = me == partition.leader or (api == DESCRIBE_PRODUCERS and me in partition.replicas)
    if not served and not (api == FETCH and partition.serves(me, context.version)):
        raise BrokerError(codes.NOT_LEADER_OR_FOLLOWER)
    if (epoch >= 0 or (epoch < -1 and api != FETCH)) and epoch != partition.leader_epoch:
        raise BrokerError(codes.FENCED_LEADER_EPOCH if epoch < partition.leader_epoch else codes.UNKNOWN_LEADER_EPOCH)
    return partition


BY_ID = 13  # the first version of Produce and of Fetch with ids


def name_of(context: RequestContext, name: str, topic_id: bytes, *, by_id: bool | None = None) -> str:
    """The topic's name, which newer versions ask for by id: those of Produce and Fetch unless `by_id` says it. Raises
    BrokerError UNKNOWN_TOPIC_ID."""
    if topic_id == NO_ID and not (context.version >= BY_ID if by_id is None else by_id):
        return name
    topic = context.cluster.topics.by_id.get(topic_id)
    if topic is None:
        raise BrokerError(codes.UNKNOWN_TOPIC_ID)
    return topic.name


def hinted(context: RequestContext, name: str, index: int) -> tuple[int, int] | None:
    """(leader, leader epoch) for a client that asked the wrong broker (KIP-951), None without a hint."""
    topic = context.cluster.topics.by_name.get(name)
    if topic is None or index >= len(topic.partitions):
        return None
    partition = topic.partitions[index]
    if not partition.hints or partition.leader < 0:
        return None
    return partition.leader, partition.leader_epoch


def endpoints(context: RequestContext, leaders: Iterable[int]) -> list[SandboxBroker]:
    """The living brokers among `leaders`."""
    wanted = set(leaders)
    return [broker for broker in context.cluster.brokers.living() if broker.node_id in wanted]
