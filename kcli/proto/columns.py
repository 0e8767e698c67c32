"""The results of both record cores: a record, a message, a batch's columns, a chunk's lines."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from typing import Any, NamedTuple

    from kcli.proto.buffer import Buffer

    Headers = Sequence[tuple[str, bytes | None]]
else:
    from kcli.values import NamedTuple


class Record(NamedTuple):
    """A record. `timestamp` is in ms, -1 if there is none; `headers` is () if there are none. A header name that is not
    UTF-8 keeps its bytes as surrogate escapes."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Message(NamedTuple):
    """A record and its position. Key and value are bytes or None, or objects if the consumer has formats.

    `timestamp` is in ms since the epoch, set by the producer if `timestamp_type` is "create", by the broker if it is
    "append". `leader_epoch` is -1 if unknown.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: Headers
    timestamp_type: str
    leader_epoch: int


class Columns:
    """The records of a batch's window as columns. `starts` are indexes in `data`; a length of -1 is null.
    `header_starts` is where a record's first header begins. Every column is an array('q') or array('i')."""

    __slots__ = (
        "data",
        "header_counts",
        "header_starts",
        "key_lengths",
        "key_starts",
        "offsets",
        "timestamps",
        "value_lengths",
        "value_starts",
    )

    def __init__(
        self,
        data: Buffer,
        offsets: array[int],
        timestamps: array[int],
        key_starts: array[int],
        key_lengths: array[int],
        value_starts: array[int],
        value_lengths: array[int],
        header_starts: array[int],
        header_counts: array[int],
    ) -> None:
        self.data = data
        self.offsets = offsets
        self.timestamps = timestamps
        self.key_starts = key_starts
        self.key_lengths = key_lengths
        self.value_starts = value_starts
        self.value_lengths = value_lengths
        self.header_starts = header_starts
        self.header_counts = header_counts

    def __len__(self) -> int:
        return len(self.offsets)

    def key(self, row: int) -> bytes | None:
        """Return the key of a row, None for null."""
        start, length = self.key_starts[row], self.key_lengths[row]
        return None if length < 0 else bytes(self.data[start : start + length])

    def value(self, row: int) -> bytes | None:
        """Return the value of a row, None for null."""
        start, length = self.value_starts[row], self.value_lengths[row]
        return None if length < 0 else bytes(self.data[start : start + length])


class Lines:
    """The rows of a chunk of text, each a key and a value: their positions in the chunk, with length -1 for null.
    `consumed` is where the first incomplete line starts."""

    __slots__ = ("consumed", "count", "key_lengths", "key_starts", "value_lengths", "value_starts")

    def __init__(
        self,
        key_starts: array[int],
        key_lengths: array[int],
        value_starts: array[int],
        value_lengths: array[int],
        consumed: int,
    ) -> None:
        self.key_starts = key_starts
        self.key_lengths = key_lengths
        self.value_starts = value_starts
        self.value_lengths = value_lengths
        self.count = len(value_starts)
        self.consumed = consumed


class Envelopes:
    """The records of JSON lines: keys, values and encoded headers are in `arena`, at the positions in `lines` and
    `headers`, which are starts and lengths (0: no headers). `partitions` has -1 if a line has none; timestamps are in
    ms. `lines_read` includes blank lines."""

    __slots__ = ("arena", "headers", "lines", "lines_read", "partitions", "timestamps")

    def __init__(
        self,
        arena: bytearray,
        lines: Lines,
        partitions: array[int],
        timestamps: array[int],
        headers: tuple[array[int], array[int]],
        lines_read: int,
    ) -> None:
        self.arena = arena
        self.lines = lines
        self.partitions = partitions
        self.timestamps = timestamps
        self.headers = headers
        self.lines_read = lines_read


AT_A_TIME = 2000  # records of a loop over `send` without a pause: 10 to 20 ms
OVERHEAD = 40  # largest size of a record in addition to key and value, without headers


def now_ms(timestamp: int | None) -> int:
    """Return the given timestamp, or the current time, in ms."""
    return time.time_ns() // 1_000_000 if timestamp is None else timestamp


class RecordMetadata:
    """The position of a stored record. `offset` is -1 if the broker did not return it; `timestamp` is in ms."""

    __slots__ = ("offset", "partition", "timestamp", "topic")

    def __init__(self, topic: str, partition: int, offset: int, timestamp: int) -> None:
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp

    def __repr__(self) -> str:
        return f"RecordMetadata({self.topic}[{self.partition}]@{self.offset}, {self.timestamp})"
