"""A member of a KIP-848 group, as its coordinator knows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from kcli.model import TopicPartition
from kcli.proto.messages.join_group import JoinGroupRequest
from kcli.sandbox.cluster.topics import Topics

SESSION_END, REVOKED_BY, JOIN_BY, SYNC_BY = "session", "revoke", "join", "sync"
"""What a member has time for: its next heartbeat, what it gives up, and the two requests of the classic protocol."""
ASSIGNORS = ("uniform", "range")
"""The first one is the default."""
Place = tuple[bytes, int]  # topic id, partition
Shares = dict[str, set[Place]]


class ConsumerMember:
    """`assigned` is what it may own, `revoking` what it has yet to give up, `owned` what it last said it owns.
    `classic` is the last JoinGroup of a member that uses the classic protocol, None for one of KIP-848."""

    def __init__(self, member_id: str, client_id: str, host: str) -> None:
        self.id, self.client_id, self.host = member_id, client_id, host
        self.instance_id: str | None = None
        self.rack: str | None = None
        self.assignor: str | None = None
        self.topics: list[str] = []
        self.regex = ""
        self.epoch = self.previous = 0
        self.rebalance_timeout = 60.0
        self.assigned: set[Place] = set()
        self.revoking: set[Place] = set()
        self.owned: set[Place] = set()
        self.sent_assignment: set[Place] | None = None
        self.classic: JoinGroupRequest | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start_timer(self, name: str, seconds: float, then: Callable[[ConsumerMember], None]) -> None:
        """Call `then` with this member after `seconds`, unless the timer of that name is started anew or stopped."""
        self.stop_timer(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, then, self)

    def waits_for(self, name: str) -> bool:
        """Whether the timer of that name runs."""
        return name in self._timers

    def stop_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop_timers(self) -> None:
        for name in list(self._timers):
            self.stop_timer(name)


def places(topics: Topics, partitions: Iterable[TopicPartition]) -> set[Place]:
    """The partitions by topic id, without those of deleted topics."""
    known = topics.by_name
    return {(known[each.topic].id, each.partition) for each in partitions if each.topic in known}


def named(topics: Topics, found: Iterable[Place]) -> list[TopicPartition]:
    """The partitions by topic name, without those of deleted topics."""
    known = topics.by_id
    return [TopicPartition(known[topic_id].name, number) for topic_id, number in found if topic_id in known]


def share_out(
    name: str, wanted: Mapping[str, frozenset[bytes]], counts: Mapping[bytes, int], before: Mapping[str, set[Place]]
) -> Shares:
    """`wanted` are the topics of each member, `counts` their partitions, `before` the shares until now."""
    return _range(wanted, counts) if name == "range" else _uniform(wanted, counts, before)


def _range(wanted: Mapping[str, frozenset[bytes]], counts: Mapping[bytes, int]) -> Shares:
    shares: Shares = {member: set() for member in wanted}
    for topic, count in counts.items():
        members = sorted(member for member, topics in wanted.items() if topic in topics)
        for rank, member in enumerate(members):
            each, over = divmod(count, len(members))
            first = rank * each + min(rank, over)  # the first ones have one more
            shares[member].update((topic, partition) for partition in range(first, first + each + (rank < over)))
    return shares


def _uniform(
    wanted: Mapping[str, frozenset[bytes]], counts: Mapping[bytes, int], before: Mapping[str, set[Place]]
) -> Shares:
    """As even as the subscriptions allow, and what can stay stays."""
    there = {(topic, partition) for topic, count in counts.items() for partition in range(count)}
    shares = {
        member: {place for place in before.get(member, ()) if place in there and place[0] in topics}
        for member, topics in wanted.items()
    }
    for place in sorted(there.difference(*shares.values())):
        readers = [member for member, topics in wanted.items() if place[0] in topics]
        if readers:
            shares[min(readers, key=lambda member: (len(shares[member]), member))].add(place)
    while (move := _uneven(wanted, shares)) is not None:
        place, giver, taker = move
        shares[giver].remove(place)
        shares[taker].add(place)
    return shares


def _uneven(wanted: Mapping[str, frozenset[bytes]], shares: Shares) -> tuple[Place, str, str] | None:
    """A partition that would be better with another member."""
    for taker in sorted(shares, key=lambda member: len(shares[member])):
        for giver in sorted(shares, key=lambda member: -len(shares[member])):
            if len(shares[giver]) - len(shares[taker]) < 2:
                break
            for place in sorted(shares[giver], reverse=True):
                if place[0] in wanted[taker]:
                    return place, giver, taker
    return None
