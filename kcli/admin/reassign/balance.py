"""Computes a balanced placement of partitions with few moves.

Four steps, each of which keeps what earlier ones achieved. Replicas stay where they may, and missing ones are added;
they are spread over racks; replica counts per broker are evened out to a difference of one where racks allow it, and
topics concentrated on few brokers are spread; finally the order of replicas changes, which moves no data, to even out
preferred leaders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice, pairwise

from kcli.admin.reassign.reassignments import Assignment
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.values import Value, field

Load = Callable[[int], int]
Pick = Callable[[int, int], TopicPartition | None]
Act = Callable[[TopicPartition, int, int], None]

ENOUGH = 20
"""Number of shifts per partition after which evening out is abandoned; normally a few suffice."""
FEW = 16
"""Number of candidates to compare if every topic has some."""


class Wish(Value):
    """Where replicas may be: brokers with their racks (None: ignore racks). `replication` None keeps each partition's
    own. Without `even`, only what has to move moves."""

    brokers: dict[int, str | None] = field(factory=dict)
    replication: int | None = None
    even: bool = True


def plan(current: Assignment, wish: Wish, sizes: Mapping[TopicPartition, int]) -> Assignment:
    """Return the replicas of each partition, the preferred leader first; most stay in place. `sizes` is in bytes: of
    two candidates the smaller moves. Raises UsageError for more replicas than brokers."""
    current = {at: list(dict.fromkeys(brokers)) for at, brokers in current.items()}  # without duplicate brokers
    counts = {at: wish.replication or len(brokers) for at, brokers in current.items()}
    most = max(counts.values(), default=0)
    if most > len(wish.brokers):
        raise UsageError(f"{most} replicas need {most} brokers, but only {len(wish.brokers)} can be used")
    board = Board(current, wish.brokers, sizes)
    for at in board.partitions:
        while len(board.replicas[at]) > counts[at]:
            board.drop(at, _superfluous(board, at))
    for at in board.partitions:
        while len(board.replicas[at]) < counts[at]:
            board.add(at, _vacant(board, at))
    for at in board.partitions:
        _spread_over_racks(board, at)
    if wish.even:
        _even_replicas(board)
        _even_leaders(board)
    return {at: board.replicas[at] for at in current}


def _superfluous(board: Board, at: TopicPartition) -> int:
    """Return the replica to remove: never the preferred leader."""
    return max(
        board.replicas[at][1:],
        key=lambda node: (board.rack_mates(at, node), board.load(at.topic, node), board.total(node), node),
    )


def _vacant(board: Board, at: TopicPartition) -> int:
    """Return the broker for a new replica."""
    free = [node for node in board.brokers if node not in board.replicas[at]]
    return min(free, key=lambda node: (board.rack_mates(at, node), board.load(at.topic, node), board.total(node), node))


def _spread_over_racks(board: Board, at: TopicPartition) -> None:
    """Move replicas until no rack has two more than another rack with room."""
    while True:
        counts = board.racks(at)
        room = {
            rack: free
            for rack in counts
            if (free := [node for node in board.in_rack(rack) if node not in board.replicas[at]])
        }
        if not room:
            return
        full, empty = max(counts, key=lambda rack: counts[rack]), min(room, key=lambda rack: counts[rack])
        if counts[full] - counts[empty] < 2:
            return
        leaving = [node for node in board.replicas[at] if node in board.in_rack(full)]
        a = max(leaving, key=lambda node: (node != board.replicas[at][0], board.load(at.topic, node), node))
        b = min(room[empty], key=lambda node: (board.load(at.topic, node), board.total(node), node))
        board.move(at, a, b)


def _even_replicas(board: Board) -> None:
    """Even out replica counts. A single topic is only evened out where it is concentrated: replicas of many topics that
    are even together need not all move because each topic could be a little more even."""
    for topic in board.topics:
        loads = [board.load(topic, node) for node in board.brokers]
        if max(loads) > -(-sum(loads) // len(loads)) + 1:
            _even(board, _of(board.load, topic), _between(board.movable, topic), board.move)

    def any_topic(a: int, b: int) -> TopicPartition | None:
        """Return a move that leaves its topic as even as it is, or makes it more so."""
        some = (board.movable(topic, a, b) for topic in board.topics if board.load(topic, a) > board.load(topic, b))
        return board.cheapest(islice((at for at in some if at is not None), FEW), a, b)

    _even(board, board.total, any_topic, board.move)


def _even_leaders(board: Board) -> None:
    for topic in board.topics:
        _even(board, _of(board.leads, topic), _between(board.passable, topic), board.lead)

    def any_topic(a: int, b: int) -> TopicPartition | None:
        some = (board.passable(topic, a, b) for topic in board.topics if board.leads(topic, a) > board.leads(topic, b))
        return next((at for at in some if at is not None), None)

    _even(board, board.leads_total, any_topic, board.lead)


def _of(load: Callable[[str, int], int], topic: str) -> Load:
    return lambda node: load(topic, node)


def _between(pick: Callable[[str, int, int], TopicPartition | None], topic: str) -> Pick:
    return lambda a, b: pick(topic, a, b)


def _even(board: Board, load: Load, pick: Pick, act: Act) -> None:
    """Shift one item from a broker to another with at least two fewer, over intermediate brokers if there is no direct
    way, until nothing more can be shifted."""
    stuck: set[int] = set()
    for _ in range(ENOUGH * (len(board.partitions) + len(board.brokers))):
        full = [node for node in board.brokers if node not in stuck]
        begin = max(full, key=lambda node: (load(node), -node), default=None)
        if begin is None or load(begin) - min(map(load, board.brokers)) < 2:
            return
        way = _way(board, begin, load, pick)
        if way is None:
            stuck.add(begin)
            continue
        stuck.clear()
        for a, b in reversed(list(pairwise(way))):  # the far end first, so that no broker in between gets fuller
            at = pick(a, b)
            if at is None:  # a later hop used what this one relied on
                stuck.add(begin)
                break
            act(at, a, b)


def _way(board: Board, begin: int, load: Load, pick: Pick) -> list[int] | None:
    """Return the shortest path along which an item can move to a broker with at least two fewer."""
    came: dict[int, int | None] = {begin: None}
    queue = [begin]
    for node in queue:
        for other in sorted(
            (broker for broker in board.brokers if broker not in came), key=lambda broker: (load(broker), broker)
        ):
            if pick(node, other) is None:
                continue
            came[other] = node
            queue.append(other)
            if load(other) <= load(begin) - 2:
                way = [other]
                while (before := came[way[-1]]) is not None:
                    way.append(before)
                return way[::-1]
    return None


class Board:
    """The replicas of each partition, initially those of `current` on `brokers` (id to rack, None for none)."""

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

    # -- queries ------------------------------------------------------------------------------------------------------

    def total(self, node: int) -> int:
        """Number of replicas at a broker."""
        return self._total[node]

    def load(self, topic: str, node: int) -> int:
        """Number of a topic's replicas at a broker."""
        return len(self._here.get((topic, node), ()))

    def leads_total(self, node: int) -> int:
        """Number of partitions whose preferred leader is the broker."""
        return self._leads_total[node]

    def leads(self, topic: str, node: int) -> int:
        """Number of a topic's partitions whose preferred leader is the broker."""
        return len(self._led.get((topic, node), ()))

    def racks(self, at: TopicPartition) -> dict[str, int]:
        """Number of a partition's replicas in each rack; empty if racks are unknown."""
        counts = {rack: 0 for rack in self._racks.values() if rack is not None}
        for node in self.replicas[at]:
            rack = self._racks[node]
            if rack is not None:
                counts[rack] += 1
        return counts

    def rack_mates(self, at: TopicPartition, node: int) -> int:
        """Number of a partition's replicas in a broker's rack."""
        rack = self._racks[node]
        return 0 if rack is None else sum(self._racks[replica] == rack for replica in self.replicas[at])

    def in_rack(self, rack: str) -> list[int]:
        """The brokers of a rack."""
        return [node for node in self.brokers if self._racks[node] == rack]

    # -- changes ------------------------------------------------------------------------------------------------------

    def add(self, at: TopicPartition, node: int) -> None:
        """Append a replica."""
        self._put(at, [*self.replicas[at], node])

    def drop(self, at: TopicPartition, node: int) -> None:
        """Remove a replica."""
        self._put(at, [replica for replica in self.replicas[at] if replica != node])

    def move(self, at: TopicPartition, a: int, b: int) -> None:
        """Move a replica from `a` to `b`, at the same position in the order."""
        self._put(at, [b if replica == a else replica for replica in self.replicas[at]])

    def lead(self, at: TopicPartition, a: int, b: int) -> None:
        """Make `b` the preferred leader instead of `a`."""
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

    # -- candidates ---------------------------------------------------------------------------------------------------

    def movable(self, topic: str, a: int, b: int) -> TopicPartition | None:
        """Return the topic's partition whose replica at `a` is best moved to `b`: one that was at `b` before, or came
        to `a` in this plan, else the smallest, and not a leader if possible. None if racks or replicas rule out all."""
        some = self._here.get((topic, a), set()) - self._here.get((topic, b), set())
        near = self._racks[a] == self._racks[b]
        fit = [at for at in some if near or self.rack_mates(at, b) < self.rack_mates(at, a)]
        return min(fit, key=lambda at: self._cost(at, a, b), default=None)

    def _cost(self, at: TopicPartition, a: int, b: int) -> tuple[bool, bool, int, bool, TopicPartition]:
        before = self._current[at]
        return b not in before, a in before, self._sizes.get(at, 0), self.replicas[at][0] == a, at

    def passable(self, topic: str, a: int, b: int) -> TopicPartition | None:
        """Return a partition of a topic that `a` leads and `b` could lead: preferably one that `b` led before or `a`
        did not."""
        some = self._led.get((topic, a), set()) & self._here.get((topic, b), set())
        return min(some, key=lambda at: (self._current[at][0] != b, self._current[at][0] == a, at), default=None)

    def cheapest(self, some: Iterable[TopicPartition], a: int, b: int) -> TopicPartition | None:
        """Return the candidate whose topic gains most."""
        gain = {at: self.load(at.topic, b) - self.load(at.topic, a) for at in some}
        return min(gain, key=lambda at: (gain[at], self._cost(at, a, b)), default=None)


def _keep(some: set[TopicPartition], at: TopicPartition, by: int) -> None:
    if by > 0:
        some.add(at)
    else:
        some.discard(at)
