"""Kafka's two assignors of KIP-848 groups."""

from __future__ import annotations

from collections.abc import Mapping

ASSIGNORS = ("uniform", "range")
"""The first one is the default."""
Place = tuple[bytes, int]  # topic id, partition
Shares = dict[str, set[Place]]


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
