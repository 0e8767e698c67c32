"""A balanced placement of partitions that moves as little as it can.

Four steps, each of which keeps what the one before it reached: replicas that may stay do, and missing ones are filled
in; they are spread over racks; the numbers per broker come to differ by one at most where racks allow it, and crowded
topics are thinned out; then replicas change their order, which moves no data, until preferred leaders are even as well.
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
"""Shifts for each partition after which an even placement is given up; a few are the rule."""
FEW = 16
"""Candidates that are compared where every topic has some."""


class Wish(Value):
    """Where replicas may be: brokers with their racks (None: racks do not matter). `replication` None keeps each
    partition's own. Without `even` only what has to move does."""

    brokers: dict[int, str | None] = field(factory=dict)
    replication: int | None = None
    even: bool = True


def plan(current: Assignment, wish: Wish, sizes: Mapping[TopicPartition, int]) -> Assignment:
    """The replicas of each partition, the preferred leader first; most stay in place. `sizes` is bytes: of two that
    could move the smaller does. Raises UsageError for more replicas than brokers."""
    current = {at: list(dict.fromkeys(brokers)) for at, brokers in current.items()}  # a broker named twice has one
    counts = {at: wish.replication or len(brokers) for at, brokers in current.items()}
    most = max(counts.values(), default=0)
    if most > len(wish.brokers):
        raise UsageError(f"{most} replicas need as many brokers, and there are {len(wish.brokers)} to use")
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
    """Which replica is given up: never the preferred leader."""
    return max(
        board.replicas[at][1:],
        key=lambda node: (board.rack_mates(at, node), board.load(at.topic, node), board.total(node), node),
    )


def _vacant(board: Board, at: TopicPartition) -> int:
    """Where a new replica goes."""
    free = [node for node in board.brokers if node not in board.replicas[at]]
    return min(free, key=lambda node: (board.rack_mates(at, node), board.load(at.topic, node), board.total(node), node))


def _spread_over_racks(board: Board, at: TopicPartition) -> None:
    """Until no rack has two replicas more than another that has room."""
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
    """A topic by itself only where it is crowded: replicas of many topics that are even together need not all move
    because each topic by itself could be a little better."""
    for topic in board.topics:
        loads = [board.load(topic, node) for node in board.brokers]
        if max(loads) > -(-sum(loads) // len(loads)) + 1:
            _even(board, _of(board.load, topic), _between(board.movable, topic), board.move)

    def any_topic(a: int, b: int) -> TopicPartition | None:
        """A move that leaves its topic as even as it is, or makes it more so."""
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
    """Shift one from a broker to another that has at least two less, over others in between where there is no direct
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
        for a, b in reversed(list(pairwise(way))):  # the far end first: no broker is fuller in between
            at = pick(a, b)
            if at is None:  # a hop further on took what this one had counted on
                stuck.add(begin)
                break
            act(at, a, b)


def _way(board: Board, begin: int, load: Load, pick: Pick) -> list[int] | None:
    """The shortest way along which something can go to a broker that has at least two less."""
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
