"""ElectLeaders 0-2 (KIP-460). All replicas have the one log that there is, so nothing is lost by an unclean one."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kcli.sandbox.cluster.moves import elect
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.wire.request_context import RequestContext

KEY = 43
PREFERRED, UNCLEAN = 0, 1  # election types


async def answer(context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    scripted = context.refused(KEY)
    if scripted is not None and context.version >= 1:
        return ElectLeadersResponse(error_code=scripted.number)
    everything = request.topic_partitions is None
    asked = (
        [(name, list(range(len(topic.partitions)))) for name, topic in context.cluster.topics.by_name.items()]
        if request.topic_partitions is None
        else [(partition.topic, partition.partitions) for partition in request.topic_partitions]
    )
    if request.timeout_ms <= 0:
        late = codes.REQUEST_TIMED_OUT.number
        results = [
            ReplicaElectionResult(
                topic=name, partition_result=[PartitionResult(partition_id=index, error_code=late) for index in indexes]
            )
            for name, indexes in ([] if everything else asked)
        ]
        return ElectLeadersResponse(error_code=late, replica_election_results=results)
    results = []
    for name, indexes in asked:
        rows = [_one(context, name, index, request.election_type) for index in indexes]
        if everything:
            rows = [row for row in rows if row.error_code != codes.ELECTION_NOT_NEEDED.number]
        results.append(ReplicaElectionResult(topic=name, partition_result=rows))
    known = request.election_type in (PREFERRED, UNCLEAN)
    return ElectLeadersResponse(
        error_code=0 if known else codes.INVALID_REQUEST.number, replica_election_results=results
    )


def _one(context: RequestContext, name: str, index: int, kind: int) -> PartitionResult:
    row = PartitionResult(partition_id=index, error_message=None)
    try:
        scripted = context.refused(KEY, name, index)  # at version 0 each partition says what the whole is refused with
        if scripted is not None:
            raise BrokerError(scripted)
        if kind not in (PREFERRED, UNCLEAN):
            raise BrokerError(codes.INVALID_REQUEST, message=f"Unknown election type {kind}")
        partition = context.cluster.topics.partition(name, index)
        elect(partition, _heir(context, partition, kind))
    except BrokerError as refused:
        row.error_code, row.error_message = refused.code.number, str(refused)
    return row


def _heir(context: RequestContext, partition: Partition, kind: int) -> int:
    """The next leader. Raises BrokerError ELECTION_NOT_NEEDED and what forbids it."""
    living = {broker.node_id for broker in context.cluster.brokers.living()}
    able = [node for node in partition.replicas if node in living and node not in partition.filling]
    if kind == UNCLEAN:
        if partition.leader in living:
            raise BrokerError(codes.ELECTION_NOT_NEEDED)
        if not able:
            raise BrokerError(codes.ELIGIBLE_LEADERS_NOT_AVAILABLE)
        return able[0]
    if partition.leader == partition.replicas[0] and partition.leader in living:
        raise BrokerError(codes.ELECTION_NOT_NEEDED)
    if partition.replicas[0] not in able:
        raise BrokerError(codes.PREFERRED_LEADER_NOT_AVAILABLE)
    return partition.replicas[0]
