"""ApiVersions (API key 18): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at
from kcli.version import __version__


class ApiVersionsRequest(Request["ApiVersionsResponse"], key=18, versions="0-5", flexible="3+"):
    """Which versions of which API does the broker speak? Its answer always has response header v0."""

    client_software_name: str = at("3+", ignorable=True, default="")
    client_software_version: str = at("3+", ignorable=True, default="")
    cluster_id: str | None = at("5+", null="5+", ignorable=True, default=None)
    node_id: Int32 = at("5+", ignorable=True, default=-1)


class ApiVersion(Struct):
    api_key: Int16 = 0
    min_version: Int16 = 0
    max_version: Int16 = 0


class SupportedFeatureKey(Struct):
    name: str = at("3+", default="")
    min_version: Int16 = at("3+", default=0)
    max_version: Int16 = at("3+", default=0)


class FinalizedFeatureKey(Struct):
    name: str = at("3+", default="")
    max_version_level: Int16 = at("3+", default=0)
    min_version_level: Int16 = at("3+", default=0)


class ApiVersionsResponse(Response, key=18, versions="0-5", flexible="3+"):
    """The answer to ApiVersionsRequest."""

    error_code: Int16 = 0
    api_keys: list[ApiVersion] = at(factory=list)
    throttle_time_ms: Int32 = at("1+", ignorable=True, default=0)
    supported_features: list[SupportedFeatureKey] = at("3+", tag=0, ignorable=True, factory=list)
    finalized_features_epoch: Int64 = at("3+", tag=1, ignorable=True, default=-1)
    finalized_features: list[FinalizedFeatureKey] = at("3+", tag=2, ignorable=True, factory=list)
    zk_migration_ready: bool = at("3+", tag=3, ignorable=True, default=False)


def software_version(version: str) -> str:
    """Our version as a broker accepts it: letters, digits, dashes and dots, none at the ends."""
    kept = "".join(c if (c.isascii() and c.isalnum()) or c in "-." else "-" for c in version)
    return kept.strip("-.") or "0"


def versions_request(cluster_id: str | None = None, node_id: int = -1) -> ApiVersionsRequest:
    """The request that names kcli and its version, as brokers want it from version 3 on (KIP-511). From version 5 on a
    broker with another id, or of another cluster, refuses it (KIP-1242)."""
    return ApiVersionsRequest(
        client_software_name="kcli",
        client_software_version=software_version(__version__),
        cluster_id=cluster_id,
        node_id=node_id,
    )
