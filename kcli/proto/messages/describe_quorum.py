"""DescribeQuorum (API key 55): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Int64, Request, Response, Struct, UInt16, Uuid, at


class PartitionData(Struct):
    partition_index: Int32 = 0


class TopicData(Struct):
    topic_name: str = ""
    partitions: list[PartitionData] = at(factory=list)


class DescribeQuorumRequest(Request["DescribeQuorumResponse"], key=55, versions="0-2", flexible="0+"):
    """Leader, voters and observers of the KRaft quorum."""

    topics: list[TopicData] = at(factory=list)


class ReplicaState(Struct):
    replica_id: Int32 = 0
    replica_directory_id: Uuid = at("2+", default=NO_ID)
    log_end_offset: Int64 = 0
    last_fetch_timestamp: Int64 = at("1+", ignorable=True, default=-1)
    last_caught_up_timestamp: Int64 = at("1+", ignorable=True, default=-1)


class AnsweredPartitionData(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at("2+", null="2+", ignorable=True, default="")
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0
    high_watermark: Int64 = 0
    current_voters: list[ReplicaState] = at(factory=list)
    observers: list[ReplicaState] = at(factory=list)


class AnsweredTopicData(Struct):
    topic_name: str = ""
    partitions: list[AnsweredPartitionData] = at(factory=list)


class Listener(Struct):
    name: str = at("2+", default="")
    host: str = at("2+", default="")
    port: UInt16 = at("2+", default=0)


class Node(Struct):
    node_id: Int32 = at("2+", default=0)
    listeners: list[Listener] = at("2+", factory=list)


class DescribeQuorumResponse(Response, key=55, versions="0-2", flexible="0+"):
    """The answer to DescribeQuorumRequest."""

    error_code: Int16 = 0
    error_message: str | None = at("2+", null="2+", ignorable=True, default="")
    topics: list[AnsweredTopicData] = at(factory=list)
    nodes: list[Node] = at("2+", factory=list)
