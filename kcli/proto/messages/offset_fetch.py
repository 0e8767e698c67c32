"""OffsetFetch (API key 9): versions 1-10."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class OffsetFetchRequestTopic(Struct):
    name: str = at("0-7", default="")
    partition_indexes: list[Int32] = at("0-7", factory=list)


class OffsetFetchRequestTopics(Struct):
    name: str = at("8-9", ignorable=True, default="")
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    partition_indexes: list[Int32] = at("8+", factory=list)


class OffsetFetchRequestGroup(Struct):
    group_id: str = at("8+", default="")
    member_id: str | None = at("9+", null="9+", ignorable=True, default=None)
    member_epoch: Int32 = at("9+", ignorable=True, default=-1)
    topics: list[OffsetFetchRequestTopics] | None = at("8+", null="8+", factory=list)


class OffsetFetchRequest(Request["OffsetFetchResponse"], key=9, versions="1-10", flexible="6+"):
    """Read a group's positions; -1 without one."""

    group_id: str = at("0-7", default="")
    topics: list[OffsetFetchRequestTopic] | None = at("0-7", null="2-7", factory=list)
    groups: list[OffsetFetchRequestGroup] = at("8+", factory=list)
    require_stable: bool = at("7+", default=False)


class OffsetFetchResponsePartition(Struct):
    partition_index: Int32 = at("0-7", default=0)
    committed_offset: Int64 = at("0-7", default=0)
    committed_leader_epoch: Int32 = at("5-7", ignorable=True, default=-1)
    metadata: str | None = at("0-7", null="0-7", default="")
    error_code: Int16 = at("0-7", default=0)


class OffsetFetchResponseTopic(Struct):
    name: str = at("0-7", default="")
    partitions: list[OffsetFetchResponsePartition] = at("0-7", factory=list)


class OffsetFetchResponsePartitions(Struct):
    partition_index: Int32 = at("8+", default=0)
    committed_offset: Int64 = at("8+", default=0)
    committed_leader_epoch: Int32 = at("8+", ignorable=True, default=-1)
    metadata: str | None = at("8+", null="8+", default="")
    error_code: Int16 = at("8+", default=0)


class OffsetFetchResponseTopics(Struct):
    name: str = at("8-9", ignorable=True, default="")
    topic_id: Uuid = at("10+", ignorable=True, default=NO_ID)
    partitions: list[OffsetFetchResponsePartitions] = at("8+", factory=list)


class OffsetFetchResponseGroup(Struct):
    group_id: str = at("8+", default="")
    topics: list[OffsetFetchResponseTopics] = at("8+", factory=list)
    error_code: Int16 = at("8+", default=0)


class OffsetFetchResponse(Response, key=9, versions="1-10", flexible="6+"):
    """The answer to OffsetFetchRequest."""

    throttle_time_ms: Int32 = at("3+", ignorable=True, default=0)
    topics: list[OffsetFetchResponseTopic] = at("0-7", factory=list)
    error_code: Int16 = at("2-7", ignorable=True, default=0)
    groups: list[OffsetFetchResponseGroup] = at("8+", factory=list)
