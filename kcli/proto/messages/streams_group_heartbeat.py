"""StreamsGroupHeartbeat (API key 88): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Int64, Request, Response, Struct, UInt16, at


class KeyValue(Struct):
    key: str = ""
    value: str = ""


class TopicInfo(Struct):
    name: str = ""
    partitions: Int32 = 0
    replication_factor: Int16 = 0
    topic_configs: list[KeyValue] = at(factory=list)


class CopartitionGroup(Struct):
    source_topics: list[Int16] = at(factory=list)
    source_topic_regex: list[Int16] = at(factory=list)
    repartition_source_topics: list[Int16] = at(factory=list)


class Subtopology(Struct):
    subtopology_id: str = ""
    source_topics: list[str] = at(factory=list)
    source_topic_regex: list[str] = at(factory=list)
    state_changelog_topics: list[TopicInfo] = at(factory=list)
    repartition_sink_topics: list[str] = at(factory=list)
    repartition_source_topics: list[TopicInfo] = at(factory=list)
    copartition_groups: list[CopartitionGroup] = at(factory=list)


class Topology(Struct):
    epoch: Int32 = 0
    subtopologies: list[Subtopology] = at(factory=list)


class TaskIds(Struct):
    subtopology_id: str = ""
    partitions: list[Int32] = at(factory=list)


class Endpoint(Struct):
    host: str = ""
    port: UInt16 = 0


class TaskOffset(Struct):
    subtopology_id: str = ""
    partition: Int32 = 0
    offset: Int64 = 0


class StreamsGroupHeartbeatRequest(Request["StreamsGroupHeartbeatResponse"], key=88, versions="0-1", flexible="0+"):
    """A streams member's heartbeat (KIP-1071): joins with its topology, reports its tasks, leaves."""

    group_id: str = ""
    member_id: str = ""
    member_epoch: Int32 = 0
    endpoint_information_epoch: Int32 = 0
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    rebalance_timeout_ms: Int32 = -1
    topology: Topology | None = at(null="0+", default=None)
    active_tasks: list[TaskIds] | None = at(null="0+", default=None)
    standby_tasks: list[TaskIds] | None = at(null="0+", default=None)
    warmup_tasks: list[TaskIds] | None = at(null="0+", default=None)
    process_id: str | None = at(null="0+", default=None)
    user_endpoint: Endpoint | None = at(null="0+", default=None)
    client_tags: list[KeyValue] | None = at(null="0+", default=None)
    task_offsets: list[TaskOffset] | None = at(null="0+", default=None)
    task_end_offsets: list[TaskOffset] | None = at(null="0+", default=None)
    shutdown_application: bool = False


class Status(Struct):
    status_code: Int8 = 0
    status_detail: str = ""


class TopicPartition(Struct):
    topic: str = ""
    partitions: list[Int32] = at(factory=list)


class EndpointToPartitions(Struct):
    user_endpoint: Endpoint = at(factory=Endpoint)
    active_partitions: list[TopicPartition] = at(factory=list)
    standby_partitions: list[TopicPartition] = at(factory=list)


class StreamsGroupHeartbeatResponse(Response, key=88, versions="0-1", flexible="0+"):
    """The answer to StreamsGroupHeartbeatRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    member_id: str = ""
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    acceptable_recovery_lag_legacy: Int32 = at("0", default=0)
    task_offset_interval_ms: Int32 = 0
    acceptable_recovery_lag: Int64 = at("1+", ignorable=True, default=-1)
    status: list[Status] | None = at(null="0+", factory=list)
    active_tasks: list[TaskIds] | None = at(null="0+", default=None)
    standby_tasks: list[TaskIds] | None = at(null="0+", default=None)
    warmup_tasks: list[TaskIds] | None = at(null="0+", default=None)
    topology_description_required: bool = at("1+", default=False)
    endpoint_information_epoch: Int32 = 0
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = at(null="0+", default=None)
