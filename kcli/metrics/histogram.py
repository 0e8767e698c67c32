"""A histogram whose bounds are powers of two: exact count, sum, least and largest, quantiles within a factor of two."""

from __future__ import annotations

from kcli.proto.core import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Histogram(Tally):
    """`unit` is the resolution: bucket n counts values below `unit` * 2**n that are in no bucket before it. `add` takes
    a value; below zero is zero."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Histogram(count={self.count}, mean={self.mean:g}, largest={self.largest:g})"

    @property
    def mean(self) -> float:
        """0.0 without values."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, part: float) -> float:
        """The upper bound of the bucket that the value at this part (0.0 to 1.0) is in, the largest value at most; 0.0
        without values."""
        wanted, seen = part * self.count, 0
        for bound, count in self:
            seen += count
            if seen >= wanted:
                return min(bound, self.largest)
        return self.largest

    def __iter__(self) -> Iterator[tuple[float, int]]:
        """(upper bound, values in this bucket), the smallest bound first, without empty buckets."""
        for bucket in sorted(self.buckets):
            yield self.unit * 2**bucket, self.buckets[bucket]

    def plus(self, other: Histogram) -> Histogram:
        """The values of both."""
        both = self.copy()
        if other.count:
            both.least = min(self.least, other.least) if self.count else other.least
        both.largest = max(self.largest, other.largest)
        both.count, both.total = self.count + other.count, self.total + other.total
        for bucket, count in other.buckets.items():
            both.buckets[bucket] = both.buckets.get(bucket, 0) + count
        return both

    def since(self, earlier: Histogram | None) -> Histogram:
        """The values that came after an earlier copy. `least` is unknown (0.0), `largest` an upper bound: that of the
        largest bucket, and of all values."""
        if earlier is None:
            return self.copy()
        later = Histogram(self.unit)
        later.count, later.total = self.count - earlier.count, self.total - earlier.total
        counts = {bucket: count - earlier.buckets.get(bucket, 0) for bucket, count in self.buckets.items()}
        later.buckets = {bucket: count for bucket, count in counts.items() if count}
        bound = self.unit * 2 ** max(later.buckets, default=0)
        later.largest = min(bound, self.largest) if later.count else 0.0
        return later

    def copy(self) -> Histogram:
        """The histogram as it is now."""
        copied = Histogram(self.unit)
        copied.count, copied.total, copied.least, copied.largest = self.count, self.total, self.least, self.largest
        copied.buckets = dict(self.buckets)
        return copied
