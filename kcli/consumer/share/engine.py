"""The share reader as seen by its fetchers and acknowledgements. Imported for types only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

from kcli.consumer.share.chunk import Place
from kcli.consumer.share.ranges import Outcome
from kcli.consumer.share.settings import ShareSettings
from kcli.errors import KcliError
from kcli.metrics.observer import ConsumerObserver
from kcli.model import Cluster, TopicPartition
from kcli.settings import ConsumerSettings


class AckEngine(Protocol):
    """The part that acknowledgements use. `lock_timeout` is the broker's latest, in seconds; `names` has all partitions
    that were ever assigned."""

    lock_timeout: float

    @property
    def cluster(self) -> Cluster: ...
    @property
    def settings(self) -> ConsumerSettings: ...
    @property
    def share(self) -> ShareSettings: ...
    @property
    def member_id(self) -> str: ...
    @property
    def names(self) -> Mapping[Place, TopicPartition]: ...
    @property
    def acknowledged(self) -> asyncio.Event: ...

    def settled(self, outcomes: list[Outcome]) -> None: ...


class ShareEngine(AckEngine, Protocol):
    """The part that fetchers use."""

    @property
    def observer(self) -> ConsumerObserver: ...
    @property
    def demand(self) -> bool: ...
    @property
    def most(self) -> int: ...
    @property
    def closing(self) -> bool: ...
    @property
    def failure(self) -> BaseException | None: ...
    @property
    def arrived(self) -> asyncio.Event: ...

    def wanted(self, node: int) -> dict[Place, TopicPartition]: ...
    def later(self, at: TopicPartition, error: KcliError, *, at_once: bool = False) -> None: ...
    def well(self, at: TopicPartition) -> None: ...
    def fail(self, error: BaseException) -> None: ...
