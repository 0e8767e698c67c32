"""StreamsGroupDescribe (API key 89): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Int64, Request, Response, Struct, UInt16, at


class StreamsGroupDescribeRequest(Request["StreamsGroupDescribeResponse"], key=89, versions="0-1", flexible="0+"):
    """State, topology and members of streams groups (KIP-1071)."""

    group_ids: list[str] = at(factory=list)
    include_authorized_operations: bool = False
    include_topology_description: bool = at("1+", default=False)


class Endpoint(Struct):
    host: str = ""
    port: UInt16 = 0


class TaskOffset(Struct):
    subtopology_id: str = ""
    partition: Int32 = 0
    offset: Int64 = 0


class Assignment(Struct):
    active_tasks: list[TaskIds] = at(factory=list)
    standby_tasks: list[TaskIds] = at(factory=list)
    warmup_tasks: list[TaskIds] = at(factory=list)


class TaskIds(Struct):
    subtopology_id: str = ""
    partitions: list[Int32] = at(factory=list)


class KeyValue(Struct):
    key: str = ""
    value: str = ""


class TopicInfo(Struct):
    name: str = ""
    partitions: Int32 = 0
    replication_factor: Int16 = 0
    topic_configs: list[KeyValue] = at(factory=list)


class Subtopology(Struct):
    subtopology_id: str = ""
    source_topics: list[str] = at(factory=list)
    repartition_sink_topics: list[str] = at(factory=list)
    state_changelog_topics: list[TopicInfo] = at(factory=list)
    repartition_source_topics: list[TopicInfo] = at(factory=list)


class Topology(Struct):
    epoch: Int32 = 0
    subtopologies: list[Subtopology] | None = at(null="0+", default=None)


class Member(Struct):
    member_id: str = ""
    member_epoch: Int32 = 0
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    client_id: str = ""
    client_host: str = ""
    topology_epoch: Int32 = 0
    process_id: str = ""
    user_endpoint: Endpoint | None = at(null="0+", default=None)
    client_tags: list[KeyValue] = at(factory=list)
    task_offsets: list[TaskOffset] = at(factory=list)
    task_end_offsets: list[TaskOffset] = at(factory=list)
    assignment: Assignment = at(factory=Assignment)
    target_assignment: Assignment = at(factory=Assignment)
    is_classic: bool = False


class TopologyDescriptionNode(Struct):
    """`node_type` is 1 for a source, 2 for a processor, 3 for a sink."""

    name: str = at("1+", default="")
    node_type: Int8 = at("1+", default=0)
    source_topics: list[str] = at("1+", factory=list)
    sink_topic: str | None = at("1+", null="1+", default=None)
    stores: list[str] = at("1+", factory=list)
    successors: list[str] = at("1+", factory=list)


class TopologyDescriptionSubtopology(Struct):
    subtopology_id: str = at("1+", default="")
    nodes: list[TopologyDescriptionNode] = at("1+", factory=list)


class TopologyDescriptionGlobalStore(Struct):
    source: TopologyDescriptionNode = at("1+", factory=TopologyDescriptionNode)
    processor: TopologyDescriptionNode = at("1+", factory=TopologyDescriptionNode)


class TopologyDescription(Struct):
    subtopologies: list[TopologyDescriptionSubtopology] = at("1+", factory=list)
    global_stores: list[TopologyDescriptionGlobalStore] = at("1+", factory=list)


class DescribedGroup(Struct):
    """`topology_description_status` is 0 for not requested, 1 for not stored, 2 for an error, 3 for available."""

    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    group_id: str = ""
    group_state: str = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    topology: Topology | None = at(null="0+", default=None)
    members: list[Member] = at(factory=list)
    authorized_operations: Int32 = -2147483648
    topology_description: TopologyDescription | None = at("1+", null="1+", default=None)
    topology_description_status: Int8 = at("1+", default=0)
    assignor_name: str | None = at("1+", null="1+", ignorable=True, default=None)


class StreamsGroupDescribeResponse(Response, key=89, versions="0-1", flexible="0+"):
    """The answer to StreamsGroupDescribeRequest."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = at(factory=list)
