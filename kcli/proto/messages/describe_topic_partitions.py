"""DescribeTopicPartitions (API key 75): versions 0."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class TopicRequest(Struct):
    name: str = ""


class Cursor(Struct):
    topic_name: str = ""
    partition_index: Int32 = 0


class DescribeTopicPartitionsRequest(Request["DescribeTopicPartitionsResponse"], key=75, versions="0", flexible="0+"):
    """Topics and partitions, page by page."""

    topics: list[TopicRequest] = at(factory=list)
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = at(null="0+", default=None)


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = at(ignorable=True, default=-1)
    replica_nodes: list[Int32] = at(factory=list)
    isr_nodes: list[Int32] = at(factory=list)
    eligible_leader_replicas: list[Int32] | None = at(null="0+", default=None)
    last_known_elr: list[Int32] | None = at(null="0+", default=None)
    offline_replicas: list[Int32] = at(ignorable=True, factory=list)


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: Int16 = 0
    name: str | None = at(null="0+", default="")
    topic_id: Uuid = at(ignorable=True, default=NO_ID)
    is_internal: bool = at(ignorable=True, default=False)
    partitions: list[DescribeTopicPartitionsResponsePartition] = at(factory=list)
    topic_authorized_operations: Int32 = -2147483648


class DescribeTopicPartitionsResponse(Response, key=75, versions="0", flexible="0+"):
    """The answer to DescribeTopicPartitionsRequest."""

    throttle_time_ms: Int32 = at(ignorable=True, default=0)
    topics: list[DescribeTopicPartitionsResponseTopic] = at(factory=list)
    next_cursor: Cursor | None = at(null="0+", default=None)
