"""What became of the records of one batch: told once, for all of them."""

from __future__ import annotations

from asyncio import CancelledError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from typing import Any

    from kcli.errors import KcliError
    from kcli.model import TopicPartition


class RecordMetadata:
    """Where a record was stored. `offset` is -1 when the broker did not tell; `timestamp` is in milliseconds."""

    __slots__ = ("offset", "partition", "timestamp", "topic")

    def __init__(self, topic: str, partition: int, offset: int, timestamp: int) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp

    def __repr__(self) -> str:
        return f"RecordMetadata({self.topic}[{self.partition}]@{self.offset}, {self.timestamp})"


class Fate:
    """`watched` are the promises that have callbacks. `halves`: the batch was split before the record of that index,
    and each part has a fate of its own."""

    __slots__ = ("append_time", "at", "base_offset", "error", "halves", "loop", "own", "settled", "watched")

    def __init__(self, at: TopicPartition, loop: AbstractEventLoop) -> None:
        self.at = at
        self.loop = loop
        self.settled = False
        self.base_offset = self.append_time = -1
        self.error: KcliError | None = None
        self.own: dict[int, KcliError] | None = None
        self.halves: tuple[int, Fate, Fate] | None = None
        self.watched: list[Any] = []

    def keep(self, base_offset: int, append_time: int) -> None:
        """Every record has its place: its own offset and, unless the broker set one, its own time (D32)."""
        self.base_offset, self.append_time = base_offset, append_time
        self._settle()

    def fail(self, error: KcliError, own: dict[int, KcliError] | None = None) -> None:
        """Every record failed with the error, or with the one of its own (KIP-467)."""
        self.error, self.own = error, own
        self._settle()

    def split(self, half: int, first: Fate, second: Fate) -> None:
        """The records from `half` on have the second fate from now on, the others the first."""
        self.halves = half, first, second
        watched, self.watched = self.watched, []
        for promise in watched:
            fate = promise.now()
            if isinstance(fate, Fate):  # else it was cancelled
                fate.watched.append(promise)

    def _settle(self) -> None:
        self.settled = True
        watched, self.watched = self.watched, []
        for promise in watched:
            if promise.fate is self:  # a cancelled one has another
                promise.tell()

    def problem(self, index: int) -> KcliError | None:
        """Why the record failed, if it did."""
        return self.error if self.own is None else self.own.get(index, self.error)

    def place(self, index: int, timestamp: int) -> RecordMetadata:
        """Where the record was stored."""
        offset = self.base_offset + index if self.base_offset >= 0 else -1
        return RecordMetadata(*self.at, offset, self.append_time if self.append_time >= 0 else timestamp)


class Cancelled:
    """In the place of a fate: the caller does not want to know."""

    __slots__ = ("loop", "message")

    settled = True
    halves = None

    def __init__(self, loop: AbstractEventLoop, message: object) -> None:
        self.loop = loop
        self.message = message

    def error(self) -> CancelledError:
        """What whoever looks at the promise gets."""
        return CancelledError() if self.message is None else CancelledError(self.message)
