"""A binary search in a log whose times are only roughly in order: pure, fed with stretches of records.

The law: `low` moves past a record only where that record proves that nothing up to it is wanted, `high` moves down
only to a record (or to records without a time before it) that proves that nothing from it on is wanted. So whatever
way it takes, the answer is safe as far as times do not go back by more than the jitter. The witness is the one in the
middle, by time, of a few neighbours: a clock that is wrong for a record or two does not mislead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

Time = Callable[[int], int | None]
"""The time of the record at an index of a stretch, None where it has none."""
Seen = list[tuple[int, int]]
"""Offsets and times."""

NEIGHBOURS = 5
NARROW = 2 * NEIGHBOURS
"""Records too few to part them any further."""


class Search:
    """Where a log parts: records below `low` are `before`, those from `high` on are not. Read `probe` on, and `learn`
    what is there, until it is `done`: then `low` and `high` have next to nothing between them."""

    def __init__(self, low: int, high: int, before: Callable[[int], bool]) -> None:
        self.low, self.high = low, max(low, high)
        self._before = before
        self.witnesses: Seen = []
        self.seen: Seen = []
        """All records that were looked at."""
        self._found = False  # in one stretch
        self._timed = False  # whether any record has a time
        self._halve()

    def _halve(self) -> None:
        self.probe = self._from = (self.low + self.high) // 2

    @property
    def done(self) -> bool:
        return self.low >= self.high or self._found or (self._timed and self.high - self.low < NARROW)

    @property
    def bits(self) -> int:
        """About how many looks are left."""
        return (self.high - self.low).bit_length() if not self.done else 0

    def recall(self, witnesses: Seen) -> None:
        """Begin with the witnesses of another search in the same log."""
        for offset, time in witnesses:
            if self._before(time):
                self.low = max(self.low, min(offset + 1, self.high))
            else:
                self.high = min(self.high, max(offset, self.low))
        self._timed = bool(witnesses)
        self._halve()

    def learn(self, offsets: Sequence[int], time: Time, following: int) -> None:
        """A stretch of the log: all records from `probe` up to `following`, by offset."""
        begin, end = bisect_left(offsets, self.probe), bisect_left(offsets, self.high)
        some = self._neighbours(offsets, time, begin, end)
        if some:
            if self._judge(some, self._from):
                self._inside(offsets, time, bisect_left(offsets, self.low), end, following)
        elif following < self.high:
            self.probe = max(following, self.probe + 1)  # nothing with a time yet: on to the right
            return
        else:
            self.high = max(self._from, self.low)
        self._halve()

    def _inside(self, offsets: Sequence[int], time: Time, begin: int, end: int, following: int) -> None:
        """The same within one stretch, which costs no request."""
        whole = following >= self.high
        while end - begin >= NARROW:
            middle = (begin + end) // 2
            some = self._neighbours(offsets, time, middle, end)
            if some and self._judge(some, offsets[middle]):
                begin = bisect_left(offsets, self.low)
            elif some:
                whole, end = True, bisect_left(offsets, self.high)
            else:
                end = middle
        self._found = whole

    def _judge(self, some: Seen, start: int) -> bool:
        """Whether these neighbours are before the parting; nothing between `start` and the first of them has a time."""
        offset, time = witness = sorted(some, key=lambda one: one[1])[len(some) // 2]
        self.witnesses.append(witness)
        if self._before(time):
            self.low = offset + 1
            return True
        mixed = any(self._before(other) for place, other in some if place < offset)
        self.high = max(offset if mixed else start, self.low)
        return False

    def _neighbours(self, offsets: Sequence[int], time: Time, begin: int, end: int) -> Seen:
        """The first few of [begin, end) that have a time."""
        some: Seen = []
        for at in range(begin, end):
            found = time(at)
            if found is not None:
                some.append((offsets[at], found))
                if len(some) == NEIGHBOURS:
                    break
        self.seen += some
        self._timed = self._timed or bool(some)
        return some


def back(seen: Seen) -> int:
    """By how many ms times go back at most among records that were looked at."""
    worst, latest = 0, 0
    for _, time in sorted(seen):
        worst, latest = max(worst, latest - time), max(latest, time)
    return worst
