"""The records section of an open batch.

Lines of text are not encoded one by one: the bytes between two values are looked up, and one join makes the section.
"""

from __future__ import annotations

from kcli.errors import EncodeError
from kcli.proto.plain.between import Around, Between
from kcli.proto.plain.deltas import DELTAS, count_to
from kcli.proto.plain.headers import encode_headers
from kcli.proto.varint import encode_varint, varint_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Headers, Lines

    Pair = tuple[bytes | None, bytes | None]


RESERVED = 61
"""Room in front of the section for the batch header."""


STEP = 512
"""Keyed rows encoded at a time; where they do not fit, fewer."""


FEW_LINES = 16
"""Lines that a batch may still take up to which they are taken one by one."""


LARGEST = 2**31 - 1 - 2 * RESERVED
"""A batch's length is an int32."""


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
        self._append(timestamp_ms, key, value, encode_headers(headers))

    def append_tailed(
        self, key: bytes | None, value: bytes | None, tail: bytes, timestamp: int, max_bytes: int, max_records: int
    ) -> bool:
        """A record with encoded headers if it is the first or fits; False, and nothing written, if not."""
        if self.count and (
            self.count >= max_records or self.size + self._measure(timestamp, key, value, tail=len(tail)) > max_bytes
        ):
            return False
        self._append(timestamp, key, value, tail)
        return True

    def _append(self, timestamp_ms: int, key: bytes | None, value: bytes | None, tail: bytes) -> None:
        delta = timestamp_ms - (self.base_timestamp if self.count else timestamp_ms)
        parts = [b"\x00", encode_varint(delta), encode_varint(self.count)]
        for field in (key, value):
            parts += (b"\x01",) if field is None else (encode_varint(len(field)), field)
        parts.append(tail)
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
        cut = bytes((delimiter,))
        few = max_records - self.count <= FEW_LINES
        text = (
            _beginning(chunk, start, end, cut, max_records - self.count) if few else bytes(memoryview(chunk)[start:end])
        )
        at = 0
        share = 3 / 4
        while not empty_is_null and not few and share > 0.01:
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

    def _measure(self, timestamp: int, key: bytes | None, value: bytes | None, further: int = 0, tail: int = 1) -> int:
        """The bytes that a record would take here, or `further` records on; `tail` is the length of its headers."""
        size = 1 + tail + varint_size(timestamp - self.base_timestamp) + varint_size(self.count + further)
        for field in (key, value):
            size += 1 if field is None else varint_size(len(field)) + len(field)
        return size + varint_size(size)

    def append_rows(
        self,
        chunk: Buffer,
        lines: Lines,
        first_row: int,
        timestamp_ms: int,
        max_bytes: int,
        max_records: int,
        timestamps: array[int] | None = None,
    ) -> int:
        """The rows from `first_row` on, bounded as `append_lines`. `timestamps` are one for each row. Returns the first
        row that was not appended."""
        data = bytes(chunk)
        row, step = first_row, STEP if timestamps is None else 1
        while row < lines.count:
            stop = min(row + step, lines.count)
            stamp = timestamp_ms if timestamps is None else timestamps[row]
            if not self.append_pairs(pairs_of(data, lines, range(row, stop)), stamp, max_bytes, max_records):
                if step == 1:
                    return row
                step = max(step // 4, 1)
                continue
            row = stop
        return max(first_row, lines.count)

    def append_pairs(self, pairs: list[Pair], timestamp: int, max_bytes: int, max_records: int) -> bool:
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


def pairs_of(data: bytes, lines: Lines, rows: Sequence[int]) -> list[Pair]:
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


def _beginning(chunk: Buffer, start: int, end: int, cut: bytes, lines: int) -> bytes:
    """The beginning of chunk[start:end] with at least this number of lines; all of it where there are fewer."""
    size = 1024 * max(lines, 1)
    while True:
        text = bytes(memoryview(chunk)[start : min(start + size, end)])
        if start + size >= end or text.count(cut) >= max(lines, 1):
            return text
        size *= 4
