"""Counters of a client, a producer and a consumer. Counts begin at 0 and only grow; `buffered_…` and `connections` are
current values. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from kcli.proto.core import Tally
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self

MILLISECOND = 0.001


class Histogram(Tally):
    """A histogram with exponential buckets: bucket n counts values below `unit` * 2**n that no smaller bucket counts.
    `add` counts a value; negative values count as zero."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Histogram(count={self.count}, mean={self.mean:g}, largest={self.largest:g})"

    @property
    def mean(self) -> float:
        """The mean value; 0.0 if empty."""
        return self.total / self.count if self.count else 0.0

    def quantile(self, part: float) -> float:
        """Return the upper bound of the bucket with the quantile `part` (0.0 to 1.0), at most the largest value; 0.0 if
        empty."""
        wanted, seen = part * self.count, 0
        for bound, count in self:
            seen += count
            if seen >= wanted:
                return min(bound, self.largest)
        return self.largest

    def __iter__(self) -> Iterator[tuple[float, int]]:
        """Iterate over (upper bound, count) of the non-empty buckets in ascending order."""
        for bucket in sorted(self.buckets):
            yield self.unit * 2**bucket, self.buckets[bucket]

    def plus(self, other: Histogram) -> Histogram:
        """Return a histogram of the values of both."""
        both = self.copy()
        if other.count:
            both.least = min(self.least, other.least) if self.count else other.least
        both.largest = max(self.largest, other.largest)
        both.count, both.total = self.count + other.count, self.total + other.total
        for bucket, count in other.buckets.items():
            both.buckets[bucket] = both.buckets.get(bucket, 0) + count
        return both

    def since(self, earlier: Histogram | None) -> Histogram:
        """Return the values added since an earlier copy. Their `least` is unknown (0.0), and `largest` is an upper
        bound: the smaller of the largest bucket's bound and the overall largest value."""
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
        """Return a snapshot of the histogram."""
        copied = Histogram(self.unit)
        copied.count, copied.total, copied.least, copied.largest = self.count, self.total, self.least, self.largest
        copied.buckets = dict(self.buckets)
        return copied


def _times() -> Histogram:
    return Histogram(MILLISECOND)


class Metrics(Value):
    """Counters that can be copied."""

    def copy(self) -> Self:
        """Return a snapshot of the counters."""
        return type(self)(**{field.name: _copied(getattr(self, field.name)) for field in type(self).__fields__})

    def plus(self, other: Self) -> Self:
        """Return the sums of both sets of counters."""
        names = [field.name for field in type(self).__fields__]
        return type(self)(**{name: _sum(getattr(self, name), getattr(other, name)) for name in names})


def _sum(value: Any, other: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _sum(value[key], other[key]) if key in value and key in other else (value | other)[key]
            for key in value | other
        }
    return value.plus(other) if isinstance(value, Histogram | Metrics) else value + other


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, Histogram | Metrics) else value


class RequestMetrics(Metrics):
    """The requests of one API. `count` includes requests with a response, requests that have none (acks=0), and `lost`
    requests, whose response never arrived. Bytes are of whole frames; `latency` is from the write to the response;
    `throttle_time` is the sum of the throttle times in responses."""

    count: int = 0
    lost: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    latency: Histogram = field(factory=_times)
    throttle_time: Histogram = field(factory=_times)


class ClientMetrics(Metrics):
    """The connections and requests of a client. `requests` is by API name (`Produce`), `node_latency` by broker id;
    `lost_connections` are those not closed by the client itself."""

    connections: int = 0
    opened_connections: int = 0
    refused_connections: int = 0
    lost_connections: int = 0
    connect_time: Histogram = field(factory=_times)
    requests: dict[str, RequestMetrics] = field(factory=dict)
    node_latency: dict[int, Histogram] = field(factory=dict)
    throttles: int = 0
    throttle_time: Histogram = field(factory=_times)


class ProducerMetrics(Metrics):
    """The batches of a producer. `batches`, `records` and `bytes` count acknowledged ones: `bytes` on the wire,
    `raw_bytes` before compression; `batch_bytes` and `batch_records` are histograms of batch sizes. `queue_time` is
    from a batch's first record to its first sending, `delivery_time` to its acknowledgement. `retries` counts batches
    sent again, `splits` batches that were too large for the broker, `failed_batches` batches that failed or whose
    outcome is unknown. `waiting` is the number of calls waiting for buffer space."""

    buffered_records: int = 0
    buffered_bytes: int = 0
    waiting: int = 0
    batches: int = 0
    records: int = 0
    bytes: int = 0
    raw_bytes: int = 0
    batch_bytes: Histogram = field(factory=Histogram)
    batch_records: Histogram = field(factory=Histogram)
    queue_time: Histogram = field(factory=_times)
    delivery_time: Histogram = field(factory=_times)
    retries: int = 0
    splits: int = 0
    failed_batches: int = 0


class ConsumerMetrics(Metrics):
    """The records that a consumer fetched and returned. `fetches` counts partitions with data in responses,
    `fetched_bytes` their size on the wire, with `fetch_bytes` as histogram; `records` and `batches` count what polls
    returned. `retries` counts repeated fetches and look-ups of a partition. `assigned_partitions` and the two counters
    after it count partitions that the group assigned and took away, `rebalances` counts rebalances, and
    `rebalance_time` is their duration. `poll_time` is the time inside polls, `busy_time` the time between them; share
    consumers have none of these three."""

    buffered_bytes: int = 0
    buffered_partitions: int = 0
    fetches: int = 0
    fetched_bytes: int = 0
    fetch_bytes: Histogram = field(factory=Histogram)
    batches: int = 0
    records: int = 0
    retries: int = 0
    rebalances: int = 0
    assigned_partitions: int = 0
    revoked_partitions: int = 0
    lost_partitions: int = 0
    rebalance_time: Histogram = field(factory=_times)
    poll_time: Histogram = field(factory=_times)
    busy_time: Histogram = field(factory=_times)
