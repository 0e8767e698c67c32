"""ListOffsets (API key 2): versions 1-11."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Int64, Request, Response, Struct, at


class ListOffsetsPartition(Struct):
    partition_index: Int32 = 0
    current_leader_epoch: Int32 = at("4+", ignorable=True, default=-1)
    timestamp: Int64 = 0


class ListOffsetsTopic(Struct):
    name: str = ""
    partitions: list[ListOffsetsPartition] = at(factory=list)


class ListOffsetsRequest(Request["ListOffsetsResponse"], key=2, versions="1-11", flexible="6+"):
    """Offsets by timestamp, or the first and last ones."""

    replica_id: Int32 = 0
    isolation_level: Int8 = at("2+", default=0)
    topics: list[ListOffsetsTopic] = at(factory=list)
    timeout_ms: Int32 = at("10+", ignorable=True, default=0)


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    timestamp: Int64 = at("1+", default=-1)
    offset: Int64 = at("1+", default=-1)
    leader_epoch: Int32 = at("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = ""
    partitions: list[ListOffsetsPartitionResponse] = at(factory=list)


class ListOffsetsResponse(Response, key=2, versions="1-11", flexible="6+"):
    """The answer to ListOffsetsRequest."""

    throttle_time_ms: Int32 = at("2+", ignorable=True, default=0)
    topics: list[ListOffsetsTopicResponse] = at(factory=list)
