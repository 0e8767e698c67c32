"""ListPartitionReassignments (API key 46): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class ListPartitionReassignmentsTopics(Struct):
    name: str = ""
    partition_indexes: list[Int32] = at(factory=list)


class ListPartitionReassignmentsRequest(
    Request["ListPartitionReassignmentsResponse"], key=46, versions="0", flexible="0+"
):
    """The moves of partitions under way."""

    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = at(null="0+", default=None)


class OngoingPartitionReassignment(Struct):
    partition_index: Int32 = 0
    replicas: list[Int32] = at(factory=list)
    adding_replicas: list[Int32] = at(factory=list)
    removing_replicas: list[Int32] = at(factory=list)


class OngoingTopicReassignment(Struct):
    name: str = ""
    partitions: list[OngoingPartitionReassignment] = at(factory=list)


class ListPartitionReassignmentsResponse(Response, key=46, versions="0", flexible="0+"):
    """The answer to ListPartitionReassignmentsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    topics: list[OngoingTopicReassignment] = at(factory=list)
