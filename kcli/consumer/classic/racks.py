"""The racks of brokers and members, for the sticky assignors (KIP-881)."""

from __future__ import annotations

from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kcli.proto.consumer_protocol import Subscription

    Layout = Mapping[str, Sequence[Collection[str]]]
    """Topic to, per partition, the racks of its replicas (empty where unknown)."""


def worth_it(consumer_racks: set[str], partition_racks: Mapping[TopicPartition, set[str]]) -> bool:
    """True when racks can make a difference: some consumer shares a rack with some replica, and not every
    partition is in every rack."""
    everywhere: set[str] = set().union(*partition_racks.values())
    return not consumer_racks.isdisjoint(everywhere) and any(racks != everywhere for racks in partition_racks.values())


class Racks:
    """`consumers` and `partitions` are empty when racks make no difference."""

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
        # As in Java this counts also when racks are not used otherwise, and so orders what is handed out.
        self._readers = {at: sum(by_rack.get(rack, 0) for rack in racks) for at, racks in partitions.items()}

    def mismatch(self, consumer: str, at: TopicPartition) -> bool:
        """True when `consumer` would read `at` across racks."""
        rack = self.consumers.get(consumer)
        return rack is not None and rack not in self.partitions.get(at, ())

    def scarcest_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Those with the fewest consumers in their racks come first."""
        if not self._readers:
            return partitions
        return sorted(partitions, key=lambda at: self._readers.get(at, 0))

    def next_match(self, at: TopicPartition, consumers: list[str], first: int) -> int:
        """The place in `consumers`, counted round from `first`, of one in a rack of `at`; -1 without one."""
        racks = self.partitions.get(at)
        if not racks:
            return -1
        for step in range(len(consumers)):
            place = (first + step) % len(consumers)
            if self.consumers.get(consumers[place]) in racks:
                return place
        return -1
