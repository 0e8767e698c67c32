"""Queues with unsettled batches, grouped by the node that leads them, so that the engine only looks up leaders again
when one may have changed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kcli.model import TopicPartition
    from kcli.producer.batches.queue import PartitionQueue

    Led = dict[TopicPartition, PartitionQueue]


class Active:
    """`leader_id(at)` returns the cached leader, -1 if there is none; `version()` changes whenever a leader may have
    changed."""

    def __init__(self, leader_id: Callable[[TopicPartition], int], version: Callable[[], int]) -> None:
        self._leader_id = leader_id
        self._version = version
        self._seen = version()
        self.moved = False
        """Whether a leader has changed since the reader last set this to False."""
        self._queues: Led = {}
        self._led: dict[int, Led] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def __contains__(self, at: TopicPartition) -> bool:
        return at in self._queues

    def get(self, at: TopicPartition) -> PartitionQueue | None:
        return self._queues.get(at)

    def values(self) -> Collection[PartitionQueue]:
        return self._queues.values()

    def add(self, queue: PartitionQueue) -> None:
        if queue.at not in self._queues:
            self._queues[queue.at] = queue
            if queue.leaders_version == self._version():
                self._led.setdefault(queue.leader, {})[queue.at] = queue
            else:
                self._file(queue)

    def discard(self, queue: PartitionQueue) -> None:
        if self._queues.pop(queue.at, None) is not None:
            del self._led[queue.leader][queue.at]

    def leaders(self) -> list[int]:
        """Nodes that lead any of the queues; -1 for queues without a leader."""
        self._check()
        return [node for node, led in self._led.items() if led]

    def led_by(self, node_id: int) -> list[PartitionQueue]:
        """Queues led by a node, the least recently served first."""
        self._check()
        led = self._led.get(node_id)
        return list(led.values()) if led else []

    def only(self, node_id: int) -> PartitionQueue | None:
        """The only queue that the node leads; None if it leads several or none."""
        if self._version() != self._seen:
            self._check()
        led = self._led.get(node_id)
        return next(iter(led.values())) if led and len(led) == 1 else None

    def served(self, queue: PartitionQueue) -> None:
        """Record that a queue was served: the node's other queues come first now."""
        led = self._led[queue.leader]
        if len(led) > 1 and led.pop(queue.at, None) is not None:
            led[queue.at] = queue

    def _check(self) -> None:
        version = self._version()
        if version != self._seen:
            self._seen = version
            self._regroup()

    def _regroup(self) -> None:
        before, self._led = self._led, {}
        for led in before.values():
            for queue in led.values():
                leader = queue.leader
                self._file(queue)
                self.moved = self.moved or queue.leader != leader

    def _file(self, queue: PartitionQueue) -> None:
        queue.leaders_version, queue.leader = self._version(), self._leader_id(queue.at)
        self._led.setdefault(queue.leader, {})[queue.at] = queue
