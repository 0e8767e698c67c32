"""OffsetCommit (API key 8): versions 2-10."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class OffsetCommitRequestPartition(Struct):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = at("6+", ignorable=True, default=-1)
    committed_metadata: str | None = at(null="0+", default="")


class OffsetCommitRequestTopic(Struct):
    name: str = at("0-9", ignorable=True, default="")
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    partitions: list[OffsetCommitRequestPartition] = at(factory=list)


class OffsetCommitRequest(Request["OffsetCommitResponse"], key=8, versions="2-10", flexible="8+"):
    """Store a group's positions."""

    group_id: str = ""
    generation_id_or_member_epoch: Int32 = at("1+", ignorable=True, default=-1)
    member_id: str = at("1+", ignorable=True, default="")
    group_instance_id: str | None = at("7+", null="7+", default=None)
    retention_time_ms: Int64 = at("2-4", ignorable=True, default=-1)
    topics: list[OffsetCommitRequestTopic] = at(factory=list)


class OffsetCommitResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetCommitResponseTopic(Struct):
    name: str = at("0-9", ignorable=True, default="")
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    partitions: list[OffsetCommitResponsePartition] = at(factory=list)


class OffsetCommitResponse(Response, key=8, versions="2-10", flexible="8+"):
    """The answer to OffsetCommitRequest."""

    throttle_time_ms: Int32 = at("3+", ignorable=True, default=0)
    topics: list[OffsetCommitResponseTopic] = at(factory=list)
