"""ShareGroupDescribe (API key 77): versions 1."""

from __future__ import annotations

from kcli.proto.schema import NO_ID, Int16, Int32, Request, Response, Struct, Uuid, at


class ShareGroupDescribeRequest(Request["ShareGroupDescribeResponse"], key=77, versions="1", flexible="0+"):
    """State and members of share groups."""

    group_ids: list[str] = at(factory=list)
    include_authorized_operations: bool = False


class TopicPartitions(Struct):
    topic_id: Uuid = NO_ID
    topic_name: str = ""
    partitions: list[Int32] = at(factory=list)


class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = at(factory=list)


class Member(Struct):
    member_id: str = ""
    rack_id: str | None = at(null="0+", default=None)
    member_epoch: Int32 = 0
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = at(factory=list)
    assignment: Assignment = at(factory=Assignment)


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default=None)
    group_id: str = ""
    group_state: str = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    assignor_name: str = ""
    members: list[Member] = at(factory=list)
    authorized_operations: Int32 = -2147483648


class ShareGroupDescribeResponse(Response, key=77, versions="1", flexible="0+"):
    """The answer to ShareGroupDescribeRequest."""

    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = at(factory=list)
