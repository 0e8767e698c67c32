"""ShareAcknowledge (API key 79): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int8, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class AcknowledgementBatch(Struct):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = at(factory=list)


class AcknowledgePartition(Struct):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = at(factory=list)


class AcknowledgeTopic(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[AcknowledgePartition] = at(factory=list)


class ShareAcknowledgeRequest(Request["ShareAcknowledgeResponse"], key=79, versions="1-2", flexible="0+"):
    """Accept, release or reject acquired records."""

    group_id: str | None = at(null="0+", default=None)
    member_id: str | None = at(null="0+", default="")
    share_session_epoch: Int32 = 0
    is_renew_ack: bool = at("2+", default=False)
    topics: list[AcknowledgeTopic] = at(factory=list)


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class PartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    current_leader: LeaderIdAndEpoch = at(factory=LeaderIdAndEpoch)


class ShareAcknowledgeTopicResponse(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[PartitionData] = at(factory=list)


class NodeEndpoint(Struct):
    node_id: Int32 = 0
    host: str = ""
    port: Int32 = 0
    rack: str | None = at(null="0+", default=None)


class ShareAcknowledgeResponse(Response, key=79, versions="1-2", flexible="0+"):
    """The answer to ShareAcknowledgeRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    acquisition_lock_timeout_ms: Int32 = at("2+", ignorable=True, default=0)
    responses: list[ShareAcknowledgeTopicResponse] = at(factory=list)
    node_endpoints: list[NodeEndpoint] = at(factory=list)
