"""ListGroups (API key 16): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Request, Response, Struct, at


class ListGroupsRequest(Request["ListGroupsResponse"], key=16, versions="0-5", flexible="3+"):
    """The groups a broker coordinates."""

    states_filter: list[str] = at("4+", factory=list)
    types_filter: list[str] = at("5+", factory=list)


class ListedGroup(Struct):
    group_id: str = ""
    protocol_type: str = ""
    group_state: str = at("4+", ignorable=True, default="")
    group_type: str = at("5+", ignorable=True, default="")


class ListGroupsResponse(Response, key=16, versions="0-5", flexible="3+"):
    """The answer to ListGroupsRequest."""

    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    error_code: Int16 = 0
    groups: list[ListedGroup] = at(factory=list)
