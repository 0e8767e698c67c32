"""The open and the aborted transactions of a partition, for read_committed (E15, E17). Kept per batch that belongs to a
transaction; a log without them pays nothing. The batches contain all of it, so it has no file of its own: it is built
again when a log is opened."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from kcli.proto.buffer import Buffer
from kcli.sandbox.log.batches import CONTROL, TRANSACTIONAL, Header


class Aborted(NamedTuple):
    """Offsets `first` to `marker` of a producer were aborted; below `stable` all was decided by then."""

    producer_id: int
    first: int
    marker: int
    stable: int


DECIDES = CONTROL | TRANSACTIONAL
TYPE_AT = 7  # in the records of a marker: 5 bytes before the key, whose second int16 is the type (F.3)


class AbortedIndex:
    """`open` maps a producer id to the first offset of its transaction, the oldest first."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self._aborted: list[Aborted] = []  # by marker
        self._markers: list[int] = []

    def note(self, header: Header, body: Buffer) -> None:
        """Count a batch with the transactional bit; `body` is what follows its header."""
        producer = header.producer_id
        if header.attributes & DECIDES != DECIDES:
            self.open.setdefault(producer, header.base_offset)
            return
        first = self.open.pop(producer, None)
        if first is not None and int.from_bytes(body[TYPE_AT : TYPE_AT + 2], "big") == 0:
            stable = self.stable(header.base_offset + 1)
            self._aborted.append(Aborted(producer, first, header.base_offset, stable))
            self._markers.append(header.base_offset)

    def stable(self, end: int) -> int:
        """The last stable offset of a log that ends at `end`: everything before it is decided."""
        return next(iter(self.open.values()), end)

    def aborted(self, start: int, stop: int) -> list[Aborted]:
        """The aborted transactions with offsets in [start, stop)."""
        matched: list[Aborted] = []
        for at in range(bisect_left(self._markers, start), len(self._markers)):
            aborted = self._aborted[at]
            if aborted.first < stop:
                matched.append(aborted)
            if aborted.stable >= stop:  # whatever was aborted later began at or after it
                break
        return matched

    def forget_before(self, start: int) -> None:
        """The log begins at `start` now."""
        gone = bisect_left(self._markers, start)
        del self._aborted[:gone], self._markers[:gone]
