"""SyncGroup (API key 14): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class SyncGroupRequestAssignment(Struct):
    member_id: str = ""
    assignment: bytes = b""


class SyncGroupRequest(Request["SyncGroupResponse"], key=14, versions="0-5", flexible="4+"):
    """Hand out (leader) or receive (all) the assignment of a classic group."""

    group_id: str = ""
    generation_id: Int32 = 0
    member_id: str = ""
    group_instance_id: str | None = at("3+", null="3+", default=None)
    protocol_type: str | None = at("5+", null="5+", ignorable=True, default=None)
    protocol_name: str | None = at("5+", null="5+", ignorable=True, default=None)
    assignments: list[SyncGroupRequestAssignment] = at(factory=list)


class SyncGroupResponse(Response, key=14, versions="0-5", flexible="4+"):
    """The answer to SyncGroupRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = 0
    protocol_type: str | None = at("5+", null="5+", ignorable=True, default=None)
    protocol_name: str | None = at("5+", null="5+", ignorable=True, default=None)
    assignment: bytes = b""
