"""IncrementalAlterConfigs (API key 44): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class AlterableConfig(Struct):
    name: str = ""
    config_operation: Int8 = 0
    value: str | None = at(null="0+", default="")


class AlterConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: str = ""
    configs: list[AlterableConfig] = at(factory=list)


class IncrementalAlterConfigsRequest(Request["IncrementalAlterConfigsResponse"], key=44, versions="0-1", flexible="1+"):
    """Set, delete, append to and subtract from configuration values."""

    resources: list[AlterConfigsResource] = at(factory=list)
    validate_only: bool = False


class AlterConfigsResourceResponse(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    resource_type: Int8 = 0
    resource_name: str = ""


class IncrementalAlterConfigsResponse(Response, key=44, versions="0-1", flexible="1+"):
    """The answer to IncrementalAlterConfigsRequest."""

    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = at(factory=list)
