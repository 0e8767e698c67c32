"""Hooks: functions of the program that a client calls when something happens, each with one event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kcli.values import Frozen


class Connected(NamedTuple):
    """A connection to a broker came about, or did not (`error`). `node_id` is -1 for a bootstrap address: once the
    metadata says which broker is there, later events of the connection have its id. `seconds` from the beginning of
    the attempt."""

    broker: str
    node_id: int
    seconds: float
    error: Exception | None


class Disconnected(NamedTuple):
    """A connection ended. `lost`: the client did not end it."""

    broker: str
    node_id: int
    reason: str
    lost: bool


class RequestDone(NamedTuple):
    """A request is over. `seconds` from the write to the response; `received_bytes` is 0 without a response, which
    is an `error` unless none was to come (acks=0)."""

    api: str
    version: int
    broker: str
    node_id: int
    sent_bytes: int
    received_bytes: int
    seconds: float
    error: str


class Throttled(NamedTuple):
    """A response by which the broker asks the client to send nothing for `seconds`."""

    api: str
    broker: str
    node_id: int
    seconds: float


class Retried(NamedTuple):
    """A batch is sent again (`what` is "produce"), a partition fetched or looked up again ("fetch"), after `error`.
    `attempt` is 1 for the first repetition."""

    what: str
    topic: str
    partition: int
    attempt: int
    error: str


class BatchWritten(NamedTuple):
    """The leader acknowledged a batch. `size` is on the wire, `raw_size` before compression, `seconds` from its first
    record; `offset` is -1 if the broker did not tell."""

    topic: str
    partition: int
    node_id: int
    records: int
    size: int
    raw_size: int
    offset: int
    seconds: float


class PartitionFetched(NamedTuple):
    """A fetch brought records of a partition; `size` is on the wire."""

    topic: str
    partition: int
    node_id: int
    size: int


class Rebalanced(NamedTuple):
    """A group gave or took partitions: `what` is "assigned", "revoked" or "lost"."""

    group: str
    what: str
    partitions: frozenset[tuple[str, int]]


class Hooks(Frozen):
    """The functions to call; None for none. They run in the client's event loop, between two steps of the client: a
    slow one delays it. An exception is logged (`kcli.metrics`) and ends nothing. Nothing is called for a record."""

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
