"""The partitions that members claim to have owned, and which claims count."""

from __future__ import annotations

from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import NO_GENERATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kcli.proto.consumer_protocol import Subscription

    Assignment = dict[str, list[TopicPartition]]
    Layout = Mapping[str, Sequence[Collection[str]]]
    """Topic to the racks of each partition's replicas (empty if unknown)."""


class Past:
    """A member's former partitions and the generation in which it owned them; None if it did not report them."""

    __slots__ = ("generation", "partitions")

    def __init__(self, partitions: list[TopicPartition], generation: int | None) -> None:
        self.partitions = partitions
        self.generation = generation


class Claims:
    """The former partitions of all members, with conflicts resolved. `members` is in Java's order."""

    def __init__(self, layout: Layout, members: Mapping[str, Subscription], pasts: Mapping[str, Past]) -> None:
        self.newest = NO_GENERATION
        self.owned: Assignment = {}
        self.disputed: set[TopicPartition] = set()
        self._owner: dict[TopicPartition, str] = {}
        for name in members:
            past = pasts[name]
            generation = NO_GENERATION if past.generation is None else past.generation
            self.newest = max(self.newest, generation)
            self.owned[name] = []
            for at in past.partitions:
                if at.partition < len(layout.get(at.topic, ())):
                    self._claim(name, generation, at, members)

    def _claim(self, name: str, generation: int, at: TopicPartition, members: Mapping[str, Subscription]) -> None:
        other = self._owner.get(at)
        if other is None:
            self.owned[name].append(at)
            self._owner[at] = name
            return
        # As in Java, the other member's generation is taken from its subscription, not from its user data.
        theirs = members[other].generation
        if generation < theirs:
            return
        if at in self.owned[other]:
            self.owned[other].remove(at)
        self._owner[at] = name
        if generation == theirs:
            self.disputed.add(at)
        else:
            self.owned[name].append(at)


def worth_it(consumer_racks: set[str], partition_racks: Mapping[TopicPartition, set[str]]) -> bool:
    """Whether racks can make a difference: some consumer shares a rack with some replica, and not every partition is in
    every rack."""
    everywhere: set[str] = set().union(*partition_racks.values())
    return not consumer_racks.isdisjoint(everywhere) and any(racks != everywhere for racks in partition_racks.values())


class Racks:
    """The racks of consumers and partitions; both empty if racks make no difference."""

    def __init__(self, layout: Layout, members: Mapping[str, Subscription]) -> None:
        by_rack: dict[str, int] = {}
        consumers = {name: member.rack for name, member in members.items() if member.rack}
        for rack in consumers.values():
            by_rack[rack] = by_rack.get(rack, 0) + 1
        partitions: dict[TopicPartition, set[str]] = {}
        if consumers:
            for topic, places in layout.items():
                for number, racks in enumerate(places):
                    partitions[TopicPartition(topic, number)] = set(racks)
        useful = bool(consumers) and worth_it(set(by_rack), partitions)
        self.consumers: dict[str, str] = consumers if useful else {}
        self.partitions: dict[TopicPartition, set[str]] = partitions if useful else {}
        # As in Java, this is counted even if racks are not used otherwise, because it affects the order.
        self._readers = {at: sum(by_rack.get(rack, 0) for rack in racks) for at, racks in partitions.items()}

    def mismatch(self, consumer: str, at: TopicPartition) -> bool:
        """Whether `consumer` would read `at` from a different rack."""
        rack = self.consumers.get(consumer)
        return rack is not None and rack not in self.partitions.get(at, ())

    def scarcest_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Sort partitions by the number of consumers in their racks, lowest first."""
        if not self._readers:
            return partitions
        return sorted(partitions, key=lambda at: self._readers.get(at, 0))

    def next_match(self, at: TopicPartition, consumers: list[str], first: int) -> int:
        """Return the index in `consumers`, searching cyclically from `first`, of a consumer in a rack of `at`; -1 if
        there is none."""
        racks = self.partitions.get(at)
        if not racks:
            return -1
        for step in range(len(consumers)):
            place = (first + step) % len(consumers)
            if self.consumers.get(consumers[place]) in racks:
                return place
        return -1
