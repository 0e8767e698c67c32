"""A dry run of a copy: records and bytes by partition and over time."""

from __future__ import annotations

from collections import Counter

from kcli.copying.copier import Keep
from kcli.model import TopicPartition
from kcli.proto.batch import Batch
from kcli.values import Value

BUCKETS = 20
DAY = 86_400
STEPS = tuple(1000 * seconds for seconds in (1, 5, 15, 60, 300, 900, 3600, 6 * 3600, DAY, 7 * DAY, 30 * DAY, 365 * DAY))
"""Widths of a bucket (ms), chosen for readability."""


class Part(Value):
    """One partition: records read; for those selected, their number, their bytes as stored, and their timestamps."""

    records: int = 0
    kept: int = 0
    bytes: int = 0
    first_timestamp: int = -1
    last_timestamp: int = -1


class Survey:
    """Counts batches; `keep` filters records."""

    def __init__(self, keep: Keep | None) -> None:
        self._keep = keep
        self.parts: dict[TopicPartition, Part] = {}
        self._by_second: dict[int, list[int]] = {}

    def add(self, at: TopicPartition, batch: Batch, most: int | None = None) -> int:
        """Count the records of a batch to copy, at most `most`; return their number."""
        kept = batch if self._keep is None else self._keep(batch, at)
        part = self.parts.setdefault(at, Part())
        part.records += batch.visible
        timestamps = [] if kept is None else kept.columns().timestamps[:most]
        if kept is None or not timestamps:
            return 0
        wanted = len(timestamps)
        size = kept.size * wanted // kept.count  # for part of a batch, its share
        part.kept += wanted
        part.bytes += size
        first, last = min(timestamps), max(timestamps)
        if last >= 0:
            first = first if first >= 0 else min(time for time in timestamps if time >= 0)
            part.first_timestamp = first if part.first_timestamp < 0 else min(part.first_timestamp, first)
            part.last_timestamp = max(part.last_timestamp, last)
        seconds = {first // 1000: wanted}
        if first // 1000 != last // 1000 or min(timestamps) < 0:
            seconds = Counter(time // 1000 for time in timestamps)
        for second, records in seconds.items():
            cell = self._by_second.setdefault(second, [0, 0])
            cell[0] += records
            cell[1] += size * records // wanted
        return wanted

    def histogram(self) -> list[tuple[int, int, int, int]]:
        """Return (from ms, to ms, records kept, bytes) in at most about `BUCKETS` buckets; (-1, -1) is for records
        without a time."""
        timed = sorted(second for second in self._by_second if second >= 0)
        rows = [(-1, -1, *self._by_second[s]) for s in sorted(self._by_second) if s < 0]
        if not timed:
            return [(-1, -1, row[2], row[3]) for row in rows]
        span = (timed[-1] - timed[0] + 1) * 1000
        width = next((step for step in STEPS if span / step <= BUCKETS), STEPS[-1])
        cells: dict[int, list[int]] = {}
        for second in timed:
            cell = cells.setdefault(second * 1000 // width, [0, 0])
            cell[0] += self._by_second[second][0]
            cell[1] += self._by_second[second][1]
        first, last = min(cells), max(cells)
        found = [(n * width, (n + 1) * width, *cells.get(n, (0, 0))) for n in range(first, last + 1)]
        return [(-1, -1, row[2], row[3]) for row in rows] + [(a, b, c, d) for a, b, c, d in found]
