"""A binary search in a log whose times are only roughly in order: pure, fed with stretches of records.

The law: `low` moves past a record only where that record proves that nothing up to it is wanted, `high` moves down
only to a record (or to records without a time before it) that proves that nothing from it on is wanted. So whatever
way it takes, the answer is safe as far as times do not go back by more than the jitter.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Time = Callable[[int], int | None]
    """The time of the record at an index of a stretch, None where it has none."""


class Search:
    """Where [low, high) parts: records below are `before` it, by the time of a witness. Read `probe` on, and `learn`
    what is there, until it is `done`; `low` is the answer then."""

    def __init__(self, low: int, high: int, before: Callable[[int], bool]) -> None:
        self.low, self.high = low, max(low, high)
        self._before = before
        self.witnesses: list[tuple[int, int]] = []
        """Offset and time of every record that was looked at."""
        self._halve()

    def _halve(self) -> None:
        self.probe = self._from = (self.low + self.high) // 2

    @property
    def done(self) -> bool:
        return self.low >= self.high

    @property
    def bits(self) -> int:
        """About how many looks are left."""
        return (self.high - self.low).bit_length() if not self.done else 0

    def recall(self, witnesses: Sequence[tuple[int, int]]) -> None:
        """Begin with what another search in the same log saw."""
        for offset, time in witnesses:
            if self._before(time):
                self.low = max(self.low, min(offset + 1, self.high))
            else:
                self.high = min(self.high, max(offset, self.low))
        self._halve()

    def learn(self, offsets: Sequence[int], time: Time, following: int) -> None:
        """A stretch of the log: all records from `probe` up to `following`, by offset."""
        begin, end = bisect_left(offsets, self.probe), bisect_left(offsets, self.high)
        at, found = self._next(offsets, time, begin, end)
        if found is None:
            if following < self.high:
                self.probe = max(following, self.probe + 1)  # nothing with a time yet: on to the right
                return
            self.high = max(self._from, self.low)
        elif not self._before(found):
            self.high = max(self._from, self.low)
        else:
            self.low = offsets[at] + 1
            self._inside(offsets, time, at + 1, end, following)
        self._halve()

    def _inside(self, offsets: Sequence[int], time: Time, begin: int, end: int, following: int) -> None:
        """The same within one stretch, which costs no request."""
        ended = following >= self.high
        while begin < end:
            middle = (begin + end) // 2
            at, found = self._next(offsets, time, middle, end)
            if found is not None and self._before(found):
                self.low, begin = offsets[at] + 1, at + 1
            else:
                ended = ended or found is not None
                end = middle
        if ended:
            self.high = self.low
        else:
            self.low = max(self.low, min(following, self.high))

    def _next(self, offsets: Sequence[int], time: Time, begin: int, end: int) -> tuple[int, int | None]:
        """The first of [begin, end) that has a time."""
        for at in range(begin, end):
            found = time(at)
            if found is not None:
                self.witnesses.append((offsets[at], found))
                return at, found
        return end, None


def back(witnesses: Sequence[tuple[int, int]]) -> int:
    """By how many ms times go back at most among records that were looked at."""
    worst, latest = 0, 0
    for _, time in sorted(witnesses):
        worst, latest = max(worst, latest - time), max(latest, time)
    return worst
