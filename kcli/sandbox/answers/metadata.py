"""Metadata 0-13. Version 0 says "all topics" with an empty list, later ones with null; 10 adds topic ids; 12 lets a
client ask by id alone. Auto creation happens when the request and the sandbox both allow it (below 4: always asked)."""

from __future__ import annotations

from kcli import codes
from kcli.acls import CLUSTER
from kcli.errors import BrokerError
from kcli.proto.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.proto.schema import NO_ID
from kcli.sandbox.access.acls import operations
from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.cluster.topics import Topic
from kcli.sandbox.wire.request_context import RequestContext, in_turns

MOST_MADE = 10_000  # a request for more topics at once gets only existing ones

BY_ID = 12  # the first version that asks by id; 10 and 11 only tell ids


async def answer(context: RequestContext, request: MetadataRequest) -> MetadataResponse:
    cluster = context.cluster
    if context.version < BY_ID and any(topic.name is None or topic.topic_id != NO_ID for topic in request.topics or ()):
        return _refused(request, codes.INVALID_REQUEST)
    if any(topic.name is None and topic.topic_id == NO_ID for topic in request.topics or ()):
        return _refused(request, codes.UNKNOWN_SERVER_ERROR)
    everything = request.topics is None or (context.version == 0 and not request.topics)
    if everything:
        asked = [
            MetadataRequestTopic(name=name) for name in cluster.topics.by_name if context.may("describe", "topic", name)
        ]
    else:
        asked = _once(cluster, request.topics or [])
    create = request.allow_auto_topic_creation and not everything and len(asked) <= MOST_MADE
    rows = [_topic(context, topic, create) async for topic in in_turns(asked)]
    for row in rows:
        if row is not None and row.name and request.include_topic_authorized_operations:
            row.topic_authorized_operations = operations(context, "topic", row.name or "")
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=broker.node_id,
                host=cluster.settings.advertised_host,
                port=broker.port,
                rack=broker.rack,
            )
            for broker in cluster.brokers.living()
        ],
        cluster_id=cluster.id,
        controller_id=cluster.brokers.controller_id,
        cluster_authorized_operations=operations(
            context, "cluster", wanted=request.include_cluster_authorized_operations
        ),
        topics=[row for row in rows if row is not None],
    )


def _once(cluster: SandboxCluster, asked: list[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    """Each topic once, however often and by whichever of name and id it is asked for."""
    seen: dict[object, MetadataRequestTopic] = {}
    for topic in asked:
        known = cluster.topics.by_id.get(topic.topic_id)
        key = topic.topic_id if topic.topic_id != NO_ID and known is None else known.name if known else topic.name
        seen.setdefault(key, topic)
    return list(seen.values())


def _refused(request: MetadataRequest, code: codes.ErrorCode) -> MetadataResponse:
    rows = [MetadataResponseTopic(error_code=code.number, name=topic.name or "") for topic in request.topics or ()]
    return MetadataResponse(topics=rows)


def _topic(context: RequestContext, asked: MetadataRequestTopic, create: bool) -> MetadataResponseTopic | None:
    cluster, name = context.cluster, asked.name
    if asked.topic_id != NO_ID:
        known = cluster.topics.by_id.get(asked.topic_id)
        if known is None:
            return MetadataResponseTopic(error_code=codes.UNKNOWN_TOPIC_ID.number, name=None, topic_id=asked.topic_id)
        name = known.name
    name = name or ""
    if cluster.faults.planned.take("absent", 3, context.broker.node_id, name):
        return None
    code = cluster.faults.planned.code(3, context.broker.node_id, name)
    if code is None and not context.may("describe", "topic", name):
        if not asked.name and asked.topic_id != NO_ID:  # an id tells no names
            return MetadataResponseTopic(error_code=codes.UNKNOWN_TOPIC_ID.number, name=None, topic_id=asked.topic_id)
        code = codes.TOPIC_AUTHORIZATION_FAILED
    if code is not None:
        return MetadataResponseTopic(error_code=code.number, name=name)
    try:
        topic = cluster.topics.by_name.get(name)
        if topic is None and create and cluster.settings.auto_create:
            if not context.may("create", "cluster", CLUSTER):
                context.must("create", "topic", name)
            topic = cluster.find_or_create(name)
        if topic is None:
            cluster.topics.check_name(name)
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
    except BrokerError as refused:
        return MetadataResponseTopic(error_code=refused.code.number, name=name)
    return MetadataResponseTopic(
        name=topic.name, topic_id=topic.id, is_internal=topic.internal, partitions=partitions(context, topic)
    )


def partitions(context: RequestContext, topic: Topic) -> list[MetadataResponsePartition]:
    living = {broker.node_id for broker in context.cluster.brokers.living()}
    believed = context.cluster.faults.planned.stale.get(context.broker.node_id, {})
    rows = []
    for partition in topic.partitions:
        leader, epoch = believed.get((topic.name, partition.index), (partition.leader, partition.leader_epoch))
        led = leader in living
        rows.append(
            MetadataResponsePartition(
                error_code=0 if led else codes.LEADER_NOT_AVAILABLE.number,
                partition_index=partition.index,
                leader_id=leader if led else -1,
                leader_epoch=epoch,
                replica_nodes=partition.replicas,
                isr_nodes=[node for node in partition.replicas if node in living and node not in partition.filling],
                offline_replicas=[node for node in partition.replicas if node not in living],
            )
        )
    return rows
