"""The records section of an open batch.

Lines of text are not encoded one by one: the bytes between two values are looked up, and one join creates the section.
"""

from __future__ import annotations

from kcli.errors import EncodeError
from kcli.proto.plain.headers import encode_headers
from kcli.proto.varint import encode_varint, varint_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Headers, Lines

    Pair = tuple[bytes | None, bytes | None]
    from collections.abc import Iterator

    from kcli.proto.plain.walk import Header

    Places = tuple[bytes, int, int, int]


# Offset deltas as varints, created once.


DELTAS: list[bytes] = []
"""Varints by offset delta, for as many as were needed so far."""


def count_to(count: int) -> None:
    while len(DELTAS) < count:
        DELTAS.append(encode_varint(len(DELTAS)))


# Records of the usual shape: no headers, no null value, a length of two bytes, an elapsed time and a key length of one.
# Such a record is not parsed: the positions of its fields follow from its length, and are compared with its bytes. The
# result is the same as that of parsing.


ENOUGH = 64
"""Records of a batch from which on the tables save more than they cost."""
NULL_KEY = 1
_WIDTHS = (64, 8192, 1 << 17)
"""Offset deltas below these take one, two, three bytes."""


def is_plain(h: Header) -> bool:
    """Whether all of the batch is wanted, and no timestamp of an elapsed time of one byte can be wrong."""
    return (
        not h.attributes & 8 and abs(h.base_timestamp) < 1 << 62 and h.first <= h.base_offset and h.stop > h.last_offset
    )


class Shapes(dict[bytes, dict[int, "Places"]]):
    """Maps the first four bytes of a record to its shapes, for offset deltas of one size."""

    def __init__(self, delta_size: int) -> None:
        super().__init__()
        self.delta_size = delta_size

    def __missing__(self, head: bytes) -> dict[int, Places]:
        shape = self[head] = Shape(head, self.delta_size)
        return shape


class Shape(dict[int, "Places"]):
    """Maps the first byte of a record's key length to the bytes of its value length, their start, the value's start,
    and its end, relative to the record's start. An end of 0 means that there is no such record."""

    def __init__(self, head: bytes, delta_size: int) -> None:
        super().__init__()
        length = head[0] & 127 | head[1] << 7 if len(head) == 4 else 0
        usual = length and head[0] > 127 and head[1] < 128 and head[3] < 128 and not length & 1
        self.end = 2 + (length >> 1) - 1 if usual else 0
        self.key = 4 + delta_size + 1

    def __missing__(self, byte: int) -> Places:
        made = b"", 0, 0, 0
        if byte == NULL_KEY or (byte < 128 and not byte & 1):
            at = self.key + (0 if byte == NULL_KEY else byte >> 1)
            for size in (1, 2, 3):
                value = self.end - at - size
                written = encode_varint(max(value, 0))
                if value >= 0 and len(written) == size:
                    made = written, at, at + size, self.end
        self[byte] = made
        return made


def _stretches(h: Header) -> Iterator[tuple[list[bytes], int, Shapes]]:
    """Yield offset deltas of one size: their bytes, the distance of the key length from a record's start, and the
    shapes."""
    n, most = 0, min(h.count, h.last_offset - h.base_offset + 1, _WIDTHS[-1])
    while n < most:
        some = min(next(bound for bound in _WIDTHS if n < bound), most)
        count_to(some)
        delta_size = len(DELTAS[n])
        yield DELTAS[n:some], 4 + delta_size, Shapes(delta_size)
        n = some


def usual_values(h: Header, data: bytes, values: list[bytes]) -> int:
    """Collect the values of the records of usual shape before the first other one. Returns where that starts."""
    add = values.append
    at = 0
    try:
        for widths, key, shapes in _stretches(h):
            for width in widths:
                written, before, start, end = shapes[data[at : at + 4]][data[at + key]]
                start += at
                end += at
                if end == at or data[at + 4 : at + key] != width or data[before + at : start] != written or data[end]:
                    return at
                add(data[start:end])
                at = end + 1
    except IndexError:
        return at  # a last record shorter than the bytes of its delta suggest: it is parsed
    return at


class Usual:
    """The columns of the records of usual shape before the first other one, which starts at `at`. `heads` are the first
    four bytes of each, the last of which is its elapsed time. `keys` is None if all keys are null; a record of the
    other kind also ends the columns."""

    __slots__ = ("at", "heads", "keys", "values")

    def __init__(self, h: Header, data: bytes) -> None:
        self.heads: list[bytes] = []
        self.keys: list[bytes] | None = None
        self.values: list[bytes] = []
        self.at = 0
        if h.count < ENOUGH or not is_plain(h):
            return
        try:
            if data[5] == NULL_KEY:
                self._read(h, data)
            else:
                self.keys = []
                self._read_keyed(h, data, self.keys)
        except IndexError:
            return  # the data ends too early: parsing from here on raises the error

    def _read(self, h: Header, data: bytes) -> None:
        add_head, add = self.heads.append, self.values.append
        at = 0
        for widths, key, shapes in _stretches(h):
            for width in widths:
                head = data[at : at + 4]
                written, before, start, end = shapes[head][NULL_KEY]
                start += at
                end += at
                if (
                    end == at
                    or data[at + 4 : at + key + 1] != width + b"\x01"
                    or data[before + at : start] != written
                    or data[end]
                ):
                    return
                add_head(head)
                add(data[start:end])
                self.at = at = end + 1

    def _read_keyed(self, h: Header, data: bytes, keys: list[bytes]) -> None:
        add_head, add_key, add = self.heads.append, keys.append, self.values.append
        at = 0
        for widths, key, shapes in _stretches(h):
            for width in widths:
                head = data[at : at + 4]
                byte = data[at + key]
                written, before, start, end = shapes[head][byte]
                before += at
                start += at
                end += at
                if (
                    byte == NULL_KEY
                    or end == at
                    or data[at + 4 : at + key] != width
                    or data[before:start] != written
                    or data[end]
                ):
                    return
                add_head(head)
                add_key(data[at + key + 1 : before])
                add(data[start:end])
                self.at = at = end + 1

    def stamps(self, h: Header) -> dict[bytes, int]:
        """Return the timestamp, in ms, for each head."""
        return {head: h.base_timestamp + ((head[3] >> 1) ^ -(head[3] & 1)) for head in set(self.heads)}


# The bytes between two values of an open batch depend only on lengths, so they are looked up.


class Between(dict[int, tuple[bytes, bytes]]):
    """Maps a value's length to the bytes before and after the offset delta of its record, whose key is null. The bytes
    before begin with the header count, 0, of the previous record."""

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
    """Maps the size of the offset delta and the lengths of key and value (-1 for null) to the bytes before the delta,
    between delta and key, and between key and value. The first begin with the header count, 0, of the previous record.
    """

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


RESERVED = 61
"""Room before the section for the batch header."""


STEP = 512
"""Keyed rows encoded at a time; fewer if they do not fit."""


FEW_LINES = 16
"""Number of lines that still fit in a batch up to which they are appended one by one."""


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
        """Take the reserved bytes and the section; the builder is then empty."""
        taken = self._buffer
        self._reset()
        return taken

    def append(self, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Headers = ()) -> None:
        """Append one record. Raises EncodeError if the batch would exceed the largest length."""
        self._append(timestamp_ms, key, value, encode_headers(headers))

    def append_tailed(
        self, key: bytes | None, value: bytes | None, tail: bytes, timestamp: int, max_bytes: int, max_records: int
    ) -> bool:
        """Append a record with encoded headers if it is the first or fits; otherwise return False without writing."""
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
            raise EncodeError(f"a batch of {self.size + size} bytes is more than its length field can express")

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
        """Append the whole lines of chunk[start:end] as values with a null key, until the section would exceed
        `max_bytes` or `max_records`; a first line always fits. Returns where the next line starts."""
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
        """Append values that are known to fit."""
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
        """Append lines near the limit, measuring each. Returns where the next one starts."""
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
        """Return the size that a record would have here, or `further` records later; `tail` is the length of its
        headers."""
        size = 1 + tail + varint_size(timestamp - self.base_timestamp) + varint_size(self.count + further)
        for field in (key, value):
            size += 1 if field is None else varint_size(len(field)) + len(field)
        return size + varint_size(size)

    def append_pairs(self, pairs: list[Pair], timestamp: int, max_bytes: int, max_records: int) -> bool:
        """Append keys and values, all or none: return False without writing if they do not fit. A first one always
        does."""
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
    """Return the keys and values of rows."""
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
    """Return the beginning of chunk[start:end] with at least this number of lines; all of it if there are fewer."""
    size = 1024 * max(lines, 1)
    while True:
        text = bytes(memoryview(chunk)[start : min(start + size, end)])
        if start + size >= end or text.count(cut) >= max(lines, 1):
            return text
        size *= 4
