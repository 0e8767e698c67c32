"""What a copy would do: records and bytes by partition and over time, from batch headers where nothing is filtered."""

from __future__ import annotations

from kcli.copying.copier import Keep
from kcli.model import TopicPartition
from kcli.proto.batch import Batch
from kcli.values import Value

BUCKETS = 20
DAY = 86_400
STEPS = tuple(1000 * seconds for seconds in (1, 5, 15, 60, 300, 900, 3600, 6 * 3600, DAY, 7 * DAY, 30 * DAY, 365 * DAY))
"""Widths of a bucket (ms) that people think in."""


class Part(Value):
    """One partition: records read and kept, bytes as fetched, batches that could be copied untouched."""

    records: int = 0
    kept: int = 0
    bytes: int = 0
    batches: int = 0
    first_timestamp: int = -1
    last_timestamp: int = -1


class Survey:
    """Fed with batches; `keep` leaves records out. A batch counts in the bucket of its first record's timestamp."""

    def __init__(self, keep: Keep | None) -> None:
        self._keep = keep
        self.parts: dict[TopicPartition, Part] = {}
        self._by_second: dict[int, list[int]] = {}

    def add(self, at: TopicPartition, batch: Batch) -> int:
        """Count a batch; how many of its records are kept."""
        kept = batch if self._keep is None else self._keep(batch, at)
        part = self.parts.setdefault(at, Part())
        wanted = 0 if kept is None else kept.visible
        part.records += batch.visible
        part.kept += wanted
        part.bytes += batch.size
        part.batches += 1
        if batch.base_timestamp >= 0:
            if part.first_timestamp < 0 or batch.base_timestamp < part.first_timestamp:
                part.first_timestamp = batch.base_timestamp
            part.last_timestamp = max(part.last_timestamp, batch.max_timestamp)
        cell = self._by_second.setdefault(batch.base_timestamp // 1000, [0, 0])
        cell[0] += wanted
        cell[1] += batch.size
        return wanted

    def histogram(self) -> list[tuple[int, int, int, int]]:
        """(from ms, to ms, records kept, bytes) in about `BUCKETS` buckets at most; (-1, -1) is without a time."""
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
