"""Records of the group coordinator in `__consumer_offsets` about groups of the consumer protocol (KIP-848), share
groups (KIP-932) and streams groups (KIP-1071). The version of a record's key determines the type of its value.

Source: the messages of Kafka 4.3.1's group coordinator.
"""

from __future__ import annotations

from kcli.proto.messages.consumer_group_heartbeat import TopicPartitions
from kcli.proto.messages.streams_group_heartbeat import Endpoint, KeyValue, Subtopology, TaskIds
from kcli.proto.schema import NO_ID, Int8, Int32, Int64, Message, Struct, Uuid, at


class AssignedPartitions(Struct):
    topic_id: Uuid = NO_ID
    partitions: list[Int32] = at(factory=list)
    assignment_epochs: list[Int32] | None = at(null="0+", tag=0, default=None)


class EpochValue(Message, versions="0", flexible="0+"):
    """For groups of the consumer protocol."""

    epoch: Int32 = 0
    metadata_hash: Int64 = at(tag=0, default=0)


class AssignmentEpochValue(Message, versions="0", flexible="0+"):
    """The epoch of the target assignment of any group."""

    assignment_epoch: Int32 = 0
    assignment_timestamp: Int64 = at(tag=0, default=-1)


class AssignmentValue(Message, versions="0", flexible="0+"):
    """The target assignment of a member of a consumer or share group."""

    topic_partitions: list[TopicPartitions] = at(factory=list)


class PartitionRacks(Struct):
    partition: Int32 = 0
    racks: list[str] = at(factory=list)


class TopicRacks(Struct):
    topic_id: Uuid = NO_ID
    topic_name: str = ""
    num_partitions: Int32 = 0
    partition_metadata: list[PartitionRacks] = at(factory=list)


class PartitionMetadataValue(Message, versions="0", flexible="0+"):
    """The topics of a group; written by Kafka 4.0, deleted by later versions."""

    topics: list[TopicRacks] = at(factory=list)


class ClassicProtocol(Struct):
    name: str = ""
    metadata: bytes = b""


class ClassicMemberMetadata(Struct):
    session_timeout_ms: Int32 = 0
    supported_protocols: list[ClassicProtocol] = at(factory=list)


class ConsumerMemberValue(Message, versions="0", flexible="0+"):
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = at(factory=list)
    subscribed_topic_regex: str | None = at(null="0+", default=None)
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None = at(null="0+", default=None)
    classic_member_metadata: ClassicMemberMetadata | None = at(null="0+", tag=0, default=None)


class ConsumerAssignmentValue(Message, versions="0", flexible="0+"):
    """The current assignment of a member, and what it has to give back. The state is 0 (stable), 1 (revoking
    partitions) or 2 (waiting for partitions of others)."""

    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    assigned_partitions: list[AssignedPartitions] = at(factory=list)
    partitions_pending_revocation: list[AssignedPartitions] = at(factory=list)


class RegularExpressionValue(Message, versions="0", flexible="0+"):
    """The topics that match a members' regular expression."""

    topics: list[str] = at(factory=list)
    version: Int64 = 0
    timestamp: Int64 = 0


# -- share groups ----------------------------------------------------------------------------------------------------


class ShareEpochValue(Message, versions="0", flexible="0+"):
    epoch: Int32 = 0
    metadata_hash: Int64 = 0


class ShareMemberValue(Message, versions="0", flexible="0+"):
    rack_id: str | None = at(null="0+", default=None)
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = at(factory=list)


class ShareAssignmentValue(Message, versions="0", flexible="0+"):
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    assigned_partitions: list[TopicPartitions] = at(factory=list)


class NamedPartitions(Struct):
    topic_id: Uuid = NO_ID
    topic_name: str = ""
    partitions: list[Int32] = at(factory=list)


class NamedTopic(Struct):
    topic_id: Uuid = NO_ID
    topic_name: str = ""


class ShareStateValue(Message, versions="0", flexible="0+"):
    """The partitions whose state the share coordinator has."""

    initializing_topics: list[NamedPartitions] = at(factory=list)
    initialized_topics: list[NamedPartitions] = at(factory=list)
    deleting_topics: list[NamedTopic] = at(factory=list)


# -- streams groups --------------------------------------------------------------------------------------------------


class StreamsEpochValue(Message, versions="0", flexible="0+"):
    epoch: Int32 = 0
    metadata_hash: Int64 = 0
    validated_topology_epoch: Int32 = at(tag=0, default=-1)
    last_assignment_configs: list[KeyValue] | None = at(null="0+", tag=1, default=None)


class StreamsMemberValue(Message, versions="0", flexible="0+"):
    instance_id: str | None = at(null="0+", default=None)
    rack_id: str | None = at(null="0+", default=None)
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32 = 0
    process_id: str = ""
    user_endpoint: Endpoint | None = at(null="0+", default=None)
    client_tags: list[KeyValue] = at(factory=list)


class StreamsTargetValue(Message, versions="0", flexible="0+"):
    active_tasks: list[TaskIds] = at(factory=list)
    standby_tasks: list[TaskIds] = at(factory=list)
    warmup_tasks: list[TaskIds] = at(factory=list)


class AssignedTasks(Struct):
    subtopology_id: str = ""
    partitions: list[Int32] = at(factory=list)
    assignment_epochs: list[Int32] | None = at(null="0+", tag=0, default=None)


class StreamsAssignmentValue(Message, versions="0", flexible="0+"):
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    active_tasks: list[AssignedTasks] = at(factory=list)
    standby_tasks: list[AssignedTasks] = at(factory=list)
    warmup_tasks: list[AssignedTasks] = at(factory=list)
    active_tasks_pending_revocation: list[AssignedTasks] = at(factory=list)
    standby_tasks_pending_revocation: list[AssignedTasks] = at(factory=list)
    warmup_tasks_pending_revocation: list[AssignedTasks] = at(factory=list)


class TopologyValue(Message, versions="0", flexible="0+"):
    epoch: Int32 = 0
    subtopologies: list[Subtopology] = at(factory=list)
