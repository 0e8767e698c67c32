"""DescribeProducers (API key 61): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class TopicRequest(Struct):
    name: str = ""
    partition_indexes: list[Int32] = at(factory=list)


class DescribeProducersRequest(Request["DescribeProducersResponse"], key=61, versions="0", flexible="0+"):
    """The producers that wrote to partitions, and their open transactions."""

    topics: list[TopicRequest] = at(factory=list)


class ProducerState(Struct):
    producer_id: Int64 = 0
    producer_epoch: Int32 = 0
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32 = 0
    current_txn_start_offset: Int64 = -1


class PartitionResponse(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    active_producers: list[ProducerState] = at(factory=list)


class TopicResponse(Struct):
    name: str = ""
    partitions: list[PartitionResponse] = at(factory=list)


class DescribeProducersResponse(Response, key=61, versions="0", flexible="0+"):
    """The answer to DescribeProducersRequest."""

    throttle_time_ms: Int32 = 0
    topics: list[TopicResponse] = at(factory=list)
