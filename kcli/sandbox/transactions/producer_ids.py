"""The producer ids of a sandbox, each given out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FIRST = 1000


class ProducerIds:
    """`note` writes to the journal which id is next."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._next = FIRST

    def restore(self, following: int) -> None:
        """Continue after the ids of the journal."""
        self._next = max(self._next, following)

    def next(self) -> int:
        """Raises BrokerError KAFKA_STORAGE_ERROR."""
        given = self._next
        self._next += 1
        self._note("producer", {"next": self._next})
        return given
