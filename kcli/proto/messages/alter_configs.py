"""AlterConfigs (API key 33): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class AlterableConfig(Struct):
    name: str = ""
    value: str | None = at(null="0+", default="")


class AlterConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: str = ""
    configs: list[AlterableConfig] = at(factory=list)


class AlterConfigsRequest(Request["AlterConfigsResponse"], key=33, versions="0-2", flexible="2+"):
    """Replace all configs of a resource; only where IncrementalAlterConfigs is missing."""

    resources: list[AlterConfigsResource] = at(factory=list)
    validate_only: bool = False


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    resource_type: Int8 = 0
    resource_name: str = ""


class AlterConfigsResponse(Response, key=33, versions="0-2", flexible="2+"):
    """The answer to AlterConfigsRequest."""

    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = at(factory=list)
