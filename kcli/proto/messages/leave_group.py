"""LeaveGroup (API key 13): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class MemberIdentity(Struct):
    member_id: str = at("3+", default="")
    group_instance_id: str | None = at("3+", null="3+", default=None)
    reason: str | None = at("5+", null="5+", ignorable=True, default=None)


class LeaveGroupRequest(Request["LeaveGroupResponse"], key=13, versions="0-5", flexible="4+"):
    """Leave a classic group, or have members removed from it."""

    group_id: str = ""
    member_id: str = at("0-2", default="")
    members: list[MemberIdentity] = at("3+", factory=list)


class MemberResponse(Struct):
    member_id: str = at("3+", default="")
    group_instance_id: str | None = at("3+", null="3+", default="")
    error_code: Int16 = at("3+", default=0)


class LeaveGroupResponse(Response, key=13, versions="0-5", flexible="4+"):
    """The answer to LeaveGroupRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = 0
    members: list[MemberResponse] = at("3+", factory=list)
