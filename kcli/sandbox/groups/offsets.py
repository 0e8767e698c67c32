"""The offsets that groups have committed, by group and partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.log.recovery import State

LARGEST_METADATA = 4096
NOTHING = OffsetAndMetadata()
Positions = dict[tuple[str, int], OffsetAndMetadata | None]


class Offsets:
    """`by_group` has what each group committed, by topic and partition. `note` writes a change to the journal."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None], topics: Topics) -> None:
        self._note = note
        self._topics = topics
        self.by_group: dict[str, dict[tuple[str, int], OffsetAndMetadata]] = {}

    def of(self, group: str) -> dict[tuple[str, int], OffsetAndMetadata]:
        """The group's offsets, to be changed."""
        return self.by_group.setdefault(group, {})

    def check(self, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """Raises BrokerError OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION."""
        if len(committed.metadata) > LARGEST_METADATA:
            raise BrokerError(codes.OFFSET_METADATA_TOO_LARGE)
        self._topics.partition(topic, partition)

    def store(self, group: str, topic: str, partition: int, committed: OffsetAndMetadata, producer: int = -1) -> None:
        """Keep an offset; `producer` is the id that committed it in a transaction. Raises BrokerError
        KAFKA_STORAGE_ERROR."""
        facts = {
            "group": group,
            "topic": topic,
            "partition": partition,
            "offset": committed.offset,
            "epoch": committed.leader_epoch,
            "metadata": committed.metadata,
            "producer": producer,
        }
        self._note("offset", facts)
        self.of(group)[(topic, partition)] = committed

    def delete(self, group: str, topic: str, partition: int) -> None:
        """Forget one offset. Raises BrokerError KAFKA_STORAGE_ERROR."""
        self._note("offset", {"group": group, "topic": topic, "partition": partition, "offset": None})
        self.by_group.get(group, {}).pop((topic, partition), None)

    def topic_deleted(self, topic: str) -> None:
        for kept in self.by_group.values():
            for key in [key for key in kept if key[0] == topic]:
                del kept[key]

    def group_deleted(self, group: str) -> None:
        self.by_group.pop(group, None)


# Positions that a transaction commits for a group: invisible before its commit (KIP-98); a request for stable offsets
# waits until it ends (KIP-447).
class PendingOffsets:
    """By group and producer id."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None], offsets: Offsets) -> None:
        self._note = note
        self._offsets = offsets
        self._by_group: dict[str, dict[int, Positions]] = {}

    def restore(self, state: State) -> None:
        for (producer, group, topic, partition), facts in state.pending.items():
            kept = None
            if facts["offset"] is not None:
                kept = OffsetAndMetadata(facts["offset"], facts["epoch"], facts["metadata"])
            self._of(group, producer)[(topic, partition)] = kept

    def _of(self, group: str, producer: int) -> Positions:
        return self._by_group.setdefault(group, {}).setdefault(producer, {})

    def add(self, producer: int, group: str, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """Raises BrokerError OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR."""
        self._offsets.check(topic, partition, committed)
        self._note(
            "pending",
            {
                "producer": producer,
                "group": group,
                "topic": topic,
                "partition": partition,
                "offset": committed.offset,
                "epoch": committed.leader_epoch,
                "metadata": committed.metadata,
            },
        )
        self._of(group, producer)[(topic, partition)] = committed

    def has(self, group: str) -> bool:
        """Whether an open transaction has positions for a group."""
        return any(self._by_group.get(group, {}).values())

    def unstable(self, group: str, topic: str, partition: int) -> bool:
        """Whether an open transaction has a position of this partition."""
        return any((topic, partition) in positions for positions in self._by_group.get(group, {}).values())

    def overtake(self, group: str, topic: str, partition: int) -> None:
        """A later commit from outside is what counts."""
        for positions in self._by_group.get(group, {}).values():
            if (topic, partition) in positions:
                positions[(topic, partition)] = None

    def settle(self, producer: int, group: str, *, commit: bool) -> None:
        """The transaction has ended: its positions are stored or forgotten. Raises BrokerError KAFKA_STORAGE_ERROR,
        and may then be called again."""
        positions = self._by_group.get(group, {}).get(producer)
        if positions is None:
            return
        for (topic, partition), committed in positions.items():
            if commit and committed is not None:
                self._offsets.store(group, topic, partition, committed, producer)
        self._note("settled", {"producer": producer, "group": group})
        del self._by_group[group][producer]

    def topic_deleted(self, topic: str) -> None:
        for producers in self._by_group.values():
            for positions in producers.values():
                for key in [key for key in positions if key[0] == topic]:
                    del positions[key]

    def group_deleted(self, group: str) -> None:
        self._by_group.pop(group, None)
