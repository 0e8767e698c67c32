"""OffsetForLeaderEpoch (API key 23): versions 2-4."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class OffsetForLeaderPartition(Struct):
    partition: Int32 = 0
    current_leader_epoch: Int32 = at("2+", ignorable=True, default=-1)
    leader_epoch: Int32 = 0


class OffsetForLeaderTopic(Struct):
    topic: str = ""
    partitions: list[OffsetForLeaderPartition] = at(factory=list)


class OffsetForLeaderEpochRequest(Request["OffsetForLeaderEpochResponse"], key=23, versions="2-4", flexible="4+"):
    """Where did this leader epoch end? (KIP-320)"""

    replica_id: Int32 = at("3+", ignorable=True, default=-2)
    topics: list[OffsetForLeaderTopic] = at(factory=list)


class EpochEndOffset(Struct):
    error_code: Int16 = 0
    partition: Int32 = 0
    leader_epoch: Int32 = at("1+", ignorable=True, default=-1)
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Struct):
    topic: str = ""
    partitions: list[EpochEndOffset] = at(factory=list)


class OffsetForLeaderEpochResponse(Response, key=23, versions="2-4", flexible="4+"):
    """The answer to OffsetForLeaderEpochRequest."""

    throttle_time_ms: Int32 = at("2+", ignorable=True, default=0)
    topics: list[OffsetForLeaderTopicResult] = at(factory=list)
