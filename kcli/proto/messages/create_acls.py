"""CreateAcls (API key 30): versions 1-3."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class AclCreation(Struct):
    resource_type: Int8 = 0
    resource_name: str = ""
    resource_pattern_type: Int8 = at("1+", default=3)
    principal: str = ""
    host: str = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class CreateAclsRequest(Request["CreateAclsResponse"], key=30, versions="1-3", flexible="2+"):
    """Add ACLs."""

    creations: list[AclCreation] = at(factory=list)


class AclCreationResult(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")


class CreateAclsResponse(Response, key=30, versions="1-3", flexible="2+"):
    """The answer to CreateAclsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult] = at(factory=list)
