"""AlterClientQuotas (API key 49): versions 0-1."""

from __future__ import annotations

from kcli.proto.schema import Float64, Int16, Int32, Request, Response, Struct, at


class EntityData(Struct):
    entity_type: str = ""
    entity_name: str | None = at(null="0+", default="")


class OpData(Struct):
    key: str = ""
    value: Float64 = 0.0
    remove: bool = False


class EntryData(Struct):
    entity: list[EntityData] = at(factory=list)
    ops: list[OpData] = at(factory=list)


class AlterClientQuotasRequest(Request["AlterClientQuotasResponse"], key=49, versions="0-1", flexible="1+"):
    """Set and remove quotas."""

    entries: list[EntryData] = at(factory=list)
    validate_only: bool = False


class AnsweredEntryData(Struct):
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    entity: list[EntityData] = at(factory=list)


class AlterClientQuotasResponse(Response, key=49, versions="0-1", flexible="1+"):
    """The answer to AlterClientQuotasRequest."""

    throttle_time_ms: Int32 = 0
    entries: list[AnsweredEntryData] = at(factory=list)
