"""The KRaft quorum that the sandbox reports: every broker is a controller as well, and all of them vote until one is
removed. There is no metadata log; its length is the number of changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from kcli import codes
from kcli.errors import BrokerError, UsageError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Topics

EPOCH = 1
LISTENER = "CONTROLLER"
METADATA = "metadata.version"
SUPPORTED = {
    "eligible.leader.replicas.version": (0, 1),  # 1: min.insync.replicas of brokers is fixed (KIP-966)
    "group.version": (0, 1),  # 1: KIP-848
    "kraft.version": (0, 1),  # 1: voters can be changed (KIP-853)
    METADATA: (7, 33),  # kept
    "share.version": (0, 2),  # 1: share groups (KIP-932), 2: their dead letters (KIP-1191)
    "streams.version": (0, 1),  # kept; the sandbox has no streams groups
    "transaction.version": (0, 2),  # 2: implicit adding and an epoch bump at every end (KIP-890)
}
"""Lowest and highest levels of the newest Kafka."""
OLDER = {"4.3": {METADATA: (7, 30), "share.version": (0, 1)}}


class Quorum:
    """`voters` are node ids. Raises BrokerError for changes that Kafka refuses (KIP-853)."""

    def __init__(self, brokers: Brokers, features: Features, topics: Topics, cluster_id: Callable[[], str]) -> None:
        self.voters = set(brokers.node_ids)
        self._brokers = brokers
        self._features = features
        self._topics = topics
        self._cluster_id = cluster_id
        self._changes = 0

    @property
    def leader(self) -> int:
        """The living voter that leads, -1 for none."""
        living = [broker.node_id for broker in self._brokers.living() if broker.node_id in self.voters]
        return living[0] if living else -1

    @property
    def end(self) -> int:
        """How long the metadata log would be."""
        return 1 + self._changes + self._features.epoch + len(self._topics.by_name)

    def directory(self, node: int) -> bytes:
        """The id of a node's metadata directory: the same one for as long as the cluster lives."""
        from hashlib import sha256

        return sha256(f"{self._cluster_id()} {node}".encode()).digest()[:16]

    def seen(self, node: int) -> int:
        """When it fetched last, in ms; -1 for one that is down."""
        up = any(broker.node_id == node for broker in self._brokers.living())
        return int(time.time() * 1000) if up else -1

    def add(self, node: int, directory: bytes) -> None:
        """Raises BrokerError DUPLICATE_VOTER, REQUEST_TIMED_OUT for a node that never catches up."""
        if node in self.voters:
            raise BrokerError(codes.DUPLICATE_VOTER)
        if self.seen(node) < 0 or directory != self.directory(node):
            raise BrokerError(codes.REQUEST_TIMED_OUT, message=f"no controller {node} with that directory fetches")
        self.voters.add(node)
        self._changes += 1

    def remove(self, node: int, directory: bytes) -> None:
        """Raises BrokerError VOTER_NOT_FOUND, INVALID_REQUEST for the last one."""
        if node not in self.voters or directory != self.directory(node):
            raise BrokerError(codes.VOTER_NOT_FOUND)
        if len(self.voters) == 1:
            raise BrokerError(codes.INVALID_REQUEST, message="the last voter cannot be removed")
        self.voters.discard(node)
        self._changes += 1

    def check_voter(self, node: int) -> None:
        """Raises BrokerError INVALID_REQUEST, UNSUPPORTED_VERSION for voters that are fixed (below kraft.version 1)."""
        if node < 0:
            raise BrokerError(codes.INVALID_REQUEST, message=f"{node} is no id of a node")
        if self._features.level("kraft.version") < 1:
            raise BrokerError(codes.UNSUPPORTED_VERSION, message="the voters are fixed below kraft.version 1")

    def check_cluster(self, cluster_id: str | None) -> None:
        """Raises BrokerError INCONSISTENT_CLUSTER_ID."""
        if cluster_id is not None and cluster_id != self._cluster_id():
            raise BrokerError(codes.INCONSISTENT_CLUSTER_ID)


class Features:
    """Raises UsageError for a feature or level that is not supported."""

    def __init__(self, levels: Mapping[str, int] | None = None, kafka_version: str = "") -> None:
        self.supported = SUPPORTED | OLDER.get(kafka_version, {})
        self.epoch = 0  # counts the changes, so that clients can tell old answers from new
        self._levels = {name: highest for name, (_, highest) in self.supported.items() if name != "kraft.version"}
        for name, level in (levels or {}).items():
            self.finalize(name, level)
        self._ordered = frozenset(levels or {})

    def restore(self, levels: dict[str, int]) -> None:
        """Levels that were set before a restart; those that the sandbox was started with count for more."""
        for name, level in levels.items():
            if name not in self._ordered and name in self.supported:
                self.finalize(name, level)

    def level(self, name: str) -> int:
        """The finalized level, 0 for none."""
        return self._levels.get(name, 0)

    def finalize(self, name: str, level: int) -> None:
        """Set a level, at any time: connections learn of it when they ask again."""
        lowest, highest = self.supported.get(name, (0, -1))
        if not lowest <= level <= highest:
            raise UsageError(f"the sandbox does not support {name}={level}; it supports {self.supported}")
        self._levels[name] = level
        self.epoch += 1

    def finalized(self) -> dict[str, int]:
        """Feature and level; level 0 is the same as not finalized."""
        return {name: level for name, level in self._levels.items() if level}
