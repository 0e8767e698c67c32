"""ShareGroupHeartbeat (API key 76): versions 1."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class ShareGroupHeartbeatRequest(Request["ShareGroupHeartbeatResponse"], key=76, versions="1", flexible="0+"):
    """A share group member's heartbeat: joins, reports, leaves (KIP-932)."""

    group_id: str = ""
    member_id: str = ""
    member_epoch: Int32 = 0
    rack_id: str | None = at(null="0+", default=None)
    subscribed_topic_names: list[str] | None = at(null="0+", default=None)


class TopicPartitions(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[Int32] = at(factory=list)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = at(factory=list)


class ShareGroupHeartbeatResponse(Response, key=76, versions="1", flexible="0+"):
    """The answer to ShareGroupHeartbeatRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    member_id: str | None = at(null="0+", default=None)
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = at(null="0+", default=None)
