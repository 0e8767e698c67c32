"""Offsets by payload time: the span in which all records of a time range are, and the first record of a time.

All partitions are searched at once, a request per leader and round. Times may go back by up to `jitter` ms: the search
widens the range by that, and whoever reads the span filters exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition
from kcli.seeking.read_range import LITTLE, MUCH, Stretch, stretches
from kcli.seeking.search import Search, back
from kcli.serde.payload_time import TimeField

Tell = Callable[[int, int], None]
"""Receives how much of a search is done, and how much it is in all."""


class Span(NamedTuple):
    """[start, stop) holds all records of the range. `back` is by how many ms times were seen to go back; `timed`
    is False where records were looked at and none had a time."""

    start: int
    stop: int
    back: int = 0
    timed: bool = True


class First(NamedTuple):
    """The first record of a time or later: its offset, and its time in ms; without such a record the end of the
    searched range and None. `back` and `timed` are those of Span."""

    offset: int
    time: int | None
    back: int = 0
    timed: bool = True


async def spans(
    cluster: Cluster,
    field: TimeField,
    ranges: dict[TopicPartition, tuple[int, int]],
    start: int | None,
    end: int | None,
    jitter: int,
    tell: Tell | None = None,
) -> dict[TopicPartition, Span | KcliError]:
    """Where in each range [low, high) of offsets the records with a time in [start, end) are; ms, None is unbounded.
    A partition in which no record has a time has an empty span."""
    return await _Job(cluster, field, jitter, tell).spans(ranges, start, end)


async def first_at(
    cluster: Cluster,
    field: TimeField,
    ranges: dict[TopicPartition, tuple[int, int]],
    time: int,
    jitter: int,
    tell: Tell | None = None,
) -> dict[TopicPartition, First | KcliError]:
    """The first offset in each range whose record's time is `time` (ms) or later."""
    return await _Job(cluster, field, jitter, tell).first(ranges, time)


class _Job:
    """One search over many partitions; `failed` holds those whose log could not be read."""

    def __init__(self, cluster: Cluster, field: TimeField, jitter: int, tell: Tell | None) -> None:
        self.cluster, self.field, self.jitter, self.tell = cluster, field, jitter, tell
        self.failed: dict[TopicPartition, KcliError] = {}
        self.known: dict[TopicPartition, list[tuple[int, int]]] = {}  # offset and time of witnesses
        self.seen: dict[TopicPartition, list[tuple[int, int]]] = {}  # and of all that was looked at

    async def spans(
        self, ranges: dict[TopicPartition, tuple[int, int]], start: int | None, end: int | None
    ) -> dict[TopicPartition, Span | KcliError]:
        lows = {at: low for at, (low, _) in ranges.items()}
        highs = {at: high for at, (_, high) in ranges.items()}
        if start is not None:
            least = start - self.jitter
            lows |= {at: low for at, (low, _) in (await self._search(ranges, lambda time: time < least)).items()}
        if end is not None:
            most = end + self.jitter
            left = {at: (lows[at], highs[at]) for at in ranges if at not in self.failed}
            highs |= {at: high for at, (_, high) in (await self._search(left, lambda time: time < most)).items()}
        return {at: self.failed.get(at) or self._span(at, ranges[at], lows[at], highs[at]) for at in ranges}

    def _span(self, at: TopicPartition, given: tuple[int, int], low: int, high: int) -> Span:
        seen = self.seen.get(at, [])
        if given[0] < given[1] and at in self.seen and not seen:
            return Span(given[1], given[1], 0, False)
        return Span(low, max(low, high), back(seen))

    async def _search(
        self, ranges: dict[TopicPartition, tuple[int, int]], before: Callable[[int], bool]
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Between which offsets each range parts."""
        searches = {at: Search(low, high, before) for at, (low, high) in ranges.items()}
        for at, search in searches.items():
            search.recall(self.known.setdefault(at, []))
        total = sum(search.bits for search in searches.values())
        sizes = dict.fromkeys(searches, LITTLE)
        while left := {at: s for at, s in searches.items() if not s.done and at not in self.failed}:
            probes = {at: (s.probe, sizes[at]) for at, s in left.items()}
            answers = await stretches(self.cluster, probes, self.field.decode)
            for at, answer in answers.items():
                if isinstance(answer, KcliError):
                    self.failed[at] = answer
                    continue
                search = left[at]
                seen = len(search.seen)
                search.learn(answer.offsets, self._timer(answer), _after(answer, search.probe, search.high))
                # Long stretches without a time are walked through, and in bigger steps.
                sizes[at] = LITTLE if len(search.seen) > seen else min(sizes[at] * 4, MUCH)
            if self.tell is not None:
                self.tell(total - sum(search.bits for search in searches.values()), total)
        for at, search in searches.items():
            self.known[at] += search.witnesses
            self.seen.setdefault(at, []).extend(search.seen)
        return {at: (search.low, search.high) for at, search in searches.items()}

    def _timer(self, stretch: Stretch) -> Callable[[int], int | None]:
        read, value = self.field.time, stretch.value
        return lambda index: read(value(index))

    async def first(
        self, ranges: dict[TopicPartition, tuple[int, int]], time: int
    ) -> dict[TopicPartition, First | KcliError]:
        least = time - self.jitter
        lows = await self._search(ranges, lambda seen: seen < least)
        results = {at: self._none(at, ranges[at]) for at in ranges if not self.seen[at]}
        left = {at: (low, LITTLE) for at, (low, _) in lows.items()}
        while left := {at: place for at, place in left.items() if at not in results and at not in self.failed}:
            for at, (low, _) in left.items():
                if low >= ranges[at][1]:
                    results[at] = self._none(at, ranges[at])
            asked = {at: place for at, place in left.items() if at not in results}
            answers = await stretches(self.cluster, asked, self.field.decode) if asked else {}
            for at, answer in answers.items():
                if isinstance(answer, KcliError):
                    self.failed[at] = answer
                    continue
                hit = self._hit(at, answer, ranges[at][1], time)
                if hit is not None:
                    results[at] = hit
                elif answer.damage is not None:  # its content is unknown
                    self.failed[at] = answer.damage
                offset, size = left[at]
                left[at] = _after(answer, offset, ranges[at][1]), min(size * 4, MUCH)
        return {at: self.failed.get(at) or results[at] for at in ranges}

    def _hit(self, at: TopicPartition, stretch: Stretch, high: int, time: int) -> First | None:
        """The first record of the stretch that is late enough."""
        for index, offset in enumerate(stretch.offsets):
            if offset >= high:
                break
            seen = self.field.time(stretch.value(index))
            if seen is not None:
                self.seen[at].append((offset, seen))
                if seen >= time:
                    return First(offset, seen, back(self.seen[at]))
        return None

    def _none(self, at: TopicPartition, given: tuple[int, int]) -> First:
        seen = self.seen[at]
        return First(given[1], None, back(seen), bool(seen) or given[0] >= given[1])


def _after(stretch: Stretch, probe: int, high: int) -> int:
    """The next place to read; a log that has nothing there ends there."""
    return stretch.following if stretch.following > probe else high
