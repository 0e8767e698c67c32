"""Writes values with a delimiter, with as few steps per record as possible."""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto.plain.builder import ENOUGH, is_plain, usual_values
from kcli.proto.plain.walk import body, cut_off, skip_headers
from kcli.proto.plain.writing import value_of, write
from kcli.proto.varint import read_more, read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.plain.walk import Header


def write_values(h: Header, out: bytearray, delimiter: bytes, limit: int, null: bytes) -> tuple[int, int]:
    """Append each value and the delimiter. Returns the number of records written (at most `limit` unless negative) and
    the next offset: the window's end, or the offset after the last record if the limit left any."""
    data = body(h)
    if limit >= 0 or not is_plain(h):
        return write(h, data, out, limit, lambda row: value_of(data, row, null) + delimiter)
    values: list[bytes] = []
    try:
        at = usual_values(h, data, values) if h.count >= ENOUGH else 0
        if len(values) < h.count:
            at = _values(h, data, at, values, null)
    except IndexError as error:
        raise cut_off(error) from None
    if at != len(data):
        raise DecodeError(f"{len(data) - at} bytes after the last record")
    if values:
        values.append(b"")
        out += delimiter.join(values)
        return len(values) - 1, h.last_offset + 1
    return 0, h.last_offset + 1


def write_many(batches: Sequence[Header], out: bytearray, delimiter: bytes, null: bytes) -> tuple[int, int]:
    """Apply `write_values` to the batches from the first on, while they are neither compressed nor broken. Returns the
    number of records written, and of batches."""
    written = 0
    for done, h in enumerate(batches):
        if (h.packed and (h.magic != 2 or h.attributes & 7)) or h.count * 7 > h.body_end - h.body_start:
            return written, done
        try:
            written += write_values(h, out, delimiter, -1, null)[0]
        except DecodeError:
            return written, done
    return written, len(batches)


def _values(h: Header, data: bytes, at: int, values: list[bytes], null: bytes) -> int:
    """Collect the values of the records from `at` on, after those in `values`. Returns where they end."""
    add = values.append
    last = h.last_offset - h.base_offset
    for _ in range(len(values), h.count):
        length = data[at]
        at += 1
        if length > 127:
            byte = data[at]
            length, at = (length & 127 | byte << 7, at + 1) if byte < 128 else read_more(data, at, length, 32)
        end = at + (length >> 1)
        if data[at + 1] > 127:
            elapsed, at = read_varint(data, at + 1, 64)
            if not -(2**63) <= h.base_timestamp + elapsed < 2**63:
                raise DecodeError("a timestamp that does not fit in 64 bits")
        else:
            at += 2
        delta = data[at]
        at += 1
        if delta > 127:
            byte = data[at]
            delta, at = (delta & 127 | byte << 7, at + 1) if byte < 128 else read_more(data, at, delta, 32)
        key = data[at]
        at += 1
        if key != 1:
            if key > 127:
                key, at = read_more(data, at, key, 32)
            if key & 1 and key != 1:
                raise DecodeError("a negative length")
            at += key >> 1
        value = data[at]
        at += 1
        if value > 127:
            byte = data[at]
            value, at = (value & 127 | byte << 7, at + 1) if byte < 128 else read_more(data, at, value, 32)
        if value & 1:
            add(null if value == 1 else _negative())
        else:
            start = at
            at += value >> 1
            add(data[start:at])
        headers = data[at]
        at += 1
        if headers:
            headers, at = read_varint(data, at - 1)
            at = skip_headers(data, at, headers, end)
        if at != end or length & 1 or delta & 1 or delta >> 1 > last:
            raise DecodeError("a record that does not end where its length says, or is beyond its batch")
    return at


def _negative() -> bytes:
    raise DecodeError("a negative length")
