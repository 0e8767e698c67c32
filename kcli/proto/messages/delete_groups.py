"""DeleteGroups (API key 42): versions 0-3."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class DeleteGroupsRequest(Request["DeleteGroupsResponse"], key=42, versions="0-3", flexible="2+"):
    """Delete groups that have no members."""

    groups_names: list[str] = at(factory=list)


class DeletableGroupResult(Struct):
    group_id: str = ""
    error_code: Int16 = 0
    error_message: str | None = at("3+", null="3+", ignorable=True, default=None)


class DeleteGroupsResponse(Response, key=42, versions="0-3", flexible="2+"):
    """The answer to DeleteGroupsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult] = at(factory=list)
