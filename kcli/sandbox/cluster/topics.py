"""Topics and their partitions: leaders, epochs, logs. Every change is written to the journal before the response."""

from __future__ import annotations

import os
from asyncio import Future
from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.configs.topic_configs import checked
from kcli.sandbox.log.batches import CONTROL
from kcli.sandbox.log.log import Log
from kcli.sandbox.log.producers import PartitionProducers
from kcli.sandbox.log.segment import Store

NewStore = Callable[[str, bytes, int], Store]
Note = Callable[[str, dict[str, Any]], None]

LEGAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
COORDINATORS = 50
"""Partitions of an internal topic, as Kafka's defaults say."""
_SEGMENT = {"segment.bytes": "104857600"}
INTERNAL: dict[str, dict[str, str]] = {
    "__consumer_offsets": {"cleanup.policy": "compact", "compression.type": "producer", **_SEGMENT},
    "__transaction_state": {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "false",
        **_SEGMENT,
    },
    "__share_group_state": {"cleanup.policy": "delete", "retention.ms": "-1", "min.insync.replicas": "1", **_SEGMENT},
}
"""The topics of the coordinators, each with its configs."""
MOST_PARTITIONS = 10_000
FROM_FOLLOWERS = 11


class Partition:
    """One partition: its log, its producers, its leader, and the fetches that wait for data."""

    def __init__(self, topic: Topic, index: int, replicas: list[int], log: Log, leader_epoch: int) -> None:
        self.topic = topic
        self.index = index
        self.replicas = replicas
        self.filling: set[int] = set()  # replicas that do not have all of it yet (moves.py)
        self.rest: list[int] | None = None  # the replicas before a move under way: where a restart finds it
        self.disks: dict[int, int] = {}  # the number of the disk at each broker; 0 by default
        self.leader = replicas[0]
        self.leader_epoch = leader_epoch
        self.led_by = {self.leader}  # whoever leads or has led: a client may still believe it does
        self.hints = True  # whether a wrong leader answers with the right one (KIP-951)
        self.log = log
        self.producers = PartitionProducers()
        self.waiting: set[Future[None]] = set()
        for header in log.headers():
            if header.producer_id >= 0:
                (self.producers.ended if header.attributes & CONTROL else self.producers.note)(header)

    def serves(self, node: int, version: int) -> bool:
        """Whether this broker answers fetches of it: from version 11 on its followers do, too (KIP-392)."""
        follows = version >= FROM_FOLLOWERS and node in self.replicas and node not in self.filling
        return node == self.leader or follows

    def wake(self) -> None:
        """Wake the waiting fetches."""
        for waiter in self.waiting:
            if not waiter.done():
                waiter.set_result(None)
        self.waiting.clear()


class Topic:
    """`configs` are its overrides, `default` gives the value of a config without one."""

    def __init__(self, name: str, topic_id: bytes, configs: dict[str, str], default: Callable[[str], str]) -> None:
        self.name = name
        self.id = topic_id
        self.configs = configs
        self._default = default
        self.partitions: list[Partition] = []

    @property
    def internal(self) -> bool:
        return self.name in INTERNAL

    def config(self, name: str) -> str:
        """The value in force."""
        return self.configs[name] if name in self.configs else self._default(name)

    def number(self, name: str) -> int:
        return int(self.config(name))

    def facts(self) -> dict[str, Any]:
        """What the journal keeps of it."""
        return {
            "name": self.name,
            "id": self.id.hex(),
            "configs": self.configs,
            "partitions": [[p.rest or p.replicas, p.leader_epoch, p.log.start] for p in self.partitions],
        }


class Topics:
    """All topics, by name and by id. `store` makes the place of a partition's log, `default` the value of a config that
    a topic does not override."""

    def __init__(self, node_ids: list[int], store: NewStore, note: Note, default: Callable[[str], str]) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}
        self._node_ids = node_ids
        self._store = store
        self._note = note
        self._default = default
        self._next_leader = 0
        self.deleted: list[Callable[[str], None]] = []  # called with the name of a topic that is gone

    def create(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication: int = -1,
        configs: dict[str, str] | None = None,
        assignments: list[list[int]] | None = None,
        check_only: bool = False,
    ) -> Topic:
        """Create a topic. Raises BrokerError with Kafka's code; then nothing was created."""
        self.check_name(name)
        if name in self.by_name:
            raise BrokerError(codes.TOPIC_ALREADY_EXISTS, message=f"topic '{name}' already exists")
        kept = checked(configs or {})
        before = self._next_leader
        replicas = (
            self._placed(assignments, len(assignments[0])) if assignments else self._spread(partitions, replication)
        )
        topic = Topic(name, os.urandom(16), kept, self._default)
        if check_only:
            self._next_leader = before
            topic.partitions = []
            return topic
        for index, nodes in enumerate(replicas):
            self._add_partition(topic, index, nodes, 0, 0)
        self._know(topic)
        self._note("topic", topic.facts())
        return topic

    def ensure_internal(self, name: str) -> None:
        """Create a topic of the coordinators, which the first question for one does. It stays empty."""
        if name not in self.by_name:
            self.create(name, COORDINATORS, configs=INTERNAL[name])

    def _add_partition(self, topic: Topic, index: int, replicas: list[int], epoch: int, start: int) -> None:
        log = Log(self._store(topic.name, topic.id, index), start, lambda: topic.number("segment.bytes"))
        topic.partitions.append(Partition(topic, index, replicas, log, epoch))

    def _know(self, topic: Topic) -> None:
        self.by_name[topic.name] = topic
        self.by_id[topic.id] = topic

    @staticmethod
    def check_name(name: str) -> None:
        """Raises BrokerError INVALID_TOPIC_EXCEPTION for a name Kafka refuses. Names become directories."""
        if not 0 < len(name) <= 249 or name in (".", "..") or not LEGAL.issuperset(name):
            raise BrokerError(codes.INVALID_TOPIC_EXCEPTION, message=f"{name[:260]!r} is not a legal topic name")

    def _placed(self, assignments: list[list[int]], factor: int) -> list[list[int]]:
        """The assignments, if they can be: each with `factor` replicas."""
        for nodes in assignments:
            if not nodes or len(set(nodes)) != len(nodes) or not set(nodes) <= set(self._node_ids):
                raise BrokerError(codes.INVALID_REPLICA_ASSIGNMENT, message=f"no such placement: {nodes}")
            if len(nodes) != factor:
                words = f"replication factor {factor} and {len(nodes)} replicas: {nodes}"
                raise BrokerError(codes.INVALID_REPLICA_ASSIGNMENT, message=words)
        return assignments

    def copies(self, asked: int) -> int:
        """The number of replicas of a partition without a given one (-1): three, if there are enough brokers."""
        return min(3, len(self._node_ids)) if asked == -1 else asked

    def _spread(self, partitions: int, replication: int, first: int = 0) -> list[list[int]]:
        partitions = 1 if partitions == -1 else partitions
        if not 0 < partitions <= MOST_PARTITIONS:
            raise BrokerError(codes.INVALID_PARTITIONS, message=f"1 to {MOST_PARTITIONS} partitions, not {partitions}")
        count = len(self._node_ids)
        replication = self.copies(replication)
        if not 0 < replication <= count:
            raise BrokerError(
                codes.INVALID_REPLICATION_FACTOR, message=f"replication factor {replication} with {count} brokers"
            )
        begin = self._next_leader
        self._next_leader = (begin + partitions) % count
        return [[self._node_ids[(begin + p + r) % count] for r in range(replication)] for p in range(partitions)]

    def delete(self, topic: Topic) -> None:
        """Remove a topic and its data."""
        self._note("deleted", {"id": topic.id.hex()})
        self._forget(topic)
        for call in self.deleted:
            call(topic.name)

    def _forget(self, topic: Topic) -> None:
        del self.by_name[topic.name], self.by_id[topic.id]
        for partition in topic.partitions:
            partition.wake()
            partition.log.delete()

    def grow(self, topic: Topic, count: int, assignments: list[list[int]] | None, *, check_only: bool) -> None:
        """Give a topic `count` partitions. Raises BrokerError INVALID_PARTITIONS."""
        have = len(topic.partitions)
        if count <= have:
            raise BrokerError(codes.INVALID_PARTITIONS, message=f"topic '{topic.name}' has {have} partitions already")
        if assignments is not None and len(assignments) != count - have:
            raise BrokerError(codes.INVALID_REPLICA_ASSIGNMENT, message="one assignment per new partition")
        factor = len(topic.partitions[0].replicas)
        replicas = self._placed(assignments, factor) if assignments else self._spread(count - have, factor)
        if check_only:
            return
        for index, nodes in enumerate(replicas, have):
            self._add_partition(topic, index, nodes, 0, 0)
        self._note("topic", topic.facts())

    def configure(self, topic: Topic, configs: dict[str, str]) -> None:
        topic.configs = configs
        self._note("topic", topic.facts())

    def noted(self, topic: Topic) -> None:
        """Its partitions changed."""
        self._note("topic", topic.facts())

    def delete_records(self, partition: Partition, offset: int) -> int:
        """Move the log start; returns it. Raises BrokerError OFFSET_OUT_OF_RANGE."""
        to = partition.log.end if offset == -1 else offset
        if to <= partition.log.end:  # in the journal before a file goes, else a restart would count from 0 again
            facts = {"id": partition.topic.id.hex(), "partition": partition.index, "start": to}
            self._note("start", facts)
        return partition.log.delete_before(offset)

    def partition(self, name: str, index: int) -> Partition:
        """Raises BrokerError UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self.by_name.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
        return topic.partitions[index]

    # -- what the journal brings back -------------------------------------------------------------------------------

    def restore(self, facts: dict[str, Any]) -> None:
        """A topic as the journal knows it. Its leader epochs go up by one: the old leader died."""
        topic = Topic(facts["name"], bytes.fromhex(facts["id"]), facts["configs"], self._default)
        self.check_name(topic.name)
        for index, (replicas, epoch, start) in enumerate(facts["partitions"]):
            here = [node for node in replicas if node in self._node_ids] or self._node_ids[:1]
            self._add_partition(topic, index, here, epoch + 1, start)
            partition = topic.partitions[-1]
            partition.leader_epoch = max(partition.leader_epoch, partition.log.epoch_at(partition.log.end) + 1)
        self._know(topic)
        self._next_leader = (self._next_leader + len(topic.partitions)) % len(self._node_ids)

    def close(self) -> None:
        for topic in self.by_name.values():
            for partition in topic.partitions:
                partition.wake()
                partition.log.close()
