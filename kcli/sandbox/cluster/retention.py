"""Deletion before records are appended: by retention.bytes, and by the memory limit."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.topics import Partition, Topics


class Retention:
    """`memory` is how many bytes of records all topics may have together; None for no limit."""

    def __init__(self, topics: Topics, memory: int | None) -> None:
        self._topics = topics
        self._memory = memory
        self._bytes = 0  # at most: what was deleted since the last count is still in it

    def make_room(self, partition: Partition, size: int) -> None:
        """Before `size` bytes are appended: delete by retention.bytes. Raises BrokerError POLICY_VIOLATION if the
        sandbox's memory limit would be exceeded."""
        limit = partition.topic.number("retention.bytes")
        if limit >= 0:
            partition.log.keep_bytes(max(limit - size, 0))
        if self._memory is None:
            return
        self._bytes += size
        if self._bytes > self._memory:
            logs = (p.log for topic in self._topics.by_name.values() for p in topic.partitions)
            self._bytes = sum(log.size for log in logs) + size
            if self._bytes > self._memory:
                self._bytes -= size
                raise BrokerError(
                    codes.POLICY_VIOLATION,
                    message=f"the sandbox's memory of {self._memory} bytes is full: delete topics or records, "
                    "set retention.bytes, or keep the data on disk",
                )
