"""Appends one record to an open batch for `send`, and updates everything it affects: buffer space, counts, the sticky
choice. The compiled twin does it on C fields."""

from __future__ import annotations

from kcli.proto.columns import AT_A_TIME, OVERHEAD, now_ms
from kcli.proto.murmur2 import partition_of
from kcli.proto.plain.promise import Promise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.columns import Headers
    from kcli.proto.plain.builder import Builder
    from kcli.proto.plain.promise import SharedOutcome


class Taken:
    """Bytes and records taken from a limit; `waiters` have precedence."""

    bytes = records = max_bytes = max_records = 0
    waiters: deque[Any]


class Counted:
    """Number of accepted records."""

    __slots__ = ("accepted",)

    def __init__(self) -> None:
        self.accepted = 0


class Stay:
    """The partition for a topic's records without a key, and for how many more bytes."""

    current, left = -1, 0


class OpenBatch:
    """Access to an open batch. `spare`: bytes that its records took from the limit beyond their size."""

    __slots__ = ("builder", "open", "outcome", "queue", "spare")

    def __init__(self, builder: Builder, outcome: SharedOutcome, queue: Any) -> None:
        self.builder = builder
        self.outcome = outcome
        self.queue = queue
        self.spare = 0
        self.open = True


class OpenTopic:
    """The open batches of a topic, by partition, at one version of the leaders. `limit`: bytes of records at which a
    batch is full."""

    __slots__ = ("everyone", "limit", "open_batches", "partitions", "stay", "version")

    def __init__(self, everyone: Any, stay: Stay, version: int) -> None:
        self.everyone = everyone
        self.partitions = len(everyone)
        self.stay = stay
        self.version = version
        self.limit = 0
        self.open_batches: dict[int, OpenBatch] = {}


class Intake:
    """`in_a_row` counts the records since the event loop last ran other callbacks. `free`: `check` could only raise
    because the engine failed, which is `engine.poison`. `close` ends a full batch of a queue; `renew` opens the next
    one of a queue whose last one has ended, and returns its open batch, or None if that needs more."""

    def __init__(
        self,
        topics: dict[str, OpenTopic],
        taken: Taken,
        counted: Counted,
        engine: Any,
        version: Callable[[], int],
        check: Callable[[], None],
        close: Callable[[Any], None],
        renew: Callable[[str, OpenTopic, Any], OpenBatch | None],
        largest: int,
        most: int,
    ) -> None:
        self._topics = topics
        self._taken = taken
        self._counted = counted
        self._engine = engine
        self._version = version
        self._check = check
        self._close = close
        self._renew = renew
        self._largest = largest
        self._most = most
        self.in_a_row = 0
        self.free = False

    def take(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
    ) -> Promise | None:
        """Append a record without headers to its open batch, or to the next one; return None without doing anything if
        that needs more work. Raises the errors of `check`."""
        opened = self._topics.get(topic)
        if opened is None or headers or headers is None:
            return None
        if type(value) is not bytes or (key is not None and type(key) is not bytes):
            return None
        if timestamp is not None and (type(timestamp) is not int or not -(2**63) <= timestamp < 2**63):
            return None
        if self.in_a_row >= AT_A_TIME or opened.version != self._version():
            return None
        if not self.free or self._engine.poison is not None:
            self._check()
        stay = None
        if partition is None and key is not None:
            partition = partition_of(key, opened.partitions)
        elif partition is None:
            stay = opened.stay
            partition = stay.current if stay.left > 0 else -1
        open_batch = opened.open_batches.get(partition)
        if open_batch is None:
            return None
        size = OVERHEAD + len(value) + (0 if key is None else len(key))
        before, taken = open_batch.builder.size if open_batch.open else 0, self._taken
        if size > self._largest or before + size > opened.limit or taken.waiters:
            return None
        if taken.bytes + size > taken.max_bytes or taken.records >= taken.max_records:
            return None
        if not open_batch.open:
            open_batch = self._renew(topic, opened, open_batch.queue)
            if open_batch is None:
                return None
        return self._append(opened, open_batch, stay, size, now_ms(timestamp), key, value)

    def _append(
        self,
        opened: OpenTopic,
        open_batch: OpenBatch,
        stay: Stay | None,
        size: int,
        stamp: int,
        key: bytes | None,
        value: bytes,
    ) -> Promise:
        """Append a record of at most `size` bytes, for which there is room."""
        builder, before = open_batch.builder, open_batch.builder.size
        builder.append(stamp, key, value)
        grown = builder.size - before
        self._taken.bytes += size
        self._taken.records += 1
        open_batch.spare += size - grown
        if stay is not None:
            stay.left -= grown
        self.in_a_row += 1
        self._counted.accepted += 1
        promise = Promise(open_batch.outcome, builder.count - 1, stamp)
        if before + grown >= opened.limit or builder.count >= self._most:
            self._close(open_batch.queue)
        return promise
