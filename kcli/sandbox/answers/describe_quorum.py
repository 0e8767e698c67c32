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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.wire.broker import Call

TOPIC = "__cluster_metadata"


async def answer(call: Call, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    scripted = call.refused(55)
    if scripted is not None:
        return DescribeQuorumResponse(error_code=scripted.number, error_message=scripted.text)
    response = DescribeQuorumResponse(
        topics=[
            AnsweredTopicData(
                topic_name=topic.topic_name,
                partitions=[_one(call, topic.topic_name, one.partition_index) for one in topic.partitions],
            )
            for topic in request.topics
        ]
    )
    if call.version >= 2:
        sandbox = call.sandbox
        response.nodes = [
            Node(
                node_id=one.node_id,
                listeners=[Listener(name=LISTENER, host=sandbox.settings.advertised_host, port=one.port)],
            )
            for one in sandbox.brokers
            if one.node_id in sandbox.quorum.voters
        ]
    return response


def _one(call: Call, topic: str, index: int) -> AnsweredPartitionData:
    if (topic, index) != (TOPIC, 0):
        code = codes.UNKNOWN_TOPIC_OR_PARTITION
        return AnsweredPartitionData(partition_index=index, error_code=code.number, error_message=code.text)
    quorum = call.sandbox.quorum
    nodes = [one.node_id for one in call.sandbox.brokers]
    return AnsweredPartitionData(
        partition_index=0,
        leader_id=quorum.leader,
        leader_epoch=EPOCH,
        high_watermark=quorum.end,
        current_voters=[_replica(call, node) for node in nodes if node in quorum.voters],
        observers=[_replica(call, node) for node in nodes if node not in quorum.voters],
    )


def _replica(call: Call, node: int) -> ReplicaState:
    quorum = call.sandbox.quorum
    state = ReplicaState(
        replica_id=node,
        log_end_offset=quorum.end,
        last_fetch_timestamp=quorum.seen(node),
        last_caught_up_timestamp=quorum.seen(node),
    )
    if call.version >= 2:
        state.replica_directory_id = quorum.directory(node)
    return state
