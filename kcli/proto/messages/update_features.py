"""UpdateFeatures (API key 57): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Request, Response, Struct, at


class FeatureUpdateKey(Struct):
    feature: str = ""
    max_version_level: Int16 = 0
    allow_downgrade: bool = at("0", default=False)
    upgrade_type: Int8 = at("1+", default=1)


class UpdateFeaturesRequest(Request["UpdateFeaturesResponse"], key=57, versions="0-2", flexible="0+"):
    """Set the levels of features."""

    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey] = at(factory=list)
    validate_only: bool = at("1+", default=False)


class UpdatableFeatureResult(Struct):
    feature: str = ""
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")


class UpdateFeaturesResponse(Response, key=57, versions="0-2", flexible="0+"):
    """The answer to UpdateFeaturesRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = at(null="0+", default="")
    results: list[UpdatableFeatureResult] = at("0-1", ignorable=True, factory=list)
