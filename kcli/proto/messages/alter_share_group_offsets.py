"""AlterShareGroupOffsets (API key 91): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: Int32 = 0
    start_offset: Int64 = 0


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = ""
    partitions: list[AlterShareGroupOffsetsRequestPartition] = at(factory=list)


class AlterShareGroupOffsetsRequest(Request["AlterShareGroupOffsetsResponse"], key=91, versions="0", flexible="0+"):
    """Set where a share group's consumption starts."""

    group_id: str = ""
    topics: list[AlterShareGroupOffsetsRequestTopic] = at(factory=list)


class AlterShareGroupOffsetsResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = ""
    topic_id: Uuid = NO_ID
    partitions: list[AlterShareGroupOffsetsResponsePartition] = at(factory=list)


class AlterShareGroupOffsetsResponse(Response, key=91, versions="0", flexible="0+"):
    """The answer to AlterShareGroupOffsetsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = at(factory=list)
