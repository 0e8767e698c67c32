"""DescribeGroups (API key 15): versions 0-6."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class DescribeGroupsRequest(Request["DescribeGroupsResponse"], key=15, versions="0-6", flexible="5+"):
    """State, members and assignments of classic groups."""

    groups: list[str] = at(factory=list)
    include_authorized_operations: bool = at("3+", default=False)


class DescribedGroupMember(Struct):
    member_id: str = ""
    group_instance_id: str | None = at("4+", null="4+", ignorable=True, default=None)
    client_id: str = ""
    client_host: str = ""
    member_metadata: bytes = b""
    member_assignment: bytes = b""


class DescribedGroup(Struct):
    error_code: Int16 = 0
    error_message: str | None = at("6+", null="6+", default=None)
    group_id: str = ""
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: list[DescribedGroupMember] = at(factory=list)
    authorized_operations: Int32 = at("3+", default=-2147483648)


class DescribeGroupsResponse(Response, key=15, versions="0-6", flexible="5+"):
    """The answer to DescribeGroupsRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    groups: list[DescribedGroup] = at(factory=list)
