"""A balanced placement of partitions that moves as little as it can.

Four steps, each of which keeps what the one before it reached: replicas that may stay do, and missing ones are filled
in; they are spread over racks; the numbers per broker come to differ by one at most where racks allow it, and crowded
topics are thinned out; then replicas change their order, which moves no data, until preferred leaders are even as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice, pairwise

from kcli.admin.reassign.placement import Board
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
