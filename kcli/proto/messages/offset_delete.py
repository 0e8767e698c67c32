"""OffsetDelete (API key 47): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class OffsetDeleteRequestPartition(Struct):
    partition_index: Int32 = 0


class OffsetDeleteRequestTopic(Struct):
    name: str = ""
    partitions: list[OffsetDeleteRequestPartition] = at(factory=list)


class OffsetDeleteRequest(Request["OffsetDeleteResponse"], key=47, versions="0"):
    """Delete a group's positions of some partitions."""

    group_id: str = ""
    topics: list[OffsetDeleteRequestTopic] = at(factory=list)


class OffsetDeleteResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class OffsetDeleteResponseTopic(Struct):
    name: str = ""
    partitions: list[OffsetDeleteResponsePartition] = at(factory=list)


class OffsetDeleteResponse(Response, key=47, versions="0"):
    """The answer to OffsetDeleteRequest."""

    error_code: Int16 = 0
    throttle_time_ms: Int32 = at(ignorable=True, default=0)
    topics: list[OffsetDeleteResponseTopic] = at(factory=list)
