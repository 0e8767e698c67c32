"""Sticky assignment: balanced first, then as few moves as possible. The same results as Kafka's own (E50).

Two algorithms: this file's for groups in which all members subscribe to the same topics, `sticky_general`'s for the
rest. A partition that two members of the same generation claim belongs to neither; else the newest generation wins
(E51). Three inputs have another result than in Java 4.3, whose result would be wrong: owned partitions that do not
exist are ignored, a member without a subscription never gets a partition, and a partition returns to an earlier owner
only if that one still subscribes to the topic (Java returns it all the same, or ends in a NullPointerException).
"""

from __future__ import annotations

from kcli.consumer.classic.claims import Claims, Past
from kcli.consumer.classic.java_hash import hash_order, string_hash, text_order
from kcli.consumer.classic.racks import Racks
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.consumer.classic.claims import Assignment
    from kcli.consumer.classic.racks import Layout
    from kcli.proto.consumer_protocol import Subscription


def assign_sticky(
    layout: Layout, members: Mapping[str, Subscription], pasts: Mapping[str, Past]
) -> tuple[Assignment, dict[TopicPartition, str] | None]:
    """The assignment, and which partitions move to which member: None if the caller must compare. `layout` and
    `members` are in the order in which Java's HashMaps yield them."""
    claims = Claims(layout, members, pasts)
    racks = Racks(layout, members)
    wanted = [set(member.topics) for member in members.values()]
    if all(topics == wanted[0] for topics in wanted):
        build = _Constrained(layout, racks, claims)
        return build.build(), build.moving
    from kcli.consumer.classic.sticky_general import General

    return General(layout, racks, claims, members, pasts).build(), None


class _Constrained:
    """All members have the same subscription, so each gets `floor` or `floor + 1` partitions. Keep what is owned within
    that, then deal out the rest in turn; first within racks, if those matter."""

    def __init__(self, layout: Layout, racks: Racks, claims: Claims) -> None:
        self._racks = racks
        self._disputed = claims.disputed
        self._owned = {name: claims.owned[name] for name in hash_order(claims.owned, string_hash)}
        self._all = [TopicPartition(t, n) for t in sorted(layout, key=text_order) for n in range(len(layout[t]))]
        self._floor, self._extra = divmod(len(self._all), len(self._owned))
        self._ceiling = self._floor + (self._extra > 0)
        self._above = 0  # members with more than the floor
        self._hungry: list[str] = []  # members below the floor
        self._content: list[str] = []  # members at the floor that may still get one more
        self._given: Assignment = {name: [] for name in self._owned}
        self._lost: dict[TopicPartition, str] = {}  # the member that must give it up
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
        """Let a member keep what it owns, as far as its share goes."""
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
        """Deal what can be dealt within racks; what cannot is returned."""
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
        """In turn to the hungry until all have the floor, then one each to the content."""
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
