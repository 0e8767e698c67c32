"""JoinGroup (API key 11): versions 0-9."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class JoinGroupRequestProtocol(Struct):
    name: str = ""
    metadata: bytes = b""


class JoinGroupRequest(Request["JoinGroupResponse"], key=11, versions="0-9", flexible="6+"):
    """Enter a classic group's rebalance."""

    group_id: str = ""
    session_timeout_ms: Int32 = 0
    rebalance_timeout_ms: Int32 = at("1+", ignorable=True, default=-1)
    member_id: str = ""
    group_instance_id: str | None = at("5+", null="5+", default=None)
    protocol_type: str = ""
    protocols: list[JoinGroupRequestProtocol] = at(factory=list)
    reason: str | None = at("8+", null="8+", ignorable=True, default=None)


class JoinGroupResponseMember(Struct):
    member_id: str = ""
    group_instance_id: str | None = at("5+", null="5+", ignorable=True, default=None)
    metadata: bytes = b""


class JoinGroupResponse(Response, key=11, versions="0-9", flexible="6+"):
    """The answer to JoinGroupRequest."""

    throttle_time_ms: Int32 = at("2+", ignorable=True, default=0)
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: str | None = at("7+", null="7+", ignorable=True, default=None)
    protocol_name: str | None = at(null="7+", default="")
    leader: str = ""
    skip_assignment: bool = at("9+", default=False)
    member_id: str = ""
    members: list[JoinGroupResponseMember] = at(factory=list)
