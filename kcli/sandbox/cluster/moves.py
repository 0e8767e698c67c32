"""Its moves of partitions between brokers (KIP-455) and of replicas between disks (KIP-113).

There is one log a partition, so nothing is copied. What a move takes is counted all the same: by the throttles that are
set (KIP-73), a replica grows by the throttle's bytes a second; without a throttle it is there with the next tick.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Partition, Topics
from kcli.sandbox.configs.broker_configs import DISK_RATE, FOLLOWER_RATE, LEADER_RATE, BrokerConfigs

TICK = 0.02  # seconds
FOLLOWERS, LEADERS = "follower.replication.throttled.replicas", "leader.replication.throttled.replicas"


class Move:
    """A partition on its way from `before` to `target`; `copied` is bytes by broker that is being filled."""

    def __init__(self, partition: Partition, before: list[int], target: list[int]) -> None:
        self.partition = partition
        self.before = before
        self.target = target
        self.copied = {node: 0.0 for node in target if node not in before}

    @property
    def replicas(self) -> list[int]:
        """The current replicas, as Kafka lists them."""
        return [*self.target, *self.removing]

    @property
    def removing(self) -> list[int]:
        return [node for node in self.before if node not in self.target]


class DiskMove:
    """A replica at `node` on its way to disk number `to`."""

    def __init__(self, partition: Partition, node: int, to: int) -> None:
        self.partition = partition
        self.node = node
        self.to = to
        self.copied = 0.0


class Moves:
    """All moves under way, and the clock they go by."""

    def __init__(self, brokers: Brokers, topics: Topics, broker_configs: BrokerConfigs) -> None:
        self._brokers = brokers
        self._topics = topics
        self._broker_configs = broker_configs
        self.by_partition: dict[Partition, Move] = {}
        self.disks: dict[tuple[Partition, int], DiskMove] = {}
        self._task: asyncio.Task[None] | None = None

    # -- between brokers ----------------------------------------------------------------------------------------------

    def begin(self, partition: Partition, target: list[int], *, other_factor: bool = True) -> None:
        """Raises BrokerError INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR."""
        known = set(self._brokers.node_ids)
        if not target or len(set(target)) != len(target) or not set(target) <= known:
            raise BrokerError(codes.INVALID_REPLICA_ASSIGNMENT, message=f"no such placement: {target}")
        now = self.by_partition.get(partition)
        before = now.before if now is not None else list(partition.replicas)
        if len(target) != len(before) and not other_factor:
            raise BrokerError(codes.INVALID_REPLICATION_FACTOR, message=f"{len(before)} replicas, not {len(target)}")
        move = Move(partition, before, list(target))
        if now is not None:
            move.copied = {node: now.copied.get(node, 0.0) for node in move.copied}
        self.by_partition[partition] = move
        partition.replicas, partition.filling, partition.rest = move.replicas, set(move.copied), before
        if move.copied:
            self._wake()
        else:
            self._finish(move)

    def cancel(self, partition: Partition) -> None:
        """Raises BrokerError NO_REASSIGNMENT_IN_PROGRESS."""
        move = self.by_partition.pop(partition, None)
        if move is None:
            raise BrokerError(codes.NO_REASSIGNMENT_IN_PROGRESS)
        self._settle(partition, move.before)

    def _finish(self, move: Move) -> None:
        del self.by_partition[move.partition]
        self._settle(move.partition, move.target)

    def _settle(self, partition: Partition, replicas: list[int]) -> None:
        """The replicas are these, for good; one of them leads. Without one of those before a new epoch begins."""
        fewer = not set(partition.replicas) <= set(replicas)
        partition.replicas, partition.filling, partition.rest = replicas, set(), None
        if partition.leader not in replicas:
            living = {broker.node_id for broker in self._brokers.living()}
            elect(partition, next((node for node in replicas if node in living), -1))
        elif fewer:
            elect(partition, partition.leader)
        self._topics.noted(partition.topic)
        partition.wake()

    # -- between disks ------------------------------------------------------------------------------------------------

    def to_disk(self, partition: Partition, node: int, to: int) -> None:
        """Move a replica to a directory; one that does not exist yet will be created there. Then it raises BrokerError
        REPLICA_NOT_AVAILABLE."""
        if node not in partition.replicas or node in partition.filling:
            partition.disks[node] = to
            raise BrokerError(codes.REPLICA_NOT_AVAILABLE)
        self.disks.pop((partition, node), None)
        if partition.disks.get(node, 0) != to:
            self.disks[partition, node] = DiskMove(partition, node, to)
            self._wake()

    # -- the clock ----------------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self.by_partition or self.disks:
            await asyncio.sleep(TICK)
            self._advance(TICK)

    def _advance(self, seconds: float) -> None:
        living = {broker.node_id for broker in self._brokers.living()}
        topics = self._topics.by_name
        slow = Counter(n for m in self.by_partition.values() for n in m.copied if self._rate(m, n) is not None)
        for move in list(self.by_partition.values()):
            if topics.get(move.partition.topic.name) is not move.partition.topic:
                del self.by_partition[move.partition]
                continue
            for node in move.copied.keys() & living:
                rate = self._rate(move, node)
                move.copied[node] += move.partition.log.size if rate is None else rate * seconds / slow[node]
            if all(done >= move.partition.log.size for done in move.copied.values()):
                self._finish(move)
        for key, disk_move in list(self.disks.items()):
            limit = self._broker_configs.rate(disk_move.node, DISK_RATE)
            disk_move.copied += disk_move.partition.log.size if limit is None else limit * seconds
            if disk_move.copied >= disk_move.partition.log.size:
                del self.disks[key]
                disk_move.partition.disks[disk_move.node] = disk_move.to

    def _rate(self, move: Move, node: int) -> float | None:
        """The bytes a second at which `node` is filled; None for no throttle."""
        configs, topic, index = self._broker_configs, move.partition.topic, move.partition.index
        limits = []
        for config, rate, replica in ((FOLLOWERS, FOLLOWER_RATE, node), (LEADERS, LEADER_RATE, move.partition.leader)):
            replicas = topic.config(config).split(",")
            limit = configs.rate(replica, rate)
            if limit is not None and ("*" in replicas or f"{index}:{replica}" in replicas):
                limits.append(limit)
        return min(limits, default=None)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()


def elect(partition: Partition, node: int) -> None:
    """Make `node` the leader, in a new epoch; -1 is none."""
    partition.led_by.add(node)
    partition.leader, partition.leader_epoch, partition.hints = node, partition.leader_epoch + 1, True
    partition.wake()
