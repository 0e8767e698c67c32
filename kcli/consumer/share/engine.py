"""What a fetcher and its acknowledgements know of the reader that runs them. Imported for its types only."""

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
    """What acknowledgements use. `lock_timeout` in seconds is the broker's latest; `names` holds all places that were
    ever assigned."""

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
    """What a fetcher uses."""

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
