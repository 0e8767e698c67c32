"""ListPartitionReassignments 0 (KIP-455)."""

from __future__ import annotations

from kcli.proto.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from kcli.sandbox.wire.request_context import RequestContext


async def answer(
    context: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    scripted = context.refused(46)
    if scripted is not None:
        return ListPartitionReassignmentsResponse(error_code=scripted.number, error_message=None)
    asked = None if request.topics is None else {topic.name: set(topic.partition_indexes) for topic in request.topics}
    reassignments: dict[str, list[OngoingPartitionReassignment]] = {}
    for partition, move in context.cluster.moves.by_partition.items():
        name = partition.topic.name
        if asked is None or partition.index in asked.get(name, ()):
            row = OngoingPartitionReassignment(
                partition_index=partition.index,
                replicas=move.replicas,
                adding_replicas=list(move.copied),
                removing_replicas=move.removing,
            )
            reassignments.setdefault(name, []).append(row)
    topics = [OngoingTopicReassignment(name=name, partitions=some) for name, some in reassignments.items()]
    return ListPartitionReassignmentsResponse(error_message=None, topics=topics)
