"""The reader, as its fetchers and position look-ups use it. Imported for types only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from kcli.consumer.fetch.cursor import Cursor
from kcli.errors import KcliError
from kcli.metrics.observer import ConsumerObserver
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
from kcli.settings import ConsumerSettings

Stored = Callable[[list[TopicPartition]], Awaitable[dict[TopicPartition, OffsetAndMetadata | None]]]
"""Reads the committed offsets of a group."""


class Engine(Protocol):
    """The cursors of a consumer, and how a change or a failure of one is reported."""

    @property
    def cluster(self) -> Cluster: ...
    @property
    def settings(self) -> ConsumerSettings: ...
    @property
    def cursors(self) -> Mapping[TopicPartition, Cursor]: ...
    @property
    def observer(self) -> ConsumerObserver: ...

    def changed(self) -> None: ...
    def fail(self, cursor: Cursor, error: KcliError) -> None: ...


class FetchEngine(Engine, Protocol):
    """What a fetcher uses."""

    @property
    def rack(self) -> str: ...
    @property
    def replica_holds(self) -> float: ...
    @property
    def arrived(self) -> asyncio.Event: ...
    @property
    def share(self) -> int: ...
    @property
    def fetch_bytes(self) -> int: ...

    def work(self, node: int, now: float) -> tuple[list[Cursor], float | None]: ...
    def look_up(self) -> None: ...
    def truncated(self, cursor: Cursor, end: int, end_epoch: int) -> None: ...


class LookupEngine(Engine, Protocol):
    """The part of the reader that position look-ups use."""

    @property
    def stored(self) -> Stored | None: ...
    @property
    def fetchers(self) -> Mapping[int, Waiting]: ...

    def node_of(self, cursor: Cursor, now: float) -> int: ...
    def run(self, work: Awaitable[None]) -> None: ...
    def say(self, text: str) -> None: ...


class Waiting(Protocol):
    """A fetcher, as far as others may wake it: `idle` without work, `full` of records that were not delivered."""

    @property
    def wake(self) -> asyncio.Event: ...
    @property
    def idle(self) -> bool: ...
    @property
    def full(self) -> bool: ...
