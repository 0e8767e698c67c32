"""A batch's header, and the iteration over its records. Every invalid byte is a DecodeError."""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto.varint import read_more, read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.proto.buffer import Buffer

    Walked = tuple[int, int, int, int, int, int, int, int]


class Header:
    """A batch's 61 header bytes, the place of its uncompressed records section, and the window [first, stop) of
    offsets."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "body_end",
        "body_start",
        "count",
        "data",
        "first",
        "last_offset",
        "leader_epoch",
        "magic",
        "max_decompressed",
        "max_timestamp",
        "packed",
        "producer_epoch",
        "producer_id",
        "size",
        "stop",
    )

    base_offset: int
    last_offset: int
    leader_epoch: int
    attributes: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    magic: int
    size: int
    first: int
    stop: int
    data: Buffer
    body_start: int
    body_end: int
    packed: bool
    max_decompressed: int


def body(h: Header) -> bytes:
    return bytes(memoryview(h.data)[h.body_start : h.body_end])


def walk(h: Header, data: bytes, at: int = 0, done: int = 0) -> Iterator[Walked]:
    """For each record in the window, yield offset, timestamp, key start and length, value start and length, start and
    number of headers. Starts at `at`, after `done` records. Raises DecodeError, IndexError at the end of `data`."""
    size = len(data)
    if h.count < 0 or h.count * 7 > size:
        raise DecodeError(f"a count of {h.count} records in {size} bytes")
    last = h.last_offset - h.base_offset
    first, stop = h.first - h.base_offset, h.stop - h.base_offset
    appended = h.max_timestamp if h.attributes & 8 else None
    for _ in range(done, h.count):
        # the two usual sizes of a varint are read inline: a call for each would double the cost of a record
        length = data[at]
        at += 1
        if length > 127:
            byte = data[at]
            length, at = (length & 127 | byte << 7, at + 1) if byte < 128 else read_more(data, at, length, 32)
        end = at + (length >> 1)
        elapsed = data[at + 1]
        if elapsed > 127:
            elapsed, at = read_varint(data, at + 1, 64)
        else:
            elapsed = (elapsed >> 1) ^ -(elapsed & 1)
            at += 2
        delta = data[at]
        at += 1
        if delta > 127:
            byte = data[at]
            delta, at = (delta & 127 | byte << 7, at + 1) if byte < 128 else read_more(data, at, delta, 32)
        if (length | delta) & 1:
            raise DecodeError("a record with a negative length or offset delta")
        delta >>= 1
        key_length = data[at]
        key = value = at + 1
        if key_length == 1:
            key_length = -1
        else:
            if key_length > 127:
                key_length, key = read_more(data, key, key_length, 32)
            key_length = (key_length >> 1) ^ -(key_length & 1)
            value = key + max(key_length, 0)  # null may be written in more than one byte
        if key_length < -1:
            raise DecodeError("a key of negative length")
        value_length = data[value]
        value += 1
        if value_length > 127:
            byte = data[value]
            value_length, value = (
                (value_length & 127 | byte << 7, value + 1) if byte < 128 else read_more(data, value, value_length, 32)
            )
        value_length = (value_length >> 1) ^ -(value_length & 1)
        headers = value + value_length if value_length > 0 else value
        header_count = data[headers]
        if header_count:
            header_count, headers = read_varint(data, headers)
        else:
            headers += 1
        if value_length < -1 or delta > last:
            raise DecodeError("a record with a negative length, or an offset beyond its batch")
        at = headers
        if header_count:
            at = skip_headers(data, at, header_count, end)
        if at != end or end > size:
            raise DecodeError("a record that does not end where its length says, or that its batch cuts off")
        timestamp = h.base_timestamp + elapsed if appended is None else appended
        if not -(2**63) <= timestamp < 2**63:
            raise DecodeError("a timestamp that does not fit in 64 bits")
        if first <= delta < stop:
            yield h.base_offset + delta, timestamp, key, key_length, value, value_length, headers, header_count
    if at != size:
        raise DecodeError(f"{size - at} bytes after the last record")


def skip_headers(data: bytes, at: int, count: int, end: int) -> int:
    if count < 0 or count * 2 > end - at:
        raise DecodeError(f"{count} headers in {end - at} bytes")
    for _ in range(count):
        length, at = read_varint(data, at)
        if length < 0:
            raise DecodeError("a header without a name")
        length, at = read_varint(data, at + length)
        if length < -1:
            raise DecodeError("a header with a negative length")
        at += max(length, 0)
    return at


def read_headers(data: Buffer, at: int, count: int) -> list[tuple[str, bytes | None]]:
    """Return the headers at `at`, which a walk has checked."""
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        length, at = read_varint(data, at)
        name = str(data[at : at + length], "utf-8", "surrogateescape")
        length, at = read_varint(data, at + length)
        headers.append((name, None if length < 0 else bytes(data[at : at + length])))
        at += max(length, 0)
    return headers


def cut_off(error: IndexError) -> DecodeError:
    return DecodeError(f"records continue after the end of their batch ({error})")
