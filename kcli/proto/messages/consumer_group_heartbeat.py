"""ConsumerGroupHeartbeat (API key 68): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class TopicPartitions(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[Int32] = at(factory=list)


class ConsumerGroupHeartbeatRequest(Request["ConsumerGroupHeartbeatResponse"], key=68, versions="0-1", flexible="0+"):
    """A KIP-848 member's heartbeat: joins, reports, leaves."""

    group_id: str = ""
    member_id: str = ""
    member_epoch: Int32 = 0
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[str] | None = at(null="0+", default=None)
    subscribed_topic_regex: str | None = at("1+", null="1+", default=None)
    server_assignor: str | None = at(null="0+", default=None)
    topic_partitions: list[TopicPartitions] | None = at(null="0+", default=None)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = at(factory=list)


class ConsumerGroupHeartbeatResponse(Response, key=68, versions="0-1", flexible="0+"):
    """The answer to ConsumerGroupHeartbeatRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    member_id: str | None = at(null="0+", default=None)
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = at(null="0+", default=None)
