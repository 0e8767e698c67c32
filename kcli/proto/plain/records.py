"""Records as columns, as objects, and in encoded form."""

from __future__ import annotations

from array import array

from kcli.errors import DecodeError
from kcli.proto.columns import Columns, Record
from kcli.proto.plain.walk import body, cut_off, read_headers, walk
from kcli.proto.varint import read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.proto.plain.walk import Header


def count_visible(h: Header) -> int:
    """Return the number of records in the window, by decoding them."""
    try:
        return sum(1 for _ in walk(h, body(h)))
    except IndexError as error:
        raise cut_off(error) from None


def read_columns(h: Header) -> Columns:
    """Return the window's records as columns."""
    data = body(h)
    try:
        rows = list(walk(h, data))
    except IndexError as error:
        raise cut_off(error) from None
    columns = list(zip(*rows)) if rows else [()] * 8
    offsets, timestamps, *spans = (array(kind, column) for kind, column in zip("qqiiiiii", columns))
    return Columns(data, offsets, timestamps, *spans)


def timed(h: Header, start: int, stop: int) -> array[int]:
    """Return the offsets of the window's records with a timestamp in [start, stop), in order."""
    try:
        return array("q", [offset for offset, timestamp, *_ in walk(h, body(h)) if start <= timestamp < stop])
    except IndexError as error:
        raise cut_off(error) from None


def contains(h: Header, text: bytes) -> bool:
    """Whether the bytes occur anywhere in the records section."""
    return text in body(h)


def pick(h: Header, offsets: array[int]) -> tuple[bytes, int]:
    """Return the encoded records at these offsets, which ascend, and how many were found.

    They are unchanged, because a record's offset and time are relative to its batch: a section with some of them is
    what a compacted batch has (KIP-98).
    """
    data = body(h)
    deltas = {offset - h.base_offset for offset in offsets}
    sections = []
    at = 0
    try:
        for _ in range(h.count):
            length, end = read_varint(data, at)
            end += length
            if length < 0 or end > len(data):
                raise DecodeError("records continue after the end of their batch")
            _, delta_at = read_varint(data, end - length + 1, 64)
            if read_varint(data, delta_at)[0] in deltas:
                sections.append(data[at:end])
            at = end
    except IndexError as error:
        raise cut_off(error) from None
    return b"".join(sections), len(sections)


def read_records(h: Header) -> Iterator[Record]:
    """Iterate over the window's records as objects. All are checked before the first is returned."""
    data = body(h)
    records = []
    try:
        for offset, timestamp, key, key_length, value, value_length, headers, header_count in walk(h, data):
            records.append(
                Record(
                    offset,
                    timestamp,
                    None if key_length < 0 else data[key : key + key_length],
                    None if value_length < 0 else data[value : value + value_length],
                    read_headers(data, headers, header_count) if header_count else (),
                )
            )
    except IndexError as error:
        raise cut_off(error) from None
    return iter(records)
