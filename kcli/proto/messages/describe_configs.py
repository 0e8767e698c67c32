"""DescribeConfigs (API key 32): versions 1-4."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class DescribeConfigsResource(Struct):
    resource_type: Int8 = 0
    resource_name: str = ""
    configuration_keys: list[str] | None = at(null="0+", factory=list)


class DescribeConfigsRequest(Request["DescribeConfigsResponse"], key=32, versions="1-4", flexible="4+"):
    """Configuration of topics, brokers, groups and more."""

    resources: list[DescribeConfigsResource] = at(factory=list)
    include_synonyms: bool = at("1+", default=False)
    include_documentation: bool = at("3+", default=False)


class DescribeConfigsSynonym(Struct):
    name: str = at("1+", default="")
    value: str | None = at("1+", null="0+", default="")
    source: Int8 = at("1+", default=0)


class DescribeConfigsResourceResult(Struct):
    name: str = ""
    value: str | None = at(null="0+", default="")
    read_only: bool = False
    config_source: Int8 = at("1+", ignorable=True, default=-1)
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsSynonym] = at("1+", ignorable=True, factory=list)
    config_type: Int8 = at("3+", ignorable=True, default=0)
    documentation: str | None = at("3+", null="0+", ignorable=True, default="")


class DescribeConfigsResult(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    resource_type: Int8 = 0
    resource_name: str = ""
    configs: list[DescribeConfigsResourceResult] = at(factory=list)


class DescribeConfigsResponse(Response, key=32, versions="1-4", flexible="4+"):
    """The answer to DescribeConfigsRequest."""

    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult] = at(factory=list)
