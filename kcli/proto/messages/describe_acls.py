"""DescribeAcls (API key 29): versions 1-3."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class DescribeAclsRequest(Request["DescribeAclsResponse"], key=29, versions="1-3", flexible="2+"):
    """The ACLs that match a filter."""

    resource_type_filter: Int8 = 0
    resource_name_filter: str | None = at(null="0+", default="")
    pattern_type_filter: Int8 = at("1+", default=3)
    principal_filter: str | None = at(null="0+", default="")
    host_filter: str | None = at(null="0+", default="")
    operation: Int8 = 0
    permission_type: Int8 = 0


class AclDescription(Struct):
    principal: str = ""
    host: str = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DescribeAclsResource(Struct):
    resource_type: Int8 = 0
    resource_name: str = ""
    pattern_type: Int8 = at("1+", default=3)
    acls: list[AclDescription] = at(factory=list)


class DescribeAclsResponse(Response, key=29, versions="1-3", flexible="2+"):
    """The answer to DescribeAclsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    resources: list[DescribeAclsResource] = at(factory=list)
