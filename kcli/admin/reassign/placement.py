"""The replicas of each broker while a plan is made: counts that follow every change, and which replicas may move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcli.admin.reassign.reassignments import Assignment
from kcli.model import TopicPartition


class Board:
    """The replicas of each partition, at first those of `current` that are on `brokers` (id to rack, None for none)."""

    def __init__(
        self, current: Assignment, brokers: Mapping[int, str | None], sizes: Mapping[TopicPartition, int]
    ) -> None:
        self.brokers = sorted(brokers)
        self.partitions = sorted(current)
        self.topics = list(dict.fromkeys(at.topic for at in self.partitions))
        self.replicas: Assignment = {at: [] for at in self.partitions}
        self._current, self._racks, self._sizes = current, brokers, sizes
        self._total = dict.fromkeys(self.brokers, 0)
        self._leads_total = dict.fromkeys(self.brokers, 0)
        self._here: dict[tuple[str, int], set[TopicPartition]] = {}  # by topic and broker
        self._led: dict[tuple[str, int], set[TopicPartition]] = {}
        for at in self.partitions:
            for node in current[at]:
                if node in brokers:
                    self.add(at, node)

    # -- what is ------------------------------------------------------------------------------------------------------

    def total(self, node: int) -> int:
        """Replicas at a broker."""
        return self._total[node]

    def load(self, topic: str, node: int) -> int:
        """Replicas of a topic at a broker."""
        return len(self._here.get((topic, node), ()))

    def leads_total(self, node: int) -> int:
        """Partitions whose preferred leader it is."""
        return self._leads_total[node]

    def leads(self, topic: str, node: int) -> int:
        """Partitions of a topic whose preferred leader it is."""
        return len(self._led.get((topic, node), ()))

    def racks(self, at: TopicPartition) -> dict[str, int]:
        """How many replicas of a partition each rack has; empty where no racks are known."""
        counts = {rack: 0 for rack in self._racks.values() if rack is not None}
        for node in self.replicas[at]:
            rack = self._racks[node]
            if rack is not None:
                counts[rack] += 1
        return counts

    def rack_mates(self, at: TopicPartition, node: int) -> int:
        """Replicas of a partition in a broker's rack."""
        rack = self._racks[node]
        return 0 if rack is None else sum(self._racks[replica] == rack for replica in self.replicas[at])

    def in_rack(self, rack: str) -> list[int]:
        """The brokers of a rack."""
        return [node for node in self.brokers if self._racks[node] == rack]

    # -- what changes -------------------------------------------------------------------------------------------------

    def add(self, at: TopicPartition, node: int) -> None:
        """A replica more, behind the others."""
        self._put(at, [*self.replicas[at], node])

    def drop(self, at: TopicPartition, node: int) -> None:
        """A replica less."""
        self._put(at, [replica for replica in self.replicas[at] if replica != node])

    def move(self, at: TopicPartition, a: int, b: int) -> None:
        """A replica goes from `a` to `b`, in the same place of the order."""
        self._put(at, [b if replica == a else replica for replica in self.replicas[at]])

    def lead(self, at: TopicPartition, a: int, b: int) -> None:
        """`b` is the preferred leader instead of `a`."""
        self._put(at, [b, *(replica for replica in self.replicas[at] if replica != b)])

    def _put(self, at: TopicPartition, brokers: list[int]) -> None:
        self._count(at, -1)
        self.replicas[at] = brokers
        self._count(at, 1)

    def _count(self, at: TopicPartition, by: int) -> None:
        for place, node in enumerate(self.replicas[at]):
            self._total[node] += by
            _keep(self._here.setdefault((at.topic, node), set()), at, by)
            if not place:
                self._leads_total[node] += by
                _keep(self._led.setdefault((at.topic, node), set()), at, by)

    # -- what may change ----------------------------------------------------------------------------------------------

    def movable(self, topic: str, a: int, b: int) -> TopicPartition | None:
        """The partition of a topic whose replica at `a` had best go to `b`: one that was at `b` before, or came to `a`
        in this plan, else the smallest; no leader if that can be. None where racks or replicas forbid all."""
        some = self._here.get((topic, a), set()) - self._here.get((topic, b), set())
        near = self._racks[a] == self._racks[b]
        fit = [at for at in some if near or self.rack_mates(at, b) < self.rack_mates(at, a)]
        return min(fit, key=lambda at: self._cost(at, a, b), default=None)

    def _cost(self, at: TopicPartition, a: int, b: int) -> tuple[bool, bool, int, bool, TopicPartition]:
        before = self._current[at]
        return b not in before, a in before, self._sizes.get(at, 0), self.replicas[at][0] == a, at

    def passable(self, topic: str, a: int, b: int) -> TopicPartition | None:
        """A partition of a topic that `a` leads and `b` might: one that `b` led before or `a` did not, if there is."""
        some = self._led.get((topic, a), set()) & self._here.get((topic, b), set())
        return min(some, key=lambda at: (self._current[at][0] != b, self._current[at][0] == a, at), default=None)

    def cheapest(self, some: Iterable[TopicPartition], a: int, b: int) -> TopicPartition | None:
        """Of candidates of several topics, one whose topic gains most."""
        gain = {at: self.load(at.topic, b) - self.load(at.topic, a) for at in some}
        return min(gain, key=lambda at: (gain[at], self._cost(at, a, b)), default=None)


def _keep(some: set[TopicPartition], at: TopicPartition, by: int) -> None:
    if by > 0:
        some.add(at)
    else:
        some.discard(at)
