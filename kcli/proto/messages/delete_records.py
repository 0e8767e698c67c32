"""DeleteRecords (API key 21): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class DeleteRecordsPartition(Struct):
    partition_index: Int32 = 0
    offset: Int64 = 0


class DeleteRecordsTopic(Struct):
    name: str = ""
    partitions: list[DeleteRecordsPartition] = at(factory=list)


class DeleteRecordsRequest(Request["DeleteRecordsResponse"], key=21, versions="0-2", flexible="2+"):
    """Delete the records before an offset."""

    topics: list[DeleteRecordsTopic] = at(factory=list)
    timeout_ms: Int32 = 0


class DeleteRecordsPartitionResult(Struct):
    partition_index: Int32 = 0
    low_watermark: Int64 = 0
    error_code: Int16 = 0


class DeleteRecordsTopicResult(Struct):
    name: str = ""
    partitions: list[DeleteRecordsPartitionResult] = at(factory=list)


class DeleteRecordsResponse(Response, key=21, versions="0-2", flexible="2+"):
    """The answer to DeleteRecordsRequest."""

    throttle_time_ms: Int32 = 0
    topics: list[DeleteRecordsTopicResult] = at(factory=list)
