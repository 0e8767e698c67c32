"""Sticky assignment: balanced first, then with as few moves as possible. Same results as Kafka's own assignors.

There are two algorithms: `_Constrained` for groups in which all members subscribe to the same topics, `General` for the
rest. A partition that two members of the same generation claim belongs to neither; otherwise the newest generation
wins. Three inputs give a different result than Java 4.3, whose result would be wrong: owned partitions that do not
exist are ignored, a member without a subscription never gets a partition, and a partition returns to an earlier owner
only if that member still subscribes to the topic (Java returns it anyway, or throws a NullPointerException).
"""

from __future__ import annotations

from bisect import bisect_left, insort

from kcli.consumer.classic.claims import Claims, Past, Racks
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import NO_GENERATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from kcli.consumer.classic.claims import Assignment, Layout
    from kcli.proto.consumer_protocol import Subscription

    K = TypeVar("K")


def assign_sticky(
    layout: Layout, members: Mapping[str, Subscription], pasts: Mapping[str, Past]
) -> tuple[Assignment, dict[TopicPartition, str] | None]:
    """Return the assignment, and which partitions move to which member (None if the caller has to compare). `layout`
    and `members` are in the order in which Java's HashMaps iterate over them."""
    claims = Claims(layout, members, pasts)
    racks = Racks(layout, members)
    wanted = [set(member.topics) for member in members.values()]
    if all(topics == wanted[0] for topics in wanted):
        build = _Constrained(layout, racks, claims)
        return build.build(), build.moving
    return General(layout, racks, claims, members, pasts).build(), None


class _Constrained:
    """Assignment if all members have the same subscription, so that each gets `floor` or `floor + 1` partitions. Owned
    partitions are kept within that limit; the rest is assigned in turn, first within racks if racks matter."""

    def __init__(self, layout: Layout, racks: Racks, claims: Claims) -> None:
        self._racks = racks
        self._disputed = claims.disputed
        self._owned = {name: claims.owned[name] for name in hash_order(claims.owned, string_hash)}
        self._all = [TopicPartition(t, n) for t in sorted(layout, key=text_order) for n in range(len(layout[t]))]
        self._floor, self._extra = divmod(len(self._all), len(self._owned))
        self._ceiling = self._floor + (self._extra > 0)
        self._above = 0  # members with more than the floor
        self._hungry: list[str] = []  # members below the floor
        self._content: list[str] = []  # members at the floor that may get one more
        self._given: Assignment = {name: [] for name in self._owned}
        self._lost: dict[TopicPartition, str] = {}  # partitions to revoke, and their owners
        self.moving: dict[TopicPartition, str] = {}

    def build(self) -> Assignment:
        for name in self._owned:
            self._keep(name)
        kept = {at for given in self._given.values() for at in given}
        self._hungry.sort(key=text_order)
        self._content.sort(key=text_order)
        rest = self._racks.scarcest_first([at for at in self._all if at not in kept])
        if self._racks.consumers:
            rest = self._deal_within_racks(rest)
        self._deal(rest)
        return self._given

    def _keep(self, name: str) -> None:
        """Let a member keep what it owns, up to its quota."""
        mine = []
        for at in self._owned[name]:
            if self._racks.mismatch(name, at):
                self._lost[at] = name
            elif at not in self._disputed:
                mine.append(at)
        mine.sort(key=lambda at: (at.partition, text_order(at.topic)))
        if len(mine) < self._floor:
            self._given[name] += mine
            self._hungry.append(name)
            return
        share = self._floor
        if len(mine) >= self._ceiling and self._above < self._extra:
            share = self._ceiling
            self._above += 1
            if self._above == self._extra:
                self._content.clear()
        elif self._above < self._extra:
            self._content.append(name)
        self._given[name] += mine[:share]
        for at in mine[share:]:
            self._lost[at] = name

    def _deal_within_racks(self, rest: list[TopicPartition]) -> list[TopicPartition]:
        """Assign partitions within racks; return the rest."""
        left = []
        turn = 0
        for at in rest:
            place = self._racks.next_match(at, self._hungry, turn)
            if place >= 0:
                name = self._hungry[place]
                count = len(self._given[name]) + 1
                if count >= self._floor:
                    del self._hungry[place]
                    if count < self._ceiling and self._above < self._extra:
                        self._content.append(name)
                else:
                    place += 1
                turn = place % len(self._hungry) if self._hungry else 0
                self._give(at, name)
                continue
            place = self._racks.next_match(at, self._content, 0)
            if place < 0:
                left.append(at)
                continue
            name = self._content[place]
            if len(self._given[name]) + 1 == self._ceiling:
                del self._content[place]
                self._above += 1
                if self._above == self._extra:
                    self._content.clear()
            self._give(at, name)
        return left

    def _deal(self, rest: list[TopicPartition]) -> None:
        """Assign in turn to members below the floor, then one each to members at the floor."""
        turn = 0
        for at in rest:
            if self._hungry:
                turn = turn if turn < len(self._hungry) else 0
                name = self._hungry[turn]
                if self._give(at, name) == self._floor:
                    del self._hungry[turn]
                    self._content.append(name)
                else:
                    turn += 1
            else:
                self._give(at, self._content.pop(0))

    def _give(self, at: TopicPartition, name: str) -> int:
        self._given[name].append(at)
        if self._lost.get(at, name) != name or at in self._disputed:
            self.moving[at] = name
        return len(self._given[name])


class Moves:
    """Partitions moved so far, by topic and (from, to). If a move would go back along a pair that was already used, the
    partition that moved the other way returns instead, so that more partitions keep their owner."""

    def __init__(self) -> None:
        self._pair: dict[TopicPartition, tuple[str, str]] = {}
        self._moved: dict[tuple[str, str, str], _HashSet] = {}

    def note(self, at: TopicPartition, source: str, target: str) -> None:
        earlier = self._pair.pop(at, None)
        if earlier is not None:
            key = (at.topic, *earlier)
            self._moved[key].remove(at)
            if not self._moved[key]:
                del self._moved[key]
            source = earlier[0]
            if source == target:
                return
        self._pair[at] = (source, target)
        self._moved.setdefault((at.topic, source, target), _HashSet()).add(at)

    def instead(self, at: TopicPartition, source: str, target: str) -> TopicPartition:
        """Return the partition to move when `at` should move from `source` to `target`."""
        if at in self._pair:
            source = self._pair[at][0]
        reverse = self._moved.get((at.topic, target, source))
        return at if reverse is None else reverse.first()


class _HashSet:
    """A set of partitions whose first element is the first one in Java's HashSet."""

    def __init__(self) -> None:
        self._members: dict[TopicPartition, None] = {}
        self._table = 16

    def __bool__(self) -> bool:
        return bool(self._members)

    def add(self, at: TopicPartition) -> None:
        self._members[at] = None
        if len(self._members) * 4 > self._table * 3:
            self._table *= 2

    def remove(self, at: TopicPartition) -> None:
        del self._members[at]

    def first(self) -> TopicPartition:
        return hash_order(self._members, partition_hash, self._table)[0]


class ByLoad:
    """Members sorted by number of partitions, then by name. Remove a member before its number changes."""

    def __init__(self, given: Assignment) -> None:
        self._given = given
        self._order: list[tuple[int, bytes, str]] = []

    def __iter__(self) -> Iterator[str]:
        return (name for _, _, name in self._order)

    def _key(self, name: str) -> tuple[int, bytes, str]:
        return len(self._given[name]), text_order(name), name

    def add(self, name: str) -> None:
        insort(self._order, self._key(name))

    def remove(self, name: str) -> None:
        place = bisect_left(self._order, self._key(name))
        if place < len(self._order) and self._order[place][2] == name:
            del self._order[place]

    def spread(self) -> int:
        """The largest number of partitions minus the smallest."""
        return self._order[-1][0] - self._order[0][0]


class General:
    """Assignment in the general case."""

    def __init__(
        self,
        layout: Layout,
        racks: Racks,
        claims: Claims,
        members: Mapping[str, Subscription],
        pasts: Mapping[str, Past],
    ) -> None:
        self._layout = layout
        self._racks = racks
        self._members = members
        self._wants = {name: [t for t in dict.fromkeys(m.topics) if t in layout] for name, m in members.items()}
        self._readers: dict[str, list[str]] = {topic: [] for topic in layout}
        for name, topics in self._wants.items():
            for topic in topics:
                self._readers[topic].append(name)
        self._given: Assignment = {name: claims.owned[name] for name in hash_order(claims.owned, string_hash)}
        self._owner = {at: name for name, given in self._given.items() for at in given}
        topics = sorted(layout, key=lambda topic: (len(self._readers[topic]), text_order(topic)))
        self._all = [TopicPartition(topic, number) for topic in topics for number in range(len(layout[topic]))]
        self._loads = ByLoad(self._given)
        self._moves = Moves()
        self._must_revoke = False
        self._before = _previous(members, pasts, claims.newest)

    def build(self) -> Assignment:
        kept = self._keep()
        rest = [at for at in self._all if at not in kept]
        for name in self._given:
            self._loads.add(name)
        starting = not any(self._given.values())
        if self._racks.consumers:
            rest_within = [at for at in rest if not self._hand_out(at, within_rack=True)]
            for at in rest_within:
                self._hand_out(at, within_rack=False)
        else:
            for at in rest:
                self._hand_out(at, within_rack=False)
        self._balance(rest, starting)
        return self._given

    def _keep(self) -> set[TopicPartition]:
        """Remove owned partitions that a member must not keep; return the others."""
        kept: set[TopicPartition] = set()
        for name, given in self._given.items():
            wanted = set(self._wants[name])
            staying = [at for at in given if at.topic in wanted and not self._racks.mismatch(name, at)]
            self._must_revoke |= len(staying) < len(given)
            given[:] = staying
            kept.update(staying)
        return kept

    def _hand_out(self, at: TopicPartition, *, within_rack: bool) -> bool:
        """Give `at` to the subscriber with the fewest partitions."""
        for name in self._loads:
            if at.topic in self._wants[name] and not (within_rack and self._racks.mismatch(name, at)):
                self._loads.remove(name)
                self._given[name].append(at)
                self._owner[at] = name
                self._loads.add(name)
                return True
        return False

    def _balance(self, rest: list[TopicPartition], starting: bool) -> None:
        """Move partitions from members with many to members with few, where moves are possible."""
        movable = {topic for topic, readers in self._readers.items() if len(readers) >= 2}
        everything = [at for at in self._all if at.topic in movable]
        fixed = {name: self._given[name] for name in self._members if not self._can_change(name, movable)}
        for name in fixed:
            self._loads.remove(name)
            del self._given[name]
        earlier = {name: list(given) for name, given in self._given.items()}
        if not self._must_revoke:  # first try with the unowned ones only
            self._move([at for at in rest if at.topic in movable])
        moved = self._move(everything)
        if not starting and moved and _unevenness(self._given) >= _unevenness(earlier):
            self._given.clear()
            self._given.update(earlier)
        self._given.update(fixed)

    def _can_change(self, name: str, movable: set[str]) -> bool:
        given = self._given[name]
        return len(given) < self._most(name) or any(at.topic in movable for at in given)

    def _most(self, name: str) -> int:
        return sum(len(self._layout[topic]) for topic in self._wants[name])

    def _balanced(self) -> bool:
        """Whether no member can take a partition from one that has at least two more."""
        if self._loads.spread() <= 1:
            return True
        for name in self._loads:
            count = len(self._given[name])
            if count == self._most(name):
                continue
            for topic in self._wants[name]:
                for number in range(len(self._layout[topic])):
                    owner = self._owner[TopicPartition(topic, number)]
                    if owner != name and count + 1 < len(self._given[owner]):
                        return False
        return True

    def _move(self, partitions: list[TopicPartition]) -> bool:
        """Repeat until nothing improves; return whether anything moved."""
        moved = False
        while True:
            again = False
            for at in partitions:
                if self._balanced():
                    break
                target = self._better(at)
                if target is not None:
                    self._reassign(at, target)
                    moved = again = True
            if not again:
                return moved

    def _better(self, at: TopicPartition) -> str | None:
        """Return the member that should get `at` instead: its former owner if that helps, else the one with the
        fewest."""
        load = len(self._given[self._owner[at]])
        old = self._before.get(at)
        if old is not None and old in self._readers[at.topic] and load > len(self._given[old]) + 1:
            return old
        if any(load > len(self._given[other]) + 1 for other in self._readers[at.topic]):
            return next(name for name in self._loads if at.topic in self._wants[name])
        return None

    def _reassign(self, at: TopicPartition, target: str) -> None:
        at = self._moves.instead(at, self._owner[at], target)
        source = self._owner[at]
        self._loads.remove(source)
        self._loads.remove(target)
        self._moves.note(at, source, target)
        self._given[source].remove(at)
        self._given[target].append(at)
        self._owner[at] = target
        self._loads.add(target)
        self._loads.add(source)


def _previous(members: Iterable[str], pasts: Mapping[str, Past], newest: int) -> dict[TopicPartition, str]:
    """Return each partition's owner in the latest generation before the newest."""
    owners: dict[TopicPartition, tuple[int, str]] = {}
    for name in members:
        past = pasts[name]
        generation = NO_GENERATION if past.generation is None else past.generation
        if generation < newest:
            for at in past.partitions:
                if at not in owners or generation > owners[at][0]:
                    owners[at] = (generation, name)
    return {at: name for at, (_, name) in owners.items()}


def _unevenness(given: Mapping[str, list[TopicPartition]]) -> int:
    """Return the sum of the differences in load over all pairs of members."""
    loads = sorted(map(len, given.values()))
    return sum(load * (2 * place - len(loads) + 1) for place, load in enumerate(loads))


# The iteration order of a Java HashMap.
#
# Kafka's own assignors iterate over HashMaps, so the owner of some partitions depends on that order, and a group may be
# led by a Java client at one time and by kcli at another. Not reproduced: buckets that Java turned into trees (eight
# colliding keys in a table of 64 or more).


def string_hash(text: str) -> int:
    """`String.hashCode()`, unsigned: over UTF-16 code units."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return value


def partition_hash(at: TopicPartition) -> int:
    """`TopicPartition.hashCode()`, unsigned."""
    return (31 * (31 + at.partition) + string_hash(at.topic)) & 0xFFFFFFFF


def text_order(text: str) -> bytes:
    """Return the sort key of `String.compareTo`: UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def hash_order(keys: Iterable[K], hashed: Callable[[K], int], capacity: int = 16) -> list[K]:
    """Return `keys`, given in insertion order, in the iteration order of a HashMap. `capacity` is its initial table
    size."""
    kept = list(dict.fromkeys(keys))
    size = capacity
    while len(kept) * 4 > size * 3:
        size *= 2

    def bucket(key: K) -> int:
        value = hashed(key)
        return (value ^ value >> 16) & (size - 1)

    return sorted(kept, key=bucket)
