"""Chooses the version of an API for one broker: the highest that both support."""

from __future__ import annotations

from kcli.errors import TooOld, UnsupportedVersion
from kcli.proto.messages import api_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.proto.schema import Request

Ranges = dict[int, tuple[int, int]]
METADATA, VOTE = 3, 52


def too_old(kind: type[Request[Any]], version: int, peer: str) -> TooOld:
    """Return the error for a broker whose highest version of an API lacks a field that kcli needs."""
    return TooOld(
        f"{peer} is too old for this: it supports {api_name(kind.api_key)} up to version {version} only. This needs "
        f"a newer Apache Kafka; the minimum for kcli is 2.1"
    )


def pick(kind: type[Request[Any]], offered: Ranges, peer: str, cap: int | None = None) -> int:
    """Return the version to use. `cap` is the caller's own limit (for requests that name topics instead of their ids).

    Our lowest versions are those of Kafka 4 (KIP-896): Kafka 4 advertises Produce 0 but rejects it, so it is never
    used. Raises UnsupportedVersion with both ranges.
    """
    ours = kind.versions
    if kind.api_key not in offered:
        if VOTE in offered and METADATA not in offered:
            raise UnsupportedVersion(
                f"{peer} is a KRaft controller, which does not offer the API {api_name(kind.api_key)}"
            ).hinted("controller")
        raise UnsupportedVersion(f"{peer} does not offer the API {api_name(kind.api_key)}, which kcli needs for this")
    low, high = offered[kind.api_key]
    version = min(ours.last, high, ours.last if cap is None else cap)
    if version < ours.first or version < low:
        name = api_name(kind.api_key)
        raise UnsupportedVersion(
            f"{peer} supports versions {low}-{high} of {name}, and kcli supports {ours.first}-{ours.last}: "
            f"{'the broker is older than Apache Kafka 2.1' if high < ours.first else 'kcli is too old for it'}"
        )
    return version
