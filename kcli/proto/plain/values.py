"""Values and a delimiter. A record of the usual shape is not walked: its length says where its value is."""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto.plain.deltas import DELTAS, count_to
from kcli.proto.plain.walk import body, cut_off, skip_headers
from kcli.proto.plain.writing import value_of, write
from kcli.proto.varint import encode_varint, read_more, read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.plain.walk import Header


def write_values(h: Header, out: bytearray, delimiter: bytes, limit: int, null: bytes) -> tuple[int, int]:
    """Append each value and the delimiter. Returns the records written (at most `limit` if that is not negative) and
    the next offset: the window's end, or one past the last record if the limit left any."""
    data = body(h)
    if (
        limit >= 0
        or h.attributes & 8
        or abs(h.base_timestamp) >= 1 << 62
        or h.first > h.base_offset
        or h.stop <= h.last_offset
    ):
        return write(h, data, out, limit, lambda row: value_of(data, row, null) + delimiter)
    values: list[bytes] = []
    try:
        at = _usual_values(h, data, values) if h.count >= 64 else 0  # else the tables cost more than they save
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
    """`write_values` of the batches from the first on, as long as they are neither compressed nor broken. Returns the
    records written and how many batches that took."""
    written = 0
    for done, h in enumerate(batches):
        if (h.packed and (h.magic != 2 or h.attributes & 7)) or h.count * 7 > h.body_end - h.body_start:
            return written, done
        try:
            written += write_values(h, out, delimiter, -1, null)[0]
        except DecodeError:
            return written, done
    return written, len(batches)


class Shapes(dict[bytes, dict[int, tuple[bytes, int, int]]]):
    """The first four bytes of a record to its shapes, for offset deltas of one size."""

    def __init__(self, delta_size: int) -> None:
        super().__init__()
        self.delta_size = delta_size

    def __missing__(self, head: bytes) -> dict[int, tuple[bytes, int, int]]:
        shape = self[head] = Shape(head, self.delta_size)
        return shape


class Shape(dict[int, tuple[bytes, int, int]]):
    """The first byte of a record's key length to: the bytes of its value length, where the value starts, and where it
    ends, counted from the record's start; if it has no headers, and a length of two bytes, and an elapsed time and a
    key length of one. All of it follows from the record's length; an end of 0 says that no such record exists."""

    def __init__(self, head: bytes, delta_size: int) -> None:
        super().__init__()
        length = head[0] & 127 | head[1] << 7 if len(head) == 4 else 0
        usual = length and head[0] > 127 and head[1] < 128 and head[3] < 128 and not length & 1
        self.end = 2 + (length >> 1) - 1 if usual else 0
        self.key = 4 + delta_size + 1

    def __missing__(self, byte: int) -> tuple[bytes, int, int]:
        made = b"", 0, 0
        if byte == 1 or (byte < 128 and not byte & 1):
            at = self.key + (0 if byte == 1 else byte >> 1)
            for size in (1, 2, 3):
                value = self.end - at - size
                written = encode_varint(max(value, 0))
                if value >= 0 and len(written) == size:
                    made = written, at + size, self.end
        self[byte] = made
        return made


def _usual_values(h: Header, data: bytes, values: list[bytes]) -> int:
    """Values of the records of usual shape in front of the first other one. Returns where that starts.
    What is guessed of a record is compared with its bytes, so what is taken is what a walk would find."""
    add = values.append
    at = n = 0
    most = min(h.count, h.last_offset - h.base_offset + 1, 1 << 17)
    while n < most:
        bound = next(bound for bound in (64, 8192, 1 << 17) if n < bound)
        some = min(bound, most)
        count_to(some)
        delta_size = len(DELTAS[n])
        key = 4 + delta_size
        shapes = Shapes(delta_size)
        for width in DELTAS[n:some]:
            written, start, end = shapes[data[at : at + 4]][data[at + key]]
            start += at
            end += at
            if (
                end == at
                or data[at + 4 : at + key] != width
                or data[start - len(written) : start] != written
                or data[end]
            ):
                return at
            add(data[start:end])
            at = end + 1
        n = some
    return at


def _values(h: Header, data: bytes, at: int, values: list[bytes], null: bytes) -> int:
    """The values of the records from `at` on, after those that are in `values`. Returns where they end."""
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
            if key & 1:
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
