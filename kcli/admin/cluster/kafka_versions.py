"""The Kafka release of a broker: from the highest metadata.version that it supports, else the oldest release that has
its API versions."""

from __future__ import annotations

from collections.abc import Mapping

METADATA_VERSIONS = (
    (34, None),
    (31, "4.4"),
    (30, "4.3"),
    (28, "4.2"),
    (26, "4.1"),
    (22, "4.0"),
    (21, "3.9"),
    (20, "3.8"),
    (15, "3.7"),
    (12, "3.6"),
    (9, "3.5"),
    (8, "3.4"),
    (4, "3.3"),
)
"""(first level, release) of the feature metadata.version, as Kafka's MetadataVersion lists them."""

NEWEST = "4.4"
APIS = (
    (1, 18, "4.1"),
    (3, 13, "4.0"),
    (1, 17, "3.9"),
    (1, 16, "3.7"),
    (1, 15, "3.5"),
    (1, 13, "3.1"),
    (1, 12, "2.7"),
    (1, 11, "2.3"),
    (1, 10, "2.1"),
    (1, 8, "2.0"),
    (1, 7, "1.1"),
    (1, 6, "1.0"),
    (1, 5, "0.11"),
    (1, 3, "0.10.1"),
    (18, 0, "0.10.0"),
)
"""(API, version, first Kafka that has it)."""


def release_of(apis: Mapping[int, tuple[int, int]], metadata_version: int | None) -> str | None:
    """ "4.3" if the highest supported metadata.version shows the release, else "≥ 4.1" by the API versions; None before
    Kafka 0.10. Brokers with ZooKeeper, and before 3.3, have no metadata.version."""
    for level, release in METADATA_VERSIONS:
        if metadata_version is not None and metadata_version >= level:
            return release or f"≥ {NEWEST}"
    least = oldest(apis)
    return least and f"≥ {least}"


def oldest(apis: Mapping[int, tuple[int, int]]) -> str | None:
    """The oldest Kafka that speaks these versions, such as "4.1"; None for one before 0.10."""
    for key, version, release in APIS:
        if key in apis and apis[key][1] >= version:
            return release
    return None
