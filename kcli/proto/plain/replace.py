"""Replaces keys or values of a batch's records by what a decoder made of them."""

from __future__ import annotations

from kcli.proto.plain.walk import body, cut_off, walk
from kcli.proto.varint import encode_varint, read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.proto.plain.walk import Header
    from kcli.proto.spans import Spans


def replace_fields(h: Header, keys: Spans | None, values: Spans | None) -> tuple[bytes, int]:
    """Encode the window's records with keys and values from these columns (a row per record; None: unchanged); return
    them and their number. Offsets, timestamps and headers are unchanged. Raises DecodeError."""
    data = body(h)
    made: list[bytes] = []
    try:
        rows = list(walk(h, data))
        new_keys, new_values = _cells(keys, len(rows)), _cells(values, len(rows))
        for offset, timestamp, key, key_length, value, value_length, headers, count in rows:
            held_key = None if key_length < 0 else data[key : key + key_length]
            held_value = None if value_length < 0 else data[value : value + value_length]
            elapsed = 0 if h.attributes & 8 else timestamp - h.base_timestamp
            record = b"\0" + encode_varint(elapsed) + encode_varint(offset - h.base_offset)
            record += _field(held_key if new_keys is None else next(new_keys))
            record += _field(held_value if new_values is None else next(new_values))
            record += encode_varint(count) + data[headers : _end(data, headers, count)]
            made.append(encode_varint(len(record)) + record)
    except IndexError as error:
        raise cut_off(error) from None
    return b"".join(made), len(made)


def _field(data: bytes | None) -> bytes:
    return b"\1" if data is None else encode_varint(len(data)) + data


def _end(data: bytes, at: int, count: int) -> int:
    """Return where headers end, which the walk has checked."""
    for _ in range(count):
        length, at = read_varint(data, at)
        length, at = read_varint(data, at + length)
        at += max(length, 0)
    return at


def _cells(column: Spans | None, rows: int) -> Iterator[bytes | None] | None:
    if column is None:
        return None
    if column.rows != rows:
        raise ValueError(f"{column.rows} rows for {rows} records")
    return _read(column)


def _read(column: Spans) -> Iterator[bytes | None]:
    ends, data = memoryview(column.ends).cast("i"), column.data
    for row in range(column.rows):
        if column.valid is not None and not column.valid[row >> 3] >> (row & 7) & 1:
            yield None
        else:
            yield bytes(data[ends[row] : ends[row + 1]])
