"""A partitioner of the caller's: a function that places each record (D11)."""

from __future__ import annotations

import asyncio

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.settings import Partition

AVAILABLE_FOR = 0.05  # seconds: how long the list of available partitions is used; with many it costs more than a call


class OwnPartitioner:
    """One topic's calls of the function, as `Partitioner` decides by name. `available(partition)` as there."""

    def __init__(self, function: Partition, topic: str, available: Callable[[int], bool]) -> None:
        self._function = function
        self._topic = topic
        self._is_available = available
        self._available: Sequence[int] = ()
        self._of: Sequence[int] = ()
        self._until = 0.0

    def of(self, key: bytes | None, everyone: Sequence[int]) -> int | None:
        """The function's choice. Raises UsageError for a partition that the topic has not; whatever the function
        raises reaches the caller of `send`."""
        now = asyncio.get_running_loop().time()
        if now >= self._until or self._of is not everyone:
            self._available = [partition for partition in everyone if self._is_available(partition)]
            self._of, self._until = everyone, now + AVAILABLE_FOR
        chosen = self._function(self._topic, key, everyone, self._available)
        if chosen is not None and (type(chosen) is not int or chosen not in everyone):
            raise UsageError(
                f"{self._topic}: the partitioner returned {chosen!r}; the partitions are 0-{max(everyone)}"
            )
        return chosen
