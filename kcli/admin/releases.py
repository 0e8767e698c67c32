"""Which Kafka a broker seems to be: no API says it, but the newest versions it speaks do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

RELEASES = (
    (1, 18, "4.1"), (3, 13, "4.0"), (1, 17, "3.9"), (1, 16, "3.7"), (1, 15, "3.5"), (1, 13, "3.1"), (1, 12, "2.7"),
    (1, 11, "2.3"), (1, 10, "2.1"), (1, 8, "2.0"), (1, 7, "1.1"), (1, 6, "1.0"), (1, 5, "0.11"), (1, 3, "0.10.1"),
    (18, 0, "0.10.0"),
)  # fmt: skip
"""(API, version, first Kafka that has it)."""


def release_of(versions: Mapping[int, tuple[int, int]]) -> str | None:
    """The oldest Kafka that speaks all of that, such as "4.1"; None for one older than 0.10."""
    for key, version, release in RELEASES:
        if key in versions and versions[key][1] >= version:
            return release
    return None
