"""`-v` at the end of produce and consume: what the client counted, a line for each subject on stderr."""

from __future__ import annotations

from kcli.cli.output.messages import complain
from kcli.text import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.metrics.values import ClientMetrics, ConsumerMetrics, Histogram, ProducerMetrics


def say_producer(client: ClientMetrics, producer: ProducerMetrics) -> None:
    """The batches and requests of a producer."""
    for line in (*producer_lines(producer), *client_lines(client)):
        complain(line)


def say_consumer(client: ClientMetrics, consumer: ConsumerMetrics) -> None:
    """The fetches and requests of a consumer."""
    for line in (*consumer_lines(consumer), *client_lines(client)):
        complain(line)


def producer_lines(metrics: ProducerMetrics) -> Iterator[str]:
    if metrics.batches:
        ratio = metrics.raw_bytes / metrics.bytes if metrics.bytes else 1.0
        compressed = f", compressed {ratio:.1f}:1" if ratio >= 1.05 else ""
        yield (
            f"{_many(metrics.batches, 'batch', 'batches')} acknowledged: mean {numbers.size(metrics.batch_bytes.mean)} "
            f"and {numbers.count(metrics.batch_records.mean)} records{compressed}; "
            f"acknowledged after {_times(metrics.delivery_time)}"
        )
    if metrics.retries or metrics.splits or metrics.failed_batches:
        yield (
            f"{_many(metrics.retries, 'batch', 'batches')} sent again, {metrics.splits} split, "
            f"{metrics.failed_batches} failed"
        )


def consumer_lines(metrics: ConsumerMetrics) -> Iterator[str]:
    yield (
        f"{numbers.size(metrics.fetched_bytes)} in {_many(metrics.fetches, 'fetch', 'fetches')} of a partition, "
        f"{_many(metrics.batches, 'batch', 'batches')} read, {numbers.size(metrics.buffered_bytes)} not used"
    )
    if metrics.retries:
        yield f"{_many(metrics.retries, 'fetch or look-up', 'fetches and look-ups')} repeated"
    if metrics.rebalances:
        yield (
            f"partitions assigned {metrics.assigned_partitions}, revoked {metrics.revoked_partitions}, "
            f"lost {metrics.lost_partitions}"
        )


def client_lines(metrics: ClientMetrics) -> Iterator[str]:
    for api, one in sorted(metrics.requests.items(), key=lambda item: -item[1].count):
        lost = f", {one.lost} without a response" if one.lost else ""
        bytes_ = f"{numbers.size(one.sent_bytes)} sent, {numbers.size(one.received_bytes)} received"
        yield f"{api}: {_many(one.count, 'request')}, {bytes_}, {_times(one.latency)}{lost}"
    ended = f", {metrics.lost_connections} lost" if metrics.lost_connections else ""
    refused = f", {metrics.refused_connections} refused" if metrics.refused_connections else ""
    yield f"{_many(metrics.opened_connections, 'connection')} opened{refused}{ended}"
    if metrics.throttles:
        total = numbers.duration(metrics.throttle_time.total)
        yield f"throttled by quotas {_many(metrics.throttles, 'time')}, {total} in all"


def _times(histogram: Histogram) -> str:
    """Its mean and its largest, in milliseconds."""
    return f"mean {1000 * histogram.mean:.1f} ms, longest {1000 * histogram.largest:.1f} ms"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{numbers.count(count)} {one if count == 1 else more or one + 's'}"
