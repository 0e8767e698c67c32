"""The assignors of classic groups: range, roundrobin, sticky and cooperative-sticky, with the same results as Java's.

A group may be led by a Java client at one time and by kcli at another. If their assignments differed, every change of
leader would move partitions, so even the iteration order of Java's hash maps is reproduced.
"""

from __future__ import annotations

from kcli.consumer.classic.claims import worth_it
from kcli.consumer.classic.sticky import hash_order, string_hash, text_order
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import decode_generation, decode_sticky

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.consumer.classic.claims import Assignment, Layout, Past
    from kcli.proto.consumer_protocol import Subscription

COOPERATIVE = frozenset({"cooperative-sticky"})
"""The assignors with which members keep their partitions through a rebalance (KIP-429)."""


def assign(name: str, layout: Layout, members: Mapping[str, Subscription]) -> Assignment:
    """Return the partitions of each member. `members` by member id, in the order of the JoinGroup response; `layout`
    holds the existing topics. Raises UsageError for an unknown assignor."""
    assignor = ASSIGNORS.get(name)
    if assignor is None:
        raise UsageError(f"unknown assignor {name!r}; known: {', '.join(ASSIGNORS)}")
    ordered = {member: members[member] for member in hash_order(members, string_hash)}
    wanted = hash_order((topic for member in ordered.values() for topic in member.topics), string_hash)
    topics = hash_order((topic for topic in wanted if layout.get(topic)), string_hash)
    return assignor({topic: layout[topic] for topic in topics}, ordered)


def _sorted_members(members: Mapping[str, Subscription]) -> list[str]:
    """Sort static members first, by instance id, then the others by member id (KIP-345)."""

    def order(name: str) -> tuple[bool, bytes]:
        instance = members[name].instance_id
        return instance is None, text_order(name if instance is None else instance)

    return sorted(members, key=order)


# -- round robin ---


def _roundrobin(layout: Layout, members: Mapping[str, Subscription]) -> Assignment:
    """Assign all partitions of all topics in turn to their subscribers."""
    given: Assignment = {name: [] for name in members}
    ring = _sorted_members(members)
    turn = 0
    for topic in sorted(layout, key=text_order):
        for number in range(len(layout[topic])):
            while topic not in members[ring[turn]].topics:
                turn = (turn + 1) % len(ring)
            given[ring[turn]].append(TopicPartition(topic, number))
            turn = (turn + 1) % len(ring)
    return given


# -- range ---


class _Range:
    """The assignment of one topic: consecutive partitions to members in order; the first members get one more."""

    def __init__(self, topic: str, racks: list[set[str]], members: dict[str, str | None]) -> None:
        self.topic = topic
        self.members = members  # rack by name, in order
        self._racks = racks
        self._free = dict.fromkeys(range(len(racks)))
        self._count = dict.fromkeys(members, 0)
        self._share, self._extra = divmod(len(racks), len(members))
        own = {rack for rack in members.values() if rack}
        places = {TopicPartition(topic, number): where for number, where in enumerate(racks)}
        self.rack_aware = bool(own) and worth_it(own, places)

    @property
    def size(self) -> int:
        """Number of partitions that co-partitioning considers; as in Java, none if no member has a rack."""
        return len(self._racks) if any(self.members.values()) else 0

    def room(self, name: str) -> int:
        return max(0, self._share + (self._extra > 0) - self._count[name])

    def matches(self, name: str, number: int) -> bool:
        rack = self.members[name]
        return rack is None or rack in self._racks[number]

    def give(self, name: str, numbers: list[int], given: Assignment) -> None:
        given[name] += [TopicPartition(self.topic, number) for number in numbers]
        self._count[name] += len(numbers)
        if self._count[name] > self._share:
            self._extra -= 1
        for number in numbers:
            del self._free[number]

    def deal(self, given: Assignment, *, within_racks: bool) -> None:
        for name in self.members:
            free = [number for number in self._free if not within_racks or self.matches(name, number)]
            if share := free[: self.room(name)]:
                self.give(name, share, given)


def _range(layout: Layout, members: Mapping[str, Subscription]) -> Assignment:
    """Assign topic by topic, so that equal partition numbers of equally sized topics go to the same member."""
    given: Assignment = {name: [] for name in members}
    ordered = _sorted_members(members)
    topics = []
    for topic, places in layout.items():
        readers = {name: members[name].rack for name in ordered if topic in members[name].topics}
        topics.append(_Range(topic, [set(racks) for racks in places], readers))
    aware = any(topic.rack_aware for topic in topics)
    if aware:
        _deal_within_racks(topics, given)
    for dealt in topics:
        dealt.deal(given, within_racks=False)
    if aware:
        for partitions in given.values():
            partitions.sort(key=lambda at: (text_order(at.topic), at.partition))
    return given


def _deal_within_racks(topics: list[_Range], given: Assignment) -> None:
    """Assign within racks as far as the quotas allow; topics with the same subscribers and size stay aligned
    (KIP-881)."""
    alike: dict[tuple[tuple[tuple[str, str | None], ...], int], list[_Range]] = {}
    for topic in topics:
        readers = tuple(sorted(topic.members.items(), key=lambda pair: pair[0]))
        alike.setdefault((readers, topic.size), []).append(topic)
    for (_, size), group in alike.items():
        if len(group) > 1:
            _deal_aligned(group, size, given)
        elif group[0].rack_aware:
            group[0].deal(given, within_racks=True)


def _deal_aligned(group: list[_Range], size: int, given: Assignment) -> None:
    """Assign partition n of every topic of the group to one member whose rack has all of them."""
    remaining = list(group[0].members)
    for number in range(size):
        for name in remaining:
            if all(topic.matches(name, number) and topic.room(name) > 0 for topic in group):
                break
        else:
            continue
        for topic in group:
            topic.give(name, [number], given)
        if not any(topic.room(name) > 0 for topic in group):
            remaining.remove(name)
            if not remaining:
                break


# -- sticky ---


def _sticky(layout: Layout, members: Mapping[str, Subscription]) -> Assignment:
    """Assign with the eager protocol: former partitions come from the user data, because an eager member owns nothing
    while it joins."""
    from kcli.consumer.classic.claims import Past
    from kcli.consumer.classic.sticky import assign_sticky

    def past(member: Subscription) -> Past:
        return Past(*decode_sticky(member.user_data)) if member.user_data else Past([], None)

    return assign_sticky(layout, members, {name: past(member) for name, member in members.items()})[0]


def _cooperative_past(member: Subscription) -> Past:
    """Return the former partitions. The generation is a field in protocol v2; before that it is in the user data."""
    from kcli.consumer.classic.claims import Past

    if member.generation >= 0:
        return Past(member.owned, member.generation)
    return Past(member.owned, None if member.user_data is None else decode_generation(member.user_data))


def _cooperative_sticky(layout: Layout, members: Mapping[str, Subscription]) -> Assignment:
    """Like sticky, but a partition that moves stays unassigned until its owner has revoked it (KIP-429)."""
    from kcli.consumer.classic.sticky import assign_sticky

    pasts = {name: _cooperative_past(member) for name, member in members.items()}
    given, moving = assign_sticky(layout, members, pasts)
    if moving is None:
        owned = {name: set(member.owned) for name, member in members.items()}
        revoked = {at for name in given for at in owned[name] - set(given[name])}
        moving = {at: name for name, share in given.items() for at in share if at in revoked - owned[name]}
    for at, name in moving.items():
        given[name].remove(at)
    return given


ASSIGNORS: dict[str, Callable[[Layout, Mapping[str, Subscription]], Assignment]] = {
    "range": _range,
    "roundrobin": _roundrobin,
    "sticky": _sticky,
    "cooperative-sticky": _cooperative_sticky,
}
