"""Heartbeat (API key 12): versions 0-4."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, at


class HeartbeatRequest(Request["HeartbeatResponse"], key=12, versions="0-4", flexible="4+"):
    """Tell the coordinator that a member is alive."""

    group_id: str = ""
    generation_id: Int32 = 0
    member_id: str = ""
    group_instance_id: str | None = at("3+", null="3+", default=None)


class HeartbeatResponse(Response, key=12, versions="0-4", flexible="4+"):
    """The answer to HeartbeatRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = 0
