"""Hooks: functions that a client calls with one event each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kcli.values import Frozen


class Connected(NamedTuple):
    """A connection attempt succeeded, or failed with `error`. `node_id` is -1 for a bootstrap address; after metadata
    has identified the broker, later events of the connection carry its id. `seconds` is the duration of the attempt."""

    broker: str
    node_id: int
    seconds: float
    error: Exception | None


class Disconnected(NamedTuple):
    """A connection ended. `lost`: not closed by the client."""

    broker: str
    node_id: int
    reason: str
    lost: bool


class RequestDone(NamedTuple):
    """A request finished. `seconds` is from the write to the response; `received_bytes` is 0 without a response, which
    is an `error` unless none is expected (acks=0)."""

    api: str
    version: int
    broker: str
    node_id: int
    sent_bytes: int
    received_bytes: int
    seconds: float
    error: str


class Throttled(NamedTuple):
    """A response throttles the client: it must not send for `seconds`."""

    api: str
    broker: str
    node_id: int
    seconds: float


class Retried(NamedTuple):
    """A batch is sent again (`what` is "produce"), or a partition is fetched or looked up again ("fetch"), after
    `error`. `attempt` is 1 for the first retry."""

    what: str
    topic: str
    partition: int
    attempt: int
    error: str


class BatchWritten(NamedTuple):
    """The leader acknowledged a batch. `size` is on the wire, `raw_size` before compression; `seconds` is since its
    first record; `offset` is -1 if the broker did not return it."""

    topic: str
    partition: int
    node_id: int
    records: int
    size: int
    raw_size: int
    offset: int
    seconds: float


class PartitionFetched(NamedTuple):
    """A fetch returned records of a partition; `size` is on the wire."""

    topic: str
    partition: int
    node_id: int
    size: int


class Rebalanced(NamedTuple):
    """The group assigned or revoked partitions: `what` is "assigned", "revoked" or "lost"."""

    group: str
    what: str
    partitions: frozenset[tuple[str, int]]


class Hooks(Frozen):
    """The functions to call; None for none. They run in the client's event loop, so a slow hook delays the client.
    Exceptions are logged (`kcli.metrics`) and otherwise ignored. No hook is called per record."""

    on_connect: Callable[[Connected], None] | None = None
    on_disconnect: Callable[[Disconnected], None] | None = None
    on_request: Callable[[RequestDone], None] | None = None
    on_throttle: Callable[[Throttled], None] | None = None
    on_retry: Callable[[Retried], None] | None = None
    on_batch_written: Callable[[BatchWritten], None] | None = None
    on_fetch: Callable[[PartitionFetched], None] | None = None
    on_rebalance: Callable[[Rebalanced], None] | None = None


EVENTS: dict[str, Callable[..., Any]] = {
    "on_connect": Connected,
    "on_disconnect": Disconnected,
    "on_request": RequestDone,
    "on_throttle": Throttled,
    "on_retry": Retried,
    "on_batch_written": BatchWritten,
    "on_fetch": PartitionFetched,
    "on_rebalance": Rebalanced,
}
