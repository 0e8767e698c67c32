"""Which replicas of a broker go to which of its directories, so that these are about as full."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kcli.admin.storage.disks import Replica
from kcli.admin.storage.log_dirs import LogDir

ENOUGH = 0.05
"""A difference between the fullest and the emptiest directory, as a part of the mean, that is let be."""


def evened(places: Iterable[LogDir], movable: Collection[Replica]) -> dict[Replica, str]:
    """Moves within one broker, the largest replicas first, each of which makes the fullest directory less full."""
    sizes: dict[str, int] = {}
    here: dict[Replica, tuple[str, int]] = {}
    for place in places:
        sizes[place.directory] = place.size
        for replica in place.replicas:
            at = Replica(replica.topic, replica.partition, replica.broker)
            if at in movable and not replica.future:
                here[at] = place.directory, replica.size
    moved: dict[Replica, str] = {}
    for _ in range(len(here)):
        full, empty = max(sizes, key=lambda d: (sizes[d], d)), min(sizes, key=lambda d: (sizes[d], d))
        gap = sizes[full] - sizes[empty]
        if gap <= ENOUGH * sum(sizes.values()) / len(sizes):
            break
        some = [
            (size, at) for at, (place, size) in here.items() if place == full and 0 < size < gap and at not in moved
        ]
        if not some:
            break
        size, at = min(some, key=lambda replica: (abs(gap - 2 * replica[0]), replica[1]))
        moved[at], here[at] = empty, (empty, size)
        sizes[full] -= size
        sizes[empty] += size
    return moved
