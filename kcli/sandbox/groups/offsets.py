"""The offsets that groups have committed, by group and partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.model import OffsetAndMetadata
from kcli.sandbox.cluster.topics import Topics

LARGEST_METADATA = 4096
NOTHING = OffsetAndMetadata()


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
