"""DescribeQuorum 0-2 (KIP-595). 1 adds when replicas fetched, 2 their directories and the voters' addresses. Any node
answers, where Kafka's brokers ask the leader."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.describe_quorum import (
    AnsweredPartitionData,
    AnsweredTopicData,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
)
from kcli.sandbox.cluster.quorum import EPOCH, LISTENER
from kcli.sandbox.wire.request_context import RequestContext

TOPIC = "__cluster_metadata"


async def answer(context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    scripted = context.refused(55)
    if scripted is not None:
        return DescribeQuorumResponse(error_code=scripted.number, error_message=scripted.text)
    alone = sum(len(topic.partitions) for topic in request.topics) == 1
    response = DescribeQuorumResponse(
        topics=[
            AnsweredTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _one(context, topic.topic_name if alone else "", partition.partition_index)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
    if context.version >= 2 and any(not row.error_code for topic in response.topics for row in topic.partitions):
        cluster = context.cluster
        response.nodes = [
            Node(
                node_id=broker.node_id,
                listeners=[Listener(name=LISTENER, host=cluster.settings.advertised_host, port=broker.port)],
            )
            for broker in cluster.brokers
            if broker.node_id in cluster.quorum.voters
        ]
    return response


def _one(context: RequestContext, topic: str, index: int) -> AnsweredPartitionData:
    if (topic, index) != (TOPIC, 0):
        code = codes.UNKNOWN_TOPIC_OR_PARTITION
        return AnsweredPartitionData(partition_index=index, error_code=code.number, error_message=code.text)
    quorum = context.cluster.quorum
    nodes = [broker.node_id for broker in context.cluster.brokers]
    return AnsweredPartitionData(
        partition_index=0,
        leader_id=quorum.leader,
        leader_epoch=EPOCH,
        high_watermark=quorum.end,
        current_voters=[_replica(context, node) for node in nodes if node in quorum.voters],
        observers=[_replica(context, node) for node in nodes if node not in quorum.voters],
    )


def _replica(context: RequestContext, node: int) -> ReplicaState:
    quorum = context.cluster.quorum
    state = ReplicaState(
        replica_id=node,
        log_end_offset=quorum.end,
        last_fetch_timestamp=quorum.seen(node),
        last_caught_up_timestamp=quorum.seen(node),
    )
    if context.version >= 2:
        state.replica_directory_id = quorum.directory(node)
    return state
