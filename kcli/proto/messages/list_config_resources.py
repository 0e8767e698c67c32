"""ListConfigResources (API key 74): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class ListConfigResourcesRequest(Request["ListConfigResourcesResponse"], key=74, versions="0-1", flexible="0+"):
    """The resources of a kind that have configs."""

    resource_types: list[Int8] = at("1+", factory=list)


class ConfigResource(Struct):
    resource_name: str = ""
    resource_type: Int8 = at("1+", ignorable=True, default=16)


class ListConfigResourcesResponse(Response, key=74, versions="0-1", flexible="0+"):
    """The answer to ListConfigResourcesRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    config_resources: list[ConfigResource] = at(factory=list)
