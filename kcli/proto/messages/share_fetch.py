"""ShareFetch (API key 78): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Int64, Records, Request, Response, Struct, Uuid, at


class AcknowledgementBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = at(factory=list)


class FetchPartition(Struct):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = at(factory=list)


class FetchTopic(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[FetchPartition] = at(factory=list)


class ForgottenTopic(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[Int32] = at(factory=list)


class ShareFetchRequest(Request["ShareFetchResponse"], key=78, versions="1-2", flexible="0+"):
    """Acquire records for a share group's member, and acknowledge others."""

    group_id: str | None = at(null="0+", default=None)
    member_id: str | None = at(null="0+", default="")
    share_session_epoch: Int32 = 0
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 2147483647
    max_records: Int32 = at("1+", default=0)
    batch_size: Int32 = at("1+", default=0)
    share_acquire_mode: Int8 = at("2+", ignorable=True, default=0)
    is_renew_ack: bool = at("2+", default=False)
    topics: list[FetchTopic] = at(factory=list)
    forgotten_topics_data: list[ForgottenTopic] = at(factory=list)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class AcquiredRecords(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_count: Int16 = 0


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    acknowledge_error_code: Int16 = 0
    acknowledge_error_message: str | None = at(null="0+", default=None)
    current_leader: LeaderIdAndEpoch = at(factory=LeaderIdAndEpoch)
    records: Records | None = at(null="0", default=None)
    acquired_records: list[AcquiredRecords] = at(factory=list)


class ShareFetchableTopicResponse(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[PartitionData] = at(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: str = ""
    port: Int32 = 0
    rack: str | None = at(null="0+", default=None)


class ShareFetchResponse(Response, key=78, versions="1-2", flexible="0+"):
    """The answer to ShareFetchRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    acquisition_lock_timeout_ms: Int32 = at("1+", default=0)
    responses: list[ShareFetchableTopicResponse] = at(factory=list)
    node_endpoints: list[NodeEndpoint] = at(factory=list)
