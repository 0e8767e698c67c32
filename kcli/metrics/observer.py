"""Observers of a client, which count events and call hooks: one for the client and one for each broker, producer and
consumer. They are called per request, batch and fetch, never per record."""

from __future__ import annotations

from asyncio import CancelledError

from kcli.errors import Closed
from kcli.metrics.values import MILLISECOND, ClientMetrics, ConsumerMetrics, Histogram, ProducerMetrics, RequestMetrics
from kcli.proto.messages import api_name
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kcli.metrics.hooks import Hooks
    from kcli.model import TopicPartition
    from kcli.proto.session import Asked

LOG = Log("metrics")


class Observer:
    """The client's own counters and its hooks."""

    def __init__(self, hooks: Hooks | None = None) -> None:
        self.metrics = ClientMetrics()
        self._hooks = hooks
        self.hooked = hooks is not None
        self.on_new: Callable[[ProducerObserver | ConsumerObserver], None] | None = None  # each new one

    def of_broker(self, name: str, node_id: int) -> BrokerObserver:
        return BrokerObserver(self, name, node_id)

    def call(self, hook: str, *values: object) -> None:
        """Call a hook with its event, if the hook is set. Exceptions are logged."""
        function = None if self._hooks is None else getattr(self._hooks, hook)
        if function is None:
            return
        from kcli.metrics.hooks import EVENTS

        try:
            function(EVENTS[hook](*values))
        except (Exception, CancelledError) as problem:  # noqa: BLE001 - the program's mistake must not break the client
            LOG.warning("the hook %s raised %s: %s", hook, type(problem).__name__, problem)


class BrokerObserver:
    """The connections and requests of one broker."""

    __slots__ = ("_apis", "_broker", "_latency", "_node_id", "_observer")

    def __init__(self, observer: Observer, broker: str, node_id: int) -> None:
        self._apis: dict[int, RequestMetrics] = {}  # the client's, by API key
        self._observer = observer
        self.rename(broker, node_id)

    def rename(self, broker: str, node_id: int) -> None:
        """Attribute what follows to this broker."""
        self._broker = broker
        self._node_id = node_id
        self._latency: Histogram | None = None  # the node's

    def connected(self, seconds: float) -> None:
        metrics = self._observer.metrics
        metrics.connections += 1
        metrics.opened_connections += 1
        metrics.connect_time.add(seconds)
        self._observer.call("on_connect", self._broker, self._node_id, seconds, None)

    def refused(self, seconds: float, error: Exception) -> None:
        """A connection attempt failed."""
        self._observer.metrics.refused_connections += 1
        self._observer.call("on_connect", self._broker, self._node_id, seconds, error)

    def disconnected(self, reason: BaseException, *, lost: bool) -> None:
        """An established connection ended."""
        metrics = self._observer.metrics
        metrics.connections -= 1
        metrics.lost_connections += lost
        self._observer.call("on_disconnect", self._broker, self._node_id, str(reason), lost)

    def answered(self, asked: Asked, received: int, seconds: float) -> None:
        api = self._apis.get(asked.request.api_key)
        if api is None or self._observer.hooked:
            api = self._over(asked.request.api_key, asked.version, asked.size, received, seconds)
        else:
            api.count += 1
            api.sent_bytes += asked.size
            api.received_bytes += received
        if self._latency is None:
            by_node = self._observer.metrics.node_latency
            self._latency = by_node.setdefault(self._node_id, Histogram(MILLISECOND))
        self._latency.add(seconds)
        api.latency.add(seconds)

    def unanswered(self, api_key: int, version: int, sent: int) -> None:
        """A request without a response was sent."""
        self._over(api_key, version, sent, 0, 0.0)

    def lost(self, asked: Asked, seconds: float, reason: BaseException) -> None:
        """A request's response will never arrive."""
        if not isinstance(reason, Closed):
            self._over(asked.request.api_key, asked.version, asked.size, 0, seconds, str(reason)).lost += 1

    def _over(
        self, api_key: int, version: int, sent: int, received: int, seconds: float, error: str = ""
    ) -> RequestMetrics:
        api = self._apis.get(api_key)
        if api is None:
            requests = self._observer.metrics.requests
            api = self._apis[api_key] = requests.setdefault(api_name(api_key), RequestMetrics())
        api.count += 1
        api.sent_bytes += sent
        api.received_bytes += received
        if self._observer.hooked:
            self._observer.call(
                "on_request", api_name(api_key), version, self._broker, self._node_id, sent, received, seconds, error
            )
        return api

    def throttled(self, api_key: int, seconds: float) -> None:
        metrics = self._observer.metrics
        metrics.throttles += 1
        metrics.throttle_time.add(seconds)
        metrics.requests[api_name(api_key)].throttle_time.add(seconds)
        self._observer.call("on_throttle", api_name(api_key), self._broker, self._node_id, seconds)


class ProducerObserver:
    """The batches of one producer."""

    def __init__(self, observer: Observer | None = None) -> None:
        self.metrics = ProducerMetrics()
        self._observer = observer or Observer()
        if self._observer.on_new is not None:
            self._observer.on_new(self)

    def written(self, at: TopicPartition, node_id: int, sizes: tuple[int, int, int], offset: int, age: float) -> None:
        """A batch was acknowledged; `sizes` are its record count, its bytes, and its bytes before compression."""
        metrics = self.metrics
        records, size, raw = sizes
        metrics.batches += 1
        metrics.records += records
        metrics.bytes += size
        metrics.raw_bytes += raw
        metrics.batch_bytes.add(size)
        metrics.batch_records.add(records)
        metrics.delivery_time.add(age)
        if self._observer.hooked:
            self._observer.call("on_batch_written", *at, node_id, records, size, raw, offset, age)

    def retried(self, at: TopicPartition, attempt: int, error: str) -> None:
        self.metrics.retries += 1
        self._observer.call("on_retry", "produce", *at, attempt, error)


class ConsumerObserver:
    """The fetches and assignments of one consumer."""

    def __init__(self, observer: Observer | None = None, group: str = "") -> None:
        self.metrics = ConsumerMetrics()
        self._observer = observer or Observer()
        self._group = group
        self._polled: float | None = None  # when the last poll ended
        if self._observer.on_new is not None:
            self._observer.on_new(self)

    def fetched(self, at: TopicPartition, node_id: int, size: int) -> None:
        metrics = self.metrics
        metrics.fetches += 1
        metrics.fetched_bytes += size
        metrics.fetch_bytes.add(size)
        self._observer.call("on_fetch", *at, node_id, size)

    def handed_out(self, batches: int, records: int) -> None:
        """A poll returns these batches and records."""
        self.metrics.batches += batches
        self.metrics.records += records

    def polled(self, began: float, ended: float) -> None:
        """A poll ended; times are loop time."""
        self.metrics.poll_time.add(ended - began)
        if self._polled is not None:
            self.metrics.busy_time.add(began - self._polled)
        self._polled = ended

    def retried(self, at: TopicPartition, attempt: int, error: str) -> None:
        self.metrics.retries += 1
        self._observer.call("on_retry", "fetch", *at, attempt, error)

    def settled(self, seconds: float) -> None:
        """A rebalance finished: the member has its new partitions."""
        self.metrics.rebalance_time.add(seconds)

    def rebalanced(self, what: str, partitions: Collection[TopicPartition]) -> None:
        """The group assigned or revoked partitions: `what` is assigned, revoked or lost."""
        metrics = self.metrics
        metrics.rebalances += 1
        count = f"{what}_partitions"
        setattr(metrics, count, getattr(metrics, count) + len(partitions))
        self._observer.call("on_rebalance", self._group, what, frozenset(partitions))
