"""read_committed: which batches of a fetched chunk belong to transactions that were aborted (E14-E16).

The broker names the aborted transactions of exactly the range it answers, so a filter lives as long as one chunk.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from kcli.proto.messages.fetch import AbortedTransaction

    class BatchHeader(Protocol):
        """What the filter reads of a batch: nothing of its records."""

        @property
        def last_offset(self) -> int: ...
        @property
        def producer_id(self) -> int: ...
        @property
        def is_control(self) -> bool: ...
        @property
        def is_transactional(self) -> bool: ...
        @property
        def control_type(self) -> int: ...


ABORT = 0


class AbortedFilter:
    """Fed with every batch in order, markers included."""

    __slots__ = ("_aborted", "_coming")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # Sorted here, since not every broker does; the next one is last.
        self._coming = sorted(
            ((transaction.first_offset, transaction.producer_id) for transaction in aborted), reverse=True
        )
        self._aborted: set[int] = set()

    def hides(self, batch: BatchHeader) -> bool:
        """Whether the records of `batch` were aborted. An ABORT marker ends its producer's transaction."""
        coming = self._coming
        while coming and coming[-1][0] <= batch.last_offset:
            self._aborted.add(coming.pop()[1])
        if batch.is_control:
            if batch.producer_id in self._aborted and batch.control_type == ABORT:
                self._aborted.discard(batch.producer_id)
            return False
        return batch.is_transactional and batch.producer_id in self._aborted
