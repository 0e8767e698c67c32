"""AlterPartitionReassignments (API key 45): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class ReassignablePartition(Struct):
    partition_index: Int32 = 0
    replicas: list[Int32] | None = at(null="0+", default=None)


class ReassignableTopic(Struct):
    name: str = ""
    partitions: list[ReassignablePartition] = at(factory=list)


class AlterPartitionReassignmentsRequest(
    Request["AlterPartitionReassignmentsResponse"], key=45, versions="0-1", flexible="0+"
):
    """Move partitions to other replicas, or cancel a move (KIP-455)."""

    timeout_ms: Int32 = 60000
    allow_replication_factor_change: bool = at("1+", default=True)
    topics: list[ReassignableTopic] = at(factory=list)


class ReassignablePartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")


class ReassignableTopicResponse(Struct):
    name: str = ""
    partitions: list[ReassignablePartitionResponse] = at(factory=list)


class AlterPartitionReassignmentsResponse(Response, key=45, versions="0-1", flexible="0+"):
    """The answer to AlterPartitionReassignmentsRequest."""

    throttle_time_ms: Int32 = 0
    allow_replication_factor_change: bool = at("1+", ignorable=True, default=True)
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    responses: list[ReassignableTopicResponse] = at(factory=list)
