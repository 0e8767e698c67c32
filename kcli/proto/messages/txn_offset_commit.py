"""TxnOffsetCommit (API key 28): versions 0-6."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, Uuid, at


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Int32 = at("2+", ignorable=True, default=-1)
    committed_metadata: str | None = at(null="0+", default="")


class TxnOffsetCommitRequestTopic(Struct):
    name: str = at("0-5", ignorable=True, default="")
    topic_id: Uuid = at("6+", ignorable=True, default=NO_ID)
    partitions: list[TxnOffsetCommitRequestPartition] = at(factory=list)


class TxnOffsetCommitRequest(Request["TxnOffsetCommitResponse"], key=28, versions="0-6", flexible="3+"):
    """Store a group's positions when the transaction commits."""

    transactional_id: str = ""
    group_id: str = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    generation_id_or_member_epoch: Int32 = at("3+", default=-1)
    member_id: str = at("3+", default="")
    group_instance_id: str | None = at("3+", null="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = at(factory=list)


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class TxnOffsetCommitResponseTopic(Struct):
    name: str = at("0-5", ignorable=True, default="")
    topic_id: Uuid = at("6+", ignorable=True, default=NO_ID)
    partitions: list[TxnOffsetCommitResponsePartition] = at(factory=list)


class TxnOffsetCommitResponse(Response, key=28, versions="0-6", flexible="3+"):
    """The answer to TxnOffsetCommitRequest."""

    throttle_time_ms: Int32 = 0
    topics: list[TxnOffsetCommitResponseTopic] = at(factory=list)
