"""The reporter: asks which metrics the cluster subscribes to (GetTelemetrySubscriptions) and pushes them
(PushTelemetry).

Errors are handled as in KIP-714: after an unknown subscription or an unsupported compression the subscription is
requested again at once; after a push that is too large or too early the reporter waits for the next interval; every
other error ends telemetry. It never disturbs the client: a failed push is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kcli import codes
from kcli.backoff import Backoff, spread
from kcli.errors import KcliError, UnsupportedVersion, cannot_connect
from kcli.metrics.observer import Observer, ProducerObserver
from kcli.metrics.values import ClientMetrics, ConsumerMetrics, Histogram, ProducerMetrics, RequestMetrics
from kcli.proto.batch import CODECS
from kcli.proto.compression import compress
from kcli.proto.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kcli.proto.messages.push_telemetry import PushTelemetryRequest
from kcli.proto.schema import NO_ID
from kcli.telemetry.otlp import Point, metrics_data
from kcli.text.log import Log

if TYPE_CHECKING:
    from kcli.metrics.observer import ConsumerObserver
    from kcli.model import Broker, Cluster

M = TypeVar("M", ProducerMetrics, ConsumerMetrics)

LOG = Log("telemetry")
INTERVAL = 300.0  # seconds, if the broker sets none
AT_ONCE = (codes.UNKNOWN_SUBSCRIPTION_ID, codes.UNSUPPORTED_COMPRESSION_TYPE)
NEXT_TIME = (codes.TELEMETRY_TOO_LARGE, codes.THROTTLING_QUOTA_EXCEEDED)
LAST_PUSH = 1.0  # seconds that the last push may take
PREFIX = "org.apache.kafka."
NO_REQUESTS = RequestMetrics()


class Reporter:
    """The reporter of a client. It starts with the first producer or consumer; a client without them pushes nothing."""

    def __init__(self, cluster: Cluster, observer: Observer, rack: str = "") -> None:
        self._cluster = cluster
        self._observer = observer
        self._resource = {"client_rack": rack} if rack else {}
        self._owners: list[tuple[weakref.ref[object], ProducerMetrics | ConsumerMetrics]] = []
        self._past: dict[type, ProducerMetrics | ConsumerMetrics] = {}  # of producers and consumers that were collected
        self._attached = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._broker: Broker | None = None
        self._subscription: GetTelemetrySubscriptionsResponse | None = None
        self._delta: bool | None = None
        self._interval = INTERVAL
        self._refused: set[int] = set()  # compression types
        self._pauses = Backoff(0.1, 60.0)
        self._start = time.time_ns()
        self._before = self._snapshot()
        self.instance_id = NO_ID
        observer.on_new = self._add

    def _add(self, observer: ProducerObserver | ConsumerObserver) -> None:
        self._owners.append((weakref.ref(observer), observer.metrics))
        self._attached.set()

    def start(self) -> None:
        """Start the task; needs a running loop."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="telemetry")

    async def close(self) -> None:
        """Push a last time, with `terminating`, if the cluster has a subscription; takes at most a second."""
        self._observer.on_new = None
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._subscription is not None:
            with contextlib.suppress(KcliError, TimeoutError):
                async with asyncio.timeout(LAST_PUSH):
                    await self._push(self._subscription, terminating=True)

    async def _run(self) -> None:
        await self._attached.wait()
        while True:
            try:
                wait = await self._step()
            except KcliError as problem:
                if cannot_connect(problem) or isinstance(problem, UnsupportedVersion):
                    LOG.info("no telemetry: %s", problem)
                    return
                LOG.info("no telemetry for %g s: %s", self._interval, problem)
                self._subscription, self._broker, wait = None, None, self._interval
            if wait is None:
                return
            await asyncio.sleep(wait)

    async def _step(self) -> float | None:
        """Send one request and return the seconds until the next one; None to end."""
        subscription = self._subscription
        if subscription is None:
            return await self._subscribe()
        code = await self._push(subscription, terminating=False)
        if code:
            self._subscription = None
            return self._after(code, subscription)
        self._pauses.reset()
        return self._interval

    # -- subscription -----------------------------------------------------------------------------------------------

    async def _subscribe(self) -> float | None:
        if self._broker is None:
            self._broker = await self._cluster.anyone()
        answer = await self._broker.ask(GetTelemetrySubscriptionsRequest(client_instance_id=self.instance_id))
        if answer.error_code:
            return self._after(codes.of(answer.error_code), None)
        if answer.client_instance_id != NO_ID:
            self.instance_id = answer.client_instance_id
        self._interval = answer.push_interval_ms / 1000 if answer.push_interval_ms > 0 else INTERVAL
        if not answer.requested_metrics:
            self._pauses.reset()
            return self._interval
        if self._delta is not None and self._delta != answer.delta_temporality:
            self._start, self._before = time.time_ns(), self._snapshot()
        self._delta, self._subscription = answer.delta_temporality, answer
        LOG.info("telemetry of client instance %s every %g s", self.instance_id.hex(), self._interval)
        return self._interval * spread(0.5)  # so that clients started together spread out

    def _after(self, code: codes.ErrorCode, subscription: GetTelemetrySubscriptionsResponse | None) -> float | None:
        """Return the seconds until the subscription is requested again after an error; None for never."""
        if code is codes.UNSUPPORTED_COMPRESSION_TYPE and subscription is not None:
            self._refused.add(self._compression(subscription))
        if code in AT_ONCE:
            return self._pauses.next()
        LOG.warning("telemetry: %s (%s)", code.text, code.name)
        return self._interval if code in NEXT_TIME else None

    # -- pushing ----------------------------------------------------------------------------------------------------

    async def _push(self, subscription: GetTelemetrySubscriptionsResponse, *, terminating: bool) -> codes.ErrorCode:
        now = self._snapshot()
        delta = subscription.delta_temporality
        chosen = points(self._before, now, subscription.requested_metrics, delta=delta, start=self._start)
        payload = metrics_data(chosen, self._resource, delta=delta)
        compression = self._compression(subscription)
        if compression:
            payload = bytes(compress(CODECS[compression], payload))
        if 0 < subscription.telemetry_max_bytes < len(payload):
            return codes.TELEMETRY_TOO_LARGE
        broker = self._broker or await self._cluster.anyone()
        answer = await broker.ask(
            PushTelemetryRequest(
                client_instance_id=self.instance_id,
                subscription_id=subscription.subscription_id,
                terminating=terminating,
                compression_type=compression,
                metrics=payload,
            )
        )
        code = codes.of(answer.error_code)
        if not code:
            self._before = now  # a delta that failed to be pushed is part of the next one
        return code

    def _compression(self, subscription: GetTelemetrySubscriptionsResponse) -> int:
        """Return the broker's first choice of compression that kcli supports and the broker did not refuse; 0
        for none."""
        known = range(len(CODECS))
        accepted = (one for one in subscription.accepted_compression_types if one in known)
        return next((one for one in accepted if one not in self._refused), 0)

    def _snapshot(self) -> Snapshot:
        alive = []
        for owner, metrics in self._owners:
            if owner() is None:
                past = self._past.get(type(metrics))
                self._past[type(metrics)] = metrics if past is None else past.plus(metrics)  # type: ignore[arg-type]
            else:
                alive.append((owner, metrics))
        self._owners = alive
        return Snapshot(
            time=time.time_ns(),
            client=self._observer.metrics.copy(),
            producer=self._sum(ProducerMetrics),
            consumer=self._sum(ConsumerMetrics),
        )

    def _sum(self, kind: type[M]) -> M | None:
        """Return the sum of the counters of all producers, or all consumers, that the client has had."""
        of_kind = [one for one in (*self._past.values(), *(one for _, one in self._owners)) if isinstance(one, kind)]
        return reduce(kind.plus, of_kind[1:], of_kind[0].copy()) if of_kind else None


# Maps the client's counters to KIP-714 metrics with the names of the Java client. Times are in ms, as in Java.
#
# Averages and maxima cover the time since the last push. The idle ratio of polls is the time inside polls divided by
# the time between the end of the first poll and the end of the last.
class Snapshot(NamedTuple):
    """The counters at a point in time (ns since the epoch); None for a role that the client does not have."""

    time: int
    client: ClientMetrics
    producer: ProducerMetrics | None
    consumer: ConsumerMetrics | None


def points(before: Snapshot, now: Snapshot, requested: Sequence[str], *, delta: bool, start: int) -> list[Point]:
    """Return the requested metrics. A request is a prefix of names; "*" and "" match all. Totals count from `before`
    with `delta`, otherwise from `start`."""
    every = "*" in requested
    return [
        point
        for point in _Points(before, now, before.time if delta else start, delta=delta)
        if every or any(point.name.startswith(name) for name in requested)
    ]


class _Points:
    """Creates the points of a push."""

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
