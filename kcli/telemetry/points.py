"""The client's counters as KIP-714's metrics, under the names of Java's client. Times are in ms, as Java's are.

Averages and maxima are of the time since the last push. The idle ratio of polls is the time inside polls by all time
from the first poll that ended to the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcli.metrics.histogram import Histogram
from kcli.metrics.values import ClientMetrics, ConsumerMetrics, ProducerMetrics, RequestMetrics
from kcli.telemetry.otlp import Point

PREFIX = "org.apache.kafka."
NO_REQUESTS = RequestMetrics()


class Snapshot(NamedTuple):
    """The counters at a moment (ns since the epoch); None for a role that the client has not."""

    time: int
    client: ClientMetrics
    producer: ProducerMetrics | None
    consumer: ConsumerMetrics | None


def points(before: Snapshot, now: Snapshot, requested: Sequence[str], *, delta: bool, start: int) -> list[Point]:
    """The requested metrics; a request is how a name begins, "*" and "" are all. Totals count from `before` with
    `delta`, else from `start`."""
    every = "*" in requested
    return [
        point
        for point in _Points(before, now, before.time if delta else start, delta=delta)
        if every or any(point.name.startswith(name) for name in requested)
    ]


class _Points:
    """Makes the points of a push."""

    def __init__(self, before: Snapshot, now: Snapshot, since: int, *, delta: bool) -> None:
        self._before, self._now, self._since, self._delta = before, now, since, delta

    def __iter__(self) -> Iterator[Point]:
        before, now = self._before, self._now
        if now.producer is not None:
            yield from self._client("producer")
            yield from self._producer(before.producer or ProducerMetrics(), now.producer)
        if now.consumer is not None:
            yield from self._client("consumer")
            yield from self._consumer(before.consumer or ConsumerMetrics(), now.consumer)

    def _client(self, role: str) -> Iterator[Point]:
        before, now = self._before.client, self._now.client
        opened = now.opened_connections, before.opened_connections
        yield self._total(f"{role}.connection.creation.total", *opened)
        seconds = max(self._now.time - self._before.time, 1) / 1e9
        yield self._gauge(f"{role}.connection.creation.rate", (opened[0] - opened[1]) / seconds)
        yield self._gauge(f"{role}.connection.count", now.connections)
        for node, latency in sorted(now.node_latency.items()):
            recent = latency.since(before.node_latency.get(node))
            yield from self._times(f"{role}.node.request.latency", recent, {"node_id": str(node)})

    def _producer(self, before: ProducerMetrics, now: ProducerMetrics) -> Iterator[Point]:
        yield self._total("producer.record.send.total", now.records, before.records)
        yield from self._times("producer.record.queue.time", now.queue_time.since(before.queue_time))
        was, requests = self._before.client.requests.get("Produce", NO_REQUESTS), self._now.client.requests
        produce = requests.get("Produce", NO_REQUESTS)
        answered, throttled = produce.count - was.count, produce.throttle_time.since(was.throttle_time)
        if answered:  # a response without a throttle counts as 0, as in Java
            yield self._gauge("producer.produce.throttle.time.avg", 1000 * throttled.total / answered)
            yield self._gauge("producer.produce.throttle.time.max", 1000 * throttled.largest)

    def _consumer(self, before: ConsumerMetrics, now: ConsumerMetrics) -> Iterator[Point]:
        yield self._total("consumer.fetch.manager.records.consumed.total", now.records, before.records)
        yield self._total("consumer.fetch.manager.bytes.consumed.total", now.fetched_bytes, before.fetched_bytes)
        yield from self._latency("consumer.fetch.manager.fetch.latency", "Fetch")
        yield from self._latency("consumer.coordinator.commit.latency", "OffsetCommit")
        settled = now.rebalance_time.since(before.rebalance_time)
        yield from self._times("consumer.coordinator.rebalance.latency", settled)
        total = round(1000 * now.rebalance_time.total), round(1000 * before.rebalance_time.total)
        yield self._total("consumer.coordinator.rebalance.latency.total", *total)
        polls, busy = now.poll_time.since(before.poll_time), now.busy_time.since(before.busy_time)
        if polls.count:
            yield self._gauge("consumer.poll.idle.ratio.avg", polls.total / max(polls.total + busy.total, 1e-9))
        owned = now.assigned_partitions - now.revoked_partitions - now.lost_partitions
        yield self._gauge("consumer.coordinator.assigned.partitions", owned)

    def _latency(self, name: str, api: str) -> Iterator[Point]:
        was = self._before.client.requests.get(api, NO_REQUESTS)
        yield from self._times(name, self._now.client.requests.get(api, NO_REQUESTS).latency.since(was.latency))

    def _times(self, name: str, recent: Histogram, attributes: dict[str, str] | None = None) -> Iterator[Point]:
        if recent.count:
            yield self._gauge(f"{name}.avg", 1000 * recent.mean, attributes)
            yield self._gauge(f"{name}.max", 1000 * recent.largest, attributes)

    def _gauge(self, name: str, value: float, attributes: dict[str, str] | None = None) -> Point:
        return Point(PREFIX + name, float(value), self._before.time, self._now.time, False, attributes or {})

    def _total(self, name: str, now: int, before: int) -> Point:
        return Point(PREFIX + name, now - before if self._delta else now, self._since, self._now.time, True, {})
