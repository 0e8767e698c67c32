"""What members of a group say they had, and which of it counts (E51)."""

from __future__ import annotations

from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import NO_GENERATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.consumer.classic.racks import Layout
    from kcli.proto.consumer_protocol import Subscription

    Assignment = dict[str, list[TopicPartition]]


class Past:
    """A member's former partitions, and the generation in which it owned them; None if it did not report them."""

    __slots__ = ("generation", "partitions")

    def __init__(self, partitions: list[TopicPartition], generation: int | None) -> None:
        self.partitions = partitions
        self.generation = generation


class Claims:
    """All members' pasts, with the conflicts settled. `members` is in Java's order."""

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
        # The other's generation is the one of the subscription, whatever its user data says: Java's way.
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
