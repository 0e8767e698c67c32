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
    from kcli.proto.columns import Headers
    from kcli.proto.schema import Buffer

RESERVED = 61
"""Room in front of the section for the batch header."""

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
            while len(DELTAS) < delta + len(run):
                DELTAS.append(encode_varint(len(DELTAS)))
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
    ) -> int:
        """The rows from `first_row` on whose partition is `wanted` (all of them if `partitions` is None), bounded as
        `append_lines`. Returns the first row not looked at."""
        data = memoryview(chunk)
        for row in range(first_row, lines.count):
            if partitions is not None and partitions[row] != wanted:
                continue
            key = _cell(data, lines.key_starts[row], lines.key_lengths[row])
            value = _cell(data, lines.value_starts[row], lines.value_lengths[row])
            if self.count:
                full = self.size + self._measure(timestamp_ms, key, value) > max_bytes
                if full or self.count >= max_records:
                    return row
            self.append(timestamp_ms, key, value)
        return max(first_row, lines.count)


def encode_headers(headers: Headers) -> bytes:
    """The count and the headers as they end a record."""
    parts = [encode_varint(len(headers))]
    for name, content in headers:
        named = name.encode("utf-8", "surrogateescape")
        parts += (encode_varint(len(named)), named)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)
    return b"".join(parts)


def _cell(data: memoryview, start: int, length: int) -> bytes | None:
    return None if length < 0 else bytes(data[start : start + length])


def split_lines(
    chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes | None, empty_is_null: bool = False
) -> Lines:
    """The whole lines of chunk[start:end]. A key is what stands in front of the first `key_delimiter`; a line
    without one has a null key. With `empty_is_null` an empty key or value is null."""
    text = bytes(memoryview(chunk)[start:end])
    cut = bytes((delimiter,))
    key_starts, key_lengths, value_starts, value_lengths = array("i"), array("i"), array("i"), array("i")
    at = 0
    while (stop := text.find(cut, at)) >= 0:
        split = text.find(key_delimiter, at, stop) if key_delimiter else -1
        key_starts.append(start + at)
        key_lengths.append(split - at if split > at or (split == at and not empty_is_null) else -1)
        value = at if split < 0 else split + len(key_delimiter or b"")
        value_starts.append(start + value)
        value_lengths.append(stop - value if stop > value or not empty_is_null else -1)
        at = stop + 1
    return Lines(key_starts, key_lengths, value_starts, value_lengths, start + at)


def partition_keys(chunk: Buffer, lines: Lines, partition_count: int) -> array[int]:
    """Each row's partition by its key as Java's (D11), -1 where the key is null."""
    data = memoryview(chunk)
    known: dict[bytes | None, int] = {None: -1}
    chosen = array("i")
    for start, length in zip(lines.key_starts, lines.key_lengths):
        key = _cell(data, start, length)
        if key not in known:
            known[key] = partition_of(key or b"", partition_count)
        chosen.append(known[key])
    return chosen
