"""FindCoordinator (API key 10): versions 0-6."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class FindCoordinatorRequest(Request["FindCoordinatorResponse"], key=10, versions="0-6", flexible="3+"):
    """Which broker coordinates this group (0), transactional id (1) or share group (2)?"""

    key: str = at("0-3", default="")
    key_type: Int8 = at("1+", default=0)
    coordinator_keys: list[str] = at("4+", factory=list)


class Coordinator(Struct):
    key: str = at("4+", default="")
    node_id: Int32 = at("4+", default=0)
    host: str = at("4+", default="")
    port: Int32 = at("4+", default=0)
    error_code: Int16 = at("4+", default=0)
    error_message: str | None = at("4+", null="4+", ignorable=True, default="")


class FindCoordinatorResponse(Response, key=10, versions="0-6", flexible="3+"):
    """The answer to FindCoordinatorRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = at("0-3", default=0)
    error_message: str | None = at("1-3", null="1-3", ignorable=True, default="")
    node_id: Int32 = at("0-3", default=0)
    host: str = at("0-3", default="")
    port: Int32 = at("0-3", default=0)
    coordinators: list[Coordinator] = at("4+", factory=list)
