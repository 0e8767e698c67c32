"""The counters of a client, a producer and a consumer. Counts begin at 0 and only grow; `buffered_…` and `connections`
are of this moment. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from kcli.proto.core import Tally
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self

MILLISECOND = 0.001


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


def _times() -> Histogram:
    return Histogram(MILLISECOND)


class Metrics(Value):
    """Counters that can be copied."""

    def copy(self) -> Self:
        """The counters as they are now."""
        return type(self)(**{field.name: _copied(getattr(self, field.name)) for field in type(self).__fields__})

    def plus(self, other: Self) -> Self:
        """The sums of the counters."""
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
    """The requests of one API. `count` are those that are over: with a response, sent without one to come (acks=0), and
    `lost`, whose response did not come. Bytes are of whole frames, `latency` from the write to the response;
    `throttle_time` is the silence that responses asked for."""

    count: int = 0
    lost: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    latency: Histogram = field(factory=_times)
    throttle_time: Histogram = field(factory=_times)


class ClientMetrics(Metrics):
    """The connections and requests of a client. `requests` are by API name (`Produce`), `node_latency` by broker id.
    `lost_connections` are those that the client did not end itself."""

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
    """The batches of a producer. `batches`, `records` and `bytes` are acknowledged ones, `bytes` on the wire and
    `raw_bytes` before compression; `batch_bytes` and `batch_records` are their sizes. `queue_time` is from the first
    record of a batch to its first sending, `delivery_time` to its acknowledgement. `retries` are batches sent again,
    `splits` batches that were too large for the broker, `failed_batches` those that failed or are unknown. `waiting`
    are calls that wait for room."""

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
    """What a consumer fetched and handed out. `fetches` are responses' partitions with data, `fetched_bytes` their
    sizes on the wire and `fetch_bytes` the histogram; `records` and `batches` were handed out by polls. `retries` are
    fetches and look-ups of a partition that failed and are repeated. `assigned_partitions` and the two after it count
    partitions that a group gave and took, `rebalances` the times it did, `rebalance_time` how long a rebalance took.
    `poll_time` is the time inside a poll, `busy_time` that between two polls; a share consumer has none of the three.
    """

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
