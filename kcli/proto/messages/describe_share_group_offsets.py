"""DescribeShareGroupOffsets (API key 90): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class DescribeShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = ""
    partitions: list[Int32] = at(factory=list)


class DescribeShareGroupOffsetsRequestGroup(Struct):
    group_id: str = ""
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = at(null="0+", factory=list)


class DescribeShareGroupOffsetsRequest(
    Request["DescribeShareGroupOffsetsResponse"], key=90, versions="0-1", flexible="0+"
):
    """Where a share group's consumption starts."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = at(factory=list)


class DescribeShareGroupOffsetsResponsePartition(Struct):
    partition_index: Int32 = 0
    start_offset: Int64 = 0
    leader_epoch: Int32 = 0
    lag: Int64 = at("1+", ignorable=True, default=-1)
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = ""
    topic_id: Uuid = NO_ID
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = at(factory=list)


class DescribeShareGroupOffsetsResponseGroup(Struct):
    group_id: str = ""
    topics: list[DescribeShareGroupOffsetsResponseTopic] = at(factory=list)
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class DescribeShareGroupOffsetsResponse(Response, key=90, versions="0-1", flexible="0+"):
    """The answer to DescribeShareGroupOffsetsRequest."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribeShareGroupOffsetsResponseGroup] = at(factory=list)
