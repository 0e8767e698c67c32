"""DescribeClientQuotas (API key 48): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Float64, Int8, Int16, Int32, Request, Response, Struct, at


class ComponentData(Struct):
    entity_type: str = ""
    match_type: Int8 = 0
    match: str | None = at(null="0+", default="")


class DescribeClientQuotasRequest(Request["DescribeClientQuotasResponse"], key=48, versions="0-1", flexible="1+"):
    """The quotas of entities that match."""

    components: list[ComponentData] = at(factory=list)
    strict: bool = False


class EntityData(Struct):
    entity_type: str = ""
    entity_name: str | None = at(null="0+", default="")


class ValueData(Struct):
    key: str = ""
    value: Float64 = 0.0


class EntryData(Struct):
    entity: list[EntityData] = at(factory=list)
    values: list[ValueData] = at(factory=list)


class DescribeClientQuotasResponse(Response, key=48, versions="0-1", flexible="1+"):
    """The answer to DescribeClientQuotasRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    entries: list[EntryData] | None = at(null="0+", factory=list)
