"""Produce (API key 0): versions 3-13."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Records, Request, Response, Struct, Uuid, at


class PartitionProduceData(Struct):
    index: Int32 = 0
    records: Records | None = at(null="0+", default=None)


class TopicProduceData(Struct):
    name: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partition_data: list[PartitionProduceData] = at(factory=list)


class ProduceRequest(Request["ProduceResponse"], key=0, versions="3-13", flexible="9+"):
    """Append record batches, at most one per partition."""

    transactional_id: str | None = at("3+", null="3+", default=None)
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: list[TopicProduceData] = at(factory=list)


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32 = at("8+", default=0)
    batch_index_error_message: str | None = at("8+", null="8+", default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = at("10+", default=-1)
    leader_epoch: Int32 = at("10+", default=-1)


class PartitionProduceResponse(Struct):
    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Int64 = at("2+", ignorable=True, default=-1)
    log_start_offset: Int64 = at("5+", ignorable=True, default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = at("8+", ignorable=True, factory=list)
    error_message: str | None = at("8+", null="8+", ignorable=True, default=None)
    current_leader: LeaderIdAndEpoch = at("10+", tag=0, factory=LeaderIdAndEpoch)


class TopicProduceResponse(Struct):
    name: str = at("0-12", ignorable=True, default="")
    topic_id: Uuid = at("13+", ignorable=True, default=NO_ID)
    partition_responses: list[PartitionProduceResponse] = at(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = at("10+", default=0)
    host: str = at("10+", default="")
    port: Int32 = at("10+", default=0)
    rack: str | None = at("10+", null="10+", default=None)


class ProduceResponse(Response, key=0, versions="3-13", flexible="9+"):
    """The answer to ProduceRequest."""

    responses: list[TopicProduceResponse] = at(factory=list)
    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    node_endpoints: list[NodeEndpoint] = at("10+", tag=0, factory=list)
