"""DeleteAcls (API key 31): versions 1-3."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class DeleteAclsFilter(Struct):
    resource_type_filter: Int8 = 0
    resource_name_filter: str | None = at(null="0+", default="")
    pattern_type_filter: Int8 = at("1+", default=3)
    principal_filter: str | None = at(null="0+", default="")
    host_filter: str | None = at(null="0+", default="")
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsRequest(Request["DeleteAclsResponse"], key=31, versions="1-3", flexible="2+"):
    """Remove the ACLs that match filters."""

    filters: list[DeleteAclsFilter] = at(factory=list)


class DeleteAclsMatchingAcl(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    resource_type: Int8 = 0
    resource_name: str = ""
    pattern_type: Int8 = at("1+", default=3)
    principal: str = ""
    host: str = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsFilterResult(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    matching_acls: list[DeleteAclsMatchingAcl] = at(factory=list)


class DeleteAclsResponse(Response, key=31, versions="1-3", flexible="2+"):
    """The answer to DeleteAclsRequest."""

    throttle_time_ms: Int32 = 0
    filter_results: list[DeleteAclsFilterResult] = at(factory=list)
