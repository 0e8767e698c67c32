"""The record core in plain Python: the oracle `_records.pyx` is tested against, and what runs where that was not
compiled. A batch stays encoded; these functions walk its records section once and make what was asked for.
Every broken byte is a DecodeError, and then nothing was written.
"""

from __future__ import annotations

from array import array
from struct import Struct

from kcli.errors import DecodeError
from kcli.proto.builder import DELTAS, Builder, count_to, encode_headers, partition_keys, split_lines
from kcli.proto.columns import Columns, Record
from kcli.proto.gather import Gather
from kcli.proto.murmur2 import murmur2, partition_of
from kcli.proto.varint import encode_varint, read_more, read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    from kcli.proto.schema import Buffer

    Program = tuple[bytes | tuple[str, Callable[[Any], bytes] | None], ...]
    H = TypeVar("H", bound="Header")
    Walked = tuple[int, int, int, int, int, int, int, int]

__all__ = [
    "NAME",
    "Builder",
    "Gather",
    "Header",
    "count_visible",
    "crc32c",
    "encode_headers",
    "ends",
    "murmur2",
    "partition_keys",
    "partition_of",
    "pick",
    "read_columns",
    "read_headers",
    "read_records",
    "scan",
    "show",
    "split_lines",
    "write_format",
    "write_json",
    "write_many",
    "write_values",
]

NAME = "python"
HEADER = Struct(">qiibIhiqqqhii")
PREFIX = Struct(">qiib")
SMALLEST = 49  # of batch_length
LAST = 2**63 - 2**32  # a base offset from which last offsets could not be counted


class Header:
    """A batch's 61 bytes as read, where its plain records section is, and the window [first, stop) of offsets."""

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


def crc32c(data: Buffer, crc: int = 0) -> int:  # noqa: F811
    """CRC-32C (Castagnoli)."""
    global crc32c
    from kcli.proto.checksum import crc32c as found

    crc32c = found  # type: ignore[assignment]
    return found(data, crc)


def ends(data: Buffer) -> tuple[int, int, int]:
    """(next offset, leader epoch of the last batch, bytes of whole batches) from headers alone, of any magic.
    The offset is -1 when there is no whole batch. An incomplete last batch is not looked at (E1)."""
    at, size = 0, len(data)
    following = epoch = -1
    while size - at >= 17:
        base, length, leader_epoch, magic = PREFIX.unpack_from(data, at)
        end = at + 12 + length
        if length < 14 or end > size:
            break
        following = base + 1
        if magic >= 2 and end - at >= HEADER.size:
            following += max(int.from_bytes(data[at + 23 : at + 27], "big", signed=True), 0)
            epoch = leader_epoch
        at = end
    return following, epoch, at


def show(batches: list[H], position: int, end: int | None, control: bool) -> tuple[list[H], int, bool]:
    """The batches that reach into [position, end), cut to it, without empty ones and, unless `control`, markers
    (E3, E4). Returns them, the position after them, and whether all were looked at."""
    shown: list[H] = []
    following = position
    for h in batches:
        if h.last_offset < position:
            continue
        if end is not None and h.base_offset >= end:
            return shown, end, False
        following = h.last_offset + 1
        if h.count == 0 or (h.attributes & 32 and not control):
            continue
        h.first = max(position, h.base_offset)
        h.stop = following if end is None else min(following, end)
        shown.append(h)
    return shown, following, True


def scan(data: Buffer, at: int, check_crcs: bool, make: type[Any], found: list[Any]) -> tuple[int, str | None]:
    """Read v2 batches from `at` on into `found`, each a `make()`. Returns where it stopped and what is wrong there:
    None at the end, before a cut-off tail (E1), and before a message of another format (E9)."""
    size = len(data)
    while size - at >= 17 and data[at + 16] == 2:
        length = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        if length < SMALLEST:
            return at, f"a batch length of {length}"
        end = at + 12 + length
        if end > size:
            break
        h = make()
        base, _, h.leader_epoch, h.magic, crc, h.attributes, delta, h.base_timestamp, h.max_timestamp, *rest = (
            HEADER.unpack_from(data, at)
        )
        h.producer_id, h.producer_epoch, h.base_sequence, count = rest
        if check_crcs and crc32c(memoryview(data)[at + 21 : end]) != crc:
            return at, "its CRC does not match"
        if not 0 <= base < LAST or delta < 0:
            return at, f"offsets from {base} on by {delta}"
        if count < 0 or (h.attributes & 7 == 0 and count * 7 > length - SMALLEST):
            return at, f"a count of {count} records in {length - SMALLEST} bytes"
        h.base_offset, h.count, h.size, h.last_offset = base, count, length + 12, base + delta
        h.first, h.stop = base, base + delta + 1
        h.data, h.body_start, h.body_end, h.packed = data, at + 61, end, True
        h.max_decompressed = 1 << 28
        found.append(h)
        at = end
    return at, None


def _body(h: Header) -> bytes:
    return bytes(memoryview(h.data)[h.body_start : h.body_end])


def _walk(h: Header, data: bytes) -> Iterator[Walked]:
    """Per record in the window: offset, timestamp, key start and length, value start and length, where the headers
    start and how many. Raises DecodeError, IndexError at the end of `data`."""
    at, last = 0, h.last_offset - h.base_offset
    first, stop = h.first - h.base_offset, h.stop - h.base_offset
    appended = h.max_timestamp if h.attributes & 8 else None
    for _ in range(h.count):
        # the two usual sizes of a varint are read right here: a call for each would double the cost of a record
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
            value = key + key_length
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
            at = _skip_headers(data, at, header_count, end)
        if at != end:
            raise DecodeError("a record that does not end where its length says")
        timestamp = h.base_timestamp + elapsed if appended is None else appended
        if not -(2**63) <= timestamp < 2**63:
            raise DecodeError("a timestamp that does not fit in 64 bits")
        if first <= delta < stop:
            yield h.base_offset + delta, timestamp, key, key_length, value, value_length, headers, header_count
    if at != len(data):
        raise DecodeError(f"{len(data) - at} bytes after the last record")


def _skip_headers(data: bytes, at: int, count: int, end: int) -> int:
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


def _cut_off(error: IndexError) -> DecodeError:
    return DecodeError(f"records that go on after their batch ended ({error})")


def read_headers(data: Buffer, at: int, count: int) -> list[tuple[str, bytes | None]]:
    """The headers at `at`, which a walk has seen to be whole."""
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        length, at = read_varint(data, at)
        name = str(data[at : at + length], "utf-8", "surrogateescape")
        length, at = read_varint(data, at + length)
        headers.append((name, None if length < 0 else bytes(data[at : at + length])))
        at += max(length, 0)
    return headers


def count_visible(h: Header) -> int:
    """Records in the window, by decoding them."""
    try:
        return sum(1 for _ in _walk(h, _body(h)))
    except IndexError as error:
        raise _cut_off(error) from None


def read_columns(h: Header) -> Columns:
    """The window's records as columns."""
    data = _body(h)
    try:
        rows = list(_walk(h, data))
    except IndexError as error:
        raise _cut_off(error) from None
    columns = list(zip(*rows)) if rows else [()] * 8
    offsets, timestamps, *spans = (array(kind, column) for kind, column in zip("qqiiiiii", columns))
    return Columns(data, offsets, timestamps, *spans)


def pick(h: Header, offsets: array[int]) -> tuple[bytes, int]:
    """The encoded records at these offsets, which ascend, and how many were found. They stay what they were, because
    a record counts its offset and its time from its batch: a section made of some of them is what a compacted batch
    has (KIP-98)."""
    data = _body(h)
    deltas = {offset - h.base_offset for offset in offsets}
    found = []
    at = 0
    try:
        for _ in range(h.count):
            length, end = read_varint(data, at)
            end += length
            if length < 0 or end > len(data):
                raise DecodeError("records that go on after their batch ended")
            _, delta_at = read_varint(data, end - length + 1, 64)
            if read_varint(data, delta_at)[0] in deltas:
                found.append(data[at:end])
            at = end
    except IndexError as error:
        raise _cut_off(error) from None
    return b"".join(found), len(found)


def read_records(h: Header) -> Iterator[Record]:
    """The window's records as objects. All are checked before the first is given."""
    data = _body(h)
    records = []
    try:
        for offset, timestamp, key, key_length, value, value_length, headers, header_count in _walk(h, data):
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
        raise _cut_off(error) from None
    return iter(records)


def _stop_of(h: Header) -> int:
    return min(h.stop, h.last_offset + 1)


def write_values(h: Header, out: bytearray, delimiter: bytes, limit: int, null: bytes) -> tuple[int, int]:
    """Append each value and the delimiter. Returns the records written (at most `limit` if that is not negative) and
    the offset to go on from: the window's end, or one past the last record if the limit left any."""
    data = _body(h)
    if (
        limit >= 0
        or h.attributes & 8
        or abs(h.base_timestamp) >= 1 << 62
        or h.first > h.base_offset
        or h.stop <= h.last_offset
    ):
        return _write(h, data, out, limit, lambda row: _value(data, row, null) + delimiter)
    values: list[bytes] = []
    try:
        at = _usual_values(h, data, values) if h.count >= 64 else 0  # else the tables cost more than they save
        if len(values) < h.count:
            at = _values(h, data, at, values, null)
    except IndexError as error:
        raise _cut_off(error) from None
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
        made = self[head] = Shape(head, self.delta_size)
        return made


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
            at = _skip_headers(data, at, headers, end)
        if at != end or length & 1 or delta & 1 or delta >> 1 > last:
            raise DecodeError("a record that does not end where its length says, or is beyond its batch")
    return at


def _negative() -> bytes:
    raise DecodeError("a negative length")


def _value(data: bytes, row: Walked, null: bytes) -> bytes:
    return null if row[5] < 0 else data[row[4] : row[4] + row[5]]


def _write(h: Header, data: bytes, out: bytearray, limit: int, show: Callable[[Walked], bytes]) -> tuple[int, int]:
    """Append what `show` makes of each record in the window."""
    parts: list[bytes] = []
    after = max(h.first, h.base_offset)
    try:
        for row in _walk(h, data):
            if len(parts) == limit:
                break
            parts.append(show(row))
            after = row[0] + 1
        else:
            after = _stop_of(h)
    except IndexError as error:
        raise _cut_off(error) from None
    out += b"".join(parts)
    return len(parts), after


SHOW: dict[str, Callable[[bytes, Walked, bytes, bytes], bytes]] = {
    "s": lambda data, row, topic, partition: _value(data, row, b""),
    "S": lambda data, row, topic, partition: b"%d" % row[5],
    "R": lambda data, row, topic, partition: row[5].to_bytes(4, "big", signed=True),
    "k": lambda data, row, topic, partition: b"" if row[3] < 0 else data[row[2] : row[2] + row[3]],
    "K": lambda data, row, topic, partition: b"%d" % row[3],
    "T": lambda data, row, topic, partition: b"%d" % row[1],
    "o": lambda data, row, topic, partition: b"%d" % row[0],
    "t": lambda data, row, topic, partition: topic,
    "p": lambda data, row, topic, partition: partition,
    "h": lambda data, row, topic, partition: _show_headers(read_headers(data, row[6], row[7])),
}
"""kcat's meaning of each token."""


SHOW_RECORD: dict[str, Callable[[Record, bytes, int], tuple[Any, Callable[[Any], bytes]]]] = {
    "s": lambda record, topic, partition: (record.value, _or_nothing),
    "S": lambda record, topic, partition: (_size(record.value), _digits),
    "R": lambda record, topic, partition: (_size(record.value), _word),
    "k": lambda record, topic, partition: (record.key, _or_nothing),
    "K": lambda record, topic, partition: (_size(record.key), _digits),
    "T": lambda record, topic, partition: (record.timestamp, _digits),
    "o": lambda record, topic, partition: (record.offset, _digits),
    "t": lambda record, topic, partition: (topic, _or_nothing),
    "p": lambda record, topic, partition: (partition, _digits),
    "h": lambda record, topic, partition: (record.headers, _show_headers),
}
"""What a converter of each token is given, and how it is shown without one."""


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _or_nothing(data: bytes | None) -> bytes:
    return data or b""


def _digits(number: int) -> bytes:
    return b"%d" % number


def _word(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def _show_headers(headers: list[tuple[str, bytes | None]]) -> bytes:
    return b",".join(
        name.encode("utf-8", "surrogateescape") + b"=" + (b"NULL" if value is None else value)
        for name, value in headers
    )


def write_format(
    h: Header, out: bytearray, program: Program, topic: bytes, partition: int, limit: int
) -> tuple[int, int]:
    """Append each record as `program`, which has no converters, says. Returns as `write_values`."""
    data = _body(h)
    steps = [(None, item) if isinstance(item, bytes) else (SHOW[item[0]], b"") for item in program]
    digits = b"%d" % partition

    def show(row: Walked) -> bytes:
        return b"".join([literal if step is None else step(data, row, topic, digits) for step, literal in steps])

    return _write(h, data, out, limit, show)


def _text(data: bytes) -> str:
    """Bytes as JSON: a string, or {"base64": ...} if they are not UTF-8."""
    return _texts()(data)


def _texts() -> Callable[[bytes], str]:
    """`_text` for many."""
    from _json import encode_basestring

    def text(data: bytes) -> str:
        try:
            return encode_basestring(data.decode())
        except UnicodeDecodeError:
            from binascii import b2a_base64

            return '{"base64":"' + b2a_base64(data, newline=False).decode() + '"}'

    return text


def write_json(h: Header, out: bytearray, topic: str, partition: int, limit: int) -> tuple[int, int]:
    """Append each record as a line of the JSON envelope (cli.md 9). Returns as `write_values`."""
    data = _body(h)
    text = _texts()
    head = f'{{"topic":{text(topic.encode())},"partition":{partition},"offset":'
    kind = ',"timestamp_type":"append","key":' if h.attributes & 8 else ',"timestamp_type":"create","key":'

    def show(row: Walked) -> bytes:
        offset, timestamp, key, key_length, value, value_length, at, count = row
        keyed = "null" if key_length < 0 else text(data[key : key + key_length])
        content = "null" if value_length < 0 else text(data[value : value + value_length])
        pairs = ""
        if count:
            pairs = ",".join(
                f"[{text(name.encode('utf-8', 'surrogateescape'))},{'null' if held is None else text(held)}]"
                for name, held in read_headers(data, at, count)
            )
        line = f'{head}{offset},"timestamp":{timestamp}{kind}{keyed},"value":{content},"headers":[{pairs}]}}\n'
        return line.encode()

    return _write(h, data, out, limit, show)
