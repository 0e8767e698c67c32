"""Features of the cluster: what it supports, and the level that is finalized, which clients read from ApiVersions."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.errors import UsageError

METADATA = "metadata.version"
SUPPORTED = {
    "eligible.leader.replicas.version": (0, 1),  # 1: min.insync.replicas of brokers is fixed (KIP-966)
    "group.version": (0, 1),  # 1: KIP-848
    "kraft.version": (0, 1),  # kept; voters can be changed at any level
    METADATA: (7, 30),  # kept; the highest is that of Kafka 4.3
    "share.version": (0, 1),  # 1: share groups (KIP-932)
    "transaction.version": (0, 2),  # 2: implicit adding and an epoch bump at every end (KIP-890)
}
DEFAULTS = {name: highest for name, (_, highest) in SUPPORTED.items() if name != "kraft.version"}


class Features:
    """Raises UsageError for a feature or level that is not supported."""

    def __init__(self, levels: Mapping[str, int] | None = None) -> None:
        self.epoch = 0  # counts the changes, so that clients can tell old answers from new
        self._levels = dict(DEFAULTS)
        for name, level in (levels or {}).items():
            self.finalize(name, level)
        self._ordered = frozenset(levels or {})

    def restore(self, levels: dict[str, int]) -> None:
        """Levels that were set before a restart; those that the sandbox was started with count for more."""
        for name, level in levels.items():
            if name not in self._ordered and name in SUPPORTED:
                self.finalize(name, level)

    def level(self, name: str) -> int:
        """The finalized level, 0 for none."""
        return self._levels.get(name, 0)

    def finalize(self, name: str, level: int) -> None:
        """Set a level, at any time: connections learn of it when they ask again."""
        lowest, highest = SUPPORTED.get(name, (0, -1))
        if not lowest <= level <= highest:
            raise UsageError(f"the sandbox does not support {name}={level}; it supports {SUPPORTED}")
        self._levels[name] = level
        self.epoch += 1

    def finalized(self) -> dict[str, int]:
        """Feature and level; level 0 is the same as not finalized."""
        return {name: level for name, level in self._levels.items() if level}
