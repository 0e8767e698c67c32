"""The records section of an open batch, in plain Python (the twin of `_records.Builder`).

Lines of text are not encoded one by one: what stands between two values depends on the value's length and the
offset delta's width only, so it is looked up, and one join makes the section.
"""

from __future__ import annotations

from array import array

from kcli.errors import EncodeError
from kcli.proto.columns import Lines
from kcli.proto.murmur2 import partition_of
from kcli.proto.varint import encode_varint, varint_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.columns import Headers
    from kcli.proto.schema import Buffer

    Pair = tuple[bytes | None, bytes | None]

RESERVED = 61
"""Room in front of the section for the batch header."""

STEP = 512
"""Keyed rows encoded at a time; where they do not fit, fewer."""

LARGEST = 2**31 - 1 - 2 * RESERVED
"""A batch's length is an int32."""

DELTAS: list[bytes] = []
"""Offset delta to its varint, for as many as were needed so far."""


class Between(dict[int, tuple[bytes, bytes]]):
    """A value's length to the bytes in front of and behind the offset delta of its record, whose key is null.
    The bytes in front begin with the header count, 0, of the record before."""

    def __init__(self, timestamp: bytes, delta_size: int) -> None:
        super().__init__()
        self.timestamp = timestamp
        self.delta_size = delta_size

    def __missing__(self, length: int) -> tuple[bytes, bytes]:
        behind = b"\x01" + encode_varint(length)
        size = 1 + len(self.timestamp) + self.delta_size + len(behind) + length + 1
        made = b"\x00" + encode_varint(size) + b"\x00" + self.timestamp, behind
        self[length] = made
        return made


class Around(dict[tuple[int, int, int], tuple[bytes, bytes, bytes]]):
    """The size of the offset delta and the lengths of key and value (-1 for null) to the bytes in front of the delta,
    between delta and key, and between key and value. The first begin with the header count, 0, of the record before."""

    def __init__(self, timestamp: bytes) -> None:
        super().__init__()
        self.timestamp = timestamp

    def __missing__(self, sizes: tuple[int, int, int]) -> tuple[bytes, bytes, bytes]:
        delta_size, key, value = sizes
        middle, behind = encode_varint(key), encode_varint(value)
        lengths = delta_size + len(middle) + max(key, 0) + len(behind) + max(value, 0)
        size = 1 + len(self.timestamp) + lengths + 1
        made = b"\x00" + encode_varint(size) + b"\x00" + self.timestamp, middle, behind
        self[sizes] = made
        return made


def count_to(count: int) -> None:
    while len(DELTAS) < count:
        DELTAS.append(encode_varint(len(DELTAS)))


class Builder:
    """An open batch's records section. `size` is in bytes without the reserved header; timestamps are in ms."""

    __slots__ = ("_buffer", "base_timestamp", "count", "max_timestamp")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._buffer = bytearray(RESERVED)
        self.count = 0
        self.base_timestamp = -1
        self.max_timestamp = -1

    @property
    def size(self) -> int:
        return len(self._buffer) - RESERVED

    def take(self) -> bytearray:
        """The reserved bytes and the section. The builder is empty afterwards."""
        taken = self._buffer
        self._reset()
        return taken

    def append(self, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Headers = ()) -> None:
        """One record. Raises EncodeError if the batch would outgrow what a length can say."""
        delta = timestamp_ms - (self.base_timestamp if self.count else timestamp_ms)
        parts = [b"\x00", encode_varint(delta), encode_varint(self.count)]
        for field in (key, value):
            parts += (b"\x01",) if field is None else (encode_varint(len(field)), field)
        parts.append(encode_headers(headers))
        size = sum(map(len, parts))
        self._room(size + varint_size(size))
        self._stamp(timestamp_ms)
        self._buffer += encode_varint(size)
        self._buffer += b"".join(parts)
        self.count += 1

    def _room(self, size: int) -> None:
        if self.size + size > LARGEST:
            raise EncodeError(f"a batch of {self.size + size} bytes is more than its length field can say")

    def _stamp(self, timestamp: int) -> None:
        if not self.count:
            self.base_timestamp = self.max_timestamp = timestamp
        elif timestamp > self.max_timestamp:
            self.max_timestamp = timestamp

    def append_lines(
        self,
        chunk: Buffer,
        start: int,
        end: int,
        delimiter: int,
        timestamp_ms: int,
        max_bytes: int,
        max_records: int,
        empty_is_null: bool = False,
    ) -> int:
        """Whole lines of chunk[start:end] as values with a null key, until the section would exceed `max_bytes` or
        `max_records`; a first line always fits. Returns where the next line starts."""
        text = bytes(memoryview(chunk)[start:end])
        cut = bytes((delimiter,))
        at = 0
        share = 3 / 4
        while not empty_is_null and share > 0.01:
            room = min(max_bytes, LARGEST) - self.size
            stop = text.rfind(cut, at, at + int(room * share)) + 1 if room > 4096 else 0
            values = text[at : stop - 1].split(cut) if stop > at else []
            if not values or self.count + len(values) > max_records:
                break
            self._stamp(timestamp_ms)
            longest = max(values, key=len)
            between = self._measure(timestamp_ms, None, longest, len(values)) - len(longest)
            if len(values) * between + stop - at > room:
                share /= 2
                continue
            self._append_values(values, timestamp_ms)
            at = stop
        return start + self._append_one_by_one(text, at, cut, timestamp_ms, max_bytes, max_records, empty_is_null)

    def _append_values(self, values: list[bytes], timestamp: int) -> None:
        """Values that were found to fit."""
        stamp = encode_varint(timestamp - self.base_timestamp)
        first = 0
        while first < len(values):
            delta = self.count
            bound = 64 if delta < 64 else 8192 if delta < 8192 else 1 << 20 if delta < 1 << 20 else 1 << 27
            run = values[first : first + bound - delta]
            between = Between(stamp, varint_size(delta))
            count_to(delta + len(run))
            parts: list[bytes] = []
            add = parts.append
            for width, value in zip(DELTAS[delta : delta + len(run)], run):
                front, behind = between[len(value)]
                add(front)
                add(width)
                add(behind)
                add(value)
            add(b"\x00")
            self._buffer += memoryview(b"".join(parts))[1:]
            self.count += len(run)
            first += len(run)

    def _append_one_by_one(
        self, text: bytes, at: int, cut: bytes, timestamp: int, max_bytes: int, max_records: int, empty_is_null: bool
    ) -> int:
        """Lines near the bound, each measured. Returns where the next one starts."""
        while self.count < max_records or not self.count:
            stop = text.find(cut, at)
            if stop < 0:
                break
            value = None if empty_is_null and stop == at else text[at:stop]
            if self.count and self.size + self._measure(timestamp, None, value) > max_bytes:
                break
            self.append(timestamp, None, value)
            at = stop + 1
        return at

    def _measure(self, timestamp: int, key: bytes | None, value: bytes | None, further: int = 0) -> int:
        """The bytes that a record without headers would take here, or as many records further."""
        size = 2 + varint_size(timestamp - self.base_timestamp) + varint_size(self.count + further)
        for field in (key, value):
            size += 1 if field is None else varint_size(len(field)) + len(field)
        return size + varint_size(size)

    def append_rows(
        self,
        chunk: Buffer,
        lines: Lines,
        first_row: int,
        partitions: array[int] | None,
        wanted: int,
        timestamp_ms: int,
        max_bytes: int,
        max_records: int,
        timestamps: array[int] | None = None,
    ) -> int:
        """The rows from `first_row` on whose partition is `wanted` (all of them if `partitions` is None), bounded as
        `append_lines`. `timestamps` are one for each row. Returns the first row not looked at."""
        data = bytes(chunk)
        if timestamps is not None:
            return self._append_timed(data, lines, first_row, partitions, wanted, timestamps, max_bytes, max_records)
        row, step = first_row, STEP
        while row < lines.count:
            stop = min(row + step, lines.count)
            rows: Sequence[int] = range(row, stop)
            if partitions is not None:
                rows = [at for at in rows if partitions[at] == wanted]
            if rows and not self._append_pairs(_pairs(data, lines, rows), timestamp_ms, max_bytes, max_records):
                if step == 1:
                    return row
                step = max(step // 4, 1)
                continue
            row = stop
        return max(first_row, lines.count)

    def _append_timed(
        self, data: bytes, lines: Lines, first_row: int, partitions: array[int] | None, wanted: int,
        timestamps: array[int], max_bytes: int, max_records: int,
    ) -> int:  # fmt: skip
        """Rows with a time each, each measured."""
        for row in range(first_row, lines.count):
            if partitions is not None and partitions[row] != wanted:
                continue
            ((key, value),) = _pairs(data, lines, (row,))
            timestamp = timestamps[row]
            if self.count and (
                self.count >= max_records or self.size + self._measure(timestamp, key, value) > max_bytes
            ):
                return row
            self.append(timestamp, key, value)
        return max(first_row, lines.count)

    def _append_pairs(self, pairs: list[Pair], timestamp: int, max_bytes: int, max_records: int) -> bool:
        """Keys and values, all or none: False, and nothing written, if they do not fit. A first one always does."""
        first = not self.count and len(pairs) == 1
        if self.count + len(pairs) > max_records and not first:
            return False
        elapsed = encode_varint(timestamp - self.base_timestamp if self.count else 0)
        between = Around(elapsed)
        count = self.count
        parts: list[bytes] = []
        count_to(count + len(pairs))
        add = parts.append
        for width, (key, value) in zip(DELTAS[count : count + len(pairs)], pairs):
            front, middle, behind = between[
                len(width), -1 if key is None else len(key), -1 if value is None else len(value)
            ]
            add(front)
            add(width)
            add(middle)
            if key:
                add(key)
            add(behind)
            if value:
                add(value)
        add(b"\x00")
        made = memoryview(b"".join(parts))[1:]
        if first:
            self._room(len(made))
        elif self.size + len(made) > min(max_bytes, LARGEST):
            return False
        self._stamp(timestamp)
        self._buffer += made
        self.count += len(pairs)
        return True


def encode_headers(headers: Headers) -> bytes:
    """The count and the headers as they end a record."""
    parts = [encode_varint(len(headers))]
    for name, content in headers:
        named = name.encode("utf-8", "surrogateescape")
        parts += (encode_varint(len(named)), named)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)
    return b"".join(parts)


def _pairs(data: bytes, lines: Lines, rows: Sequence[int]) -> list[Pair]:
    """The keys and values of rows."""
    key_starts, key_lengths = lines.key_starts, lines.key_lengths
    value_starts, value_lengths = lines.value_starts, lines.value_lengths
    return [
        (
            None if (size := key_lengths[row]) < 0 else data[(start := key_starts[row]) : start + size],
            None if (size := value_lengths[row]) < 0 else data[(start := value_starts[row]) : start + size],
        )
        for row in rows
    ]


def split_lines(
    chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes | None, empty_is_null: bool = False
) -> Lines:
    """The whole lines of chunk[start:end]. A key is what stands in front of the first `key_delimiter`; a line
    without one has a null key. With `empty_is_null` an empty key or value is null."""
    text = bytes(memoryview(chunk)[start:end])
    cut = bytes((delimiter,))
    key_starts, key_lengths, value_starts, value_lengths = [], [], [], []
    wide = len(key_delimiter or b"")
    at = start
    values = text.split(cut)
    values.pop()
    for line in values:
        split = line.find(key_delimiter) if key_delimiter else -1
        size = len(line)
        key_starts.append(at)
        if split < 0:
            key_lengths.append(-1)
            value_starts.append(at)
        else:
            key_lengths.append(split if split or not empty_is_null else -1)
            value_starts.append(at + split + wide)
            size -= split + wide
        value_lengths.append(size if size or not empty_is_null else -1)
        at += len(line) + 1
    keys = array("i", key_starts), array("i", key_lengths)
    return Lines(*keys, array("i", value_starts), array("i", value_lengths), at)


def partition_keys(chunk: Buffer, lines: Lines, partition_count: int) -> array[int]:
    """Each row's partition by its key as Java's (D11), -1 where the key is null."""
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    data = bytes(chunk)
    known = Partitions(partition_count)
    starts = lines.key_starts
    return array(
        "i",
        [known[data[at : at + size]] if size >= 0 else -1 for at, size in zip(starts, lines.key_lengths)],
    )


class Partitions(dict[bytes, int]):
    """A key to its partition."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __missing__(self, key: bytes) -> int:
        made = self[key] = partition_of(key, self.count)
        return made
