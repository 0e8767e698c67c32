"""Converts Avro values to JSON in plain Python: runs a program of `avro_code` over a payload. The twin of
`compiled/avro.pxi`.

A payload that ends early, continues after its value or exceeds a limit has a fault. This module also reads the frames
before payloads.
"""

from __future__ import annotations

from array import array
from struct import unpack_from

from kcli.proto import avro_code as op
from kcli.proto import faults
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import (
    as_single,
    date,
    decimal,
    double,
    duration,
    encoded,
    replaced,
    single,
    text,
    time,
    timestamp,
    uuid,
)
from kcli.proto.plain.walk import read_headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Columns


# Simple Avro values as JSON: a function per instruction.


def _null(r: Payload, _: int) -> None:
    r.empty()
    r.put(b"null")


def _boolean(r: Payload, _: int) -> None:
    (byte,) = r.take(1)
    if byte > 1:
        raise Fault(faults.NO_BOOLEAN)
    r.put(b"true" if byte else b"false")


def _int(r: Payload, _: int) -> None:
    r.put(b"%d" % r.number(32))


def _long(r: Payload, _: int) -> None:
    r.put(b"%d" % r.number())


def _float(r: Payload, _: int) -> None:
    r.put(single(*unpack_from("<f", r.take(4))))


def _double(r: Payload, _: int) -> None:
    r.put(double(*unpack_from("<d", r.take(8))))


def _bytes(r: Payload, _: int) -> None:
    r.put(encoded(r.take(r.length())))


def _fixed(r: Payload, place: int) -> None:
    size = r.code[place + 1]
    if not size:
        r.empty()
    r.put(encoded(r.take(size)))


def _text(r: Payload, _: int) -> None:
    r.string()


def _enum(r: Payload, place: int) -> None:
    symbol = r.code[place + 2 + r.index(r.code[place + 1])]
    if symbol < 0:
        raise Fault(faults.REFUSED)
    r.put(r.texts[symbol])


def _refuse(r: Payload, _: int) -> None:
    raise Fault(faults.REFUSED)


def _date(r: Payload, _: int) -> None:
    r.put(date(r.number(32)))


def _time(r: Payload, place: int) -> None:
    digits = r.code[place + 1]
    r.put(time(r.number(32 if digits == 3 else 64), digits))


def _timestamp(r: Payload, place: int) -> None:
    r.put(timestamp(r.number(), r.code[place + 1], utc=r.code[place + 2] == 1))


def _decimal(r: Payload, place: int) -> None:
    size = r.code[place + 1]
    data = r.take(r.length() if size < 0 else size)
    if not size:
        r.empty()
    if len(data) > op.LONGEST_DECIMAL:
        raise Fault(faults.DIGITS)
    r.put(decimal(data, r.code[place + 2]))


def _uuid(r: Payload, _: int) -> None:
    r.put(uuid(r.take(16)))


def _duration(r: Payload, _: int) -> None:
    r.put(duration(r.take(12)))


def _int_as_float(r: Payload, _: int) -> None:
    r.put(single(as_single(r.number(32))))


def _int_as_double(r: Payload, _: int) -> None:
    r.put(double(float(r.number(32))))


def _long_as_float(r: Payload, _: int) -> None:
    r.put(single(as_single(r.number())))


def _long_as_double(r: Payload, _: int) -> None:
    r.put(double(float(r.number())))


def _float_as_double(r: Payload, _: int) -> None:
    r.put(double(*unpack_from("<f", r.take(4))))


def _bytes_as_string(r: Payload, _: int) -> None:
    r.string()


def _rest(r: Payload, _: int) -> None:
    r.put(encoded(r.take(len(r.data) - r.at)))


def _latin(r: Payload, place: int) -> None:
    size = r.code[place + 1]
    data = r.take(r.length() if size < 0 else size)
    if not size:
        r.empty()
    r.put(text(data.decode("latin-1").encode()))


READ: dict[int, Callable[[Payload, int], None]] = {
    op.NULL: _null,
    op.BOOLEAN: _boolean,
    op.INT: _int,
    op.LONG: _long,
    op.FLOAT: _float,
    op.DOUBLE: _double,
    op.BYTES: _bytes,
    op.STRING: _text,
    op.FIXED: _fixed,
    op.ENUM: _enum,
    op.REFUSE: _refuse,
    op.DATE: _date,
    op.TIME: _time,
    op.TIMESTAMP: _timestamp,
    op.DECIMAL: _decimal,
    op.UUID: _uuid,
    op.DURATION: _duration,
    op.INT_AS_FLOAT: _int_as_float,
    op.INT_AS_DOUBLE: _int_as_double,
    op.LONG_AS_FLOAT: _long_as_float,
    op.LONG_AS_DOUBLE: _long_as_double,
    op.FLOAT_AS_DOUBLE: _float_as_double,
    op.BYTES_AS_STRING: _bytes_as_string,
    op.REST: _rest,
    op.LATIN: _latin,
}


# A payload being read: its bytes, and the JSON of what was read so far.


class Payload:
    """A payload being read."""

    def __init__(self, code: array[int], texts: Sequence[bytes], data: bytes) -> None:
        self.code, self.texts, self.data = code, texts, data
        self.at = 0
        self.out: list[bytes] = []
        self.size = 0
        self.most = op.ROOM + op.RATIO * len(data)
        self.nothing = 0

    def put(self, written: bytes) -> None:
        self.size += len(written)
        if self.size > self.most:
            raise Fault(faults.LARGE)
        self.out.append(written)

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise Fault(faults.CUT)
        return self.data[start : self.at]

    def number(self, bits: int = 64) -> int:
        """Read a zigzag varint."""
        value = 0
        for shift in range(0, bits, 7):
            if self.at >= len(self.data):
                raise Fault(faults.CUT)
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                if value >> bits:
                    break
                return (value >> 1) ^ -(value & 1)
        raise Fault(faults.VARINT)

    def length(self) -> int:
        length = self.number()
        if length < 0:
            raise Fault(faults.NEGATIVE)
        if length > len(self.data) - self.at:
            raise Fault(faults.CUT)
        return length

    def index(self, count: int) -> int:
        index = self.number()
        if not 0 <= index < count:
            raise Fault(faults.INDEX)
        return index

    def string(self) -> None:
        data = self.take(self.length())
        try:
            self.put(text(data))
        except UnicodeDecodeError:
            self.put(text(replaced(data)))

    def empty(self) -> None:
        """Count a value that took no bytes, because a block may claim any number of them."""
        self.nothing += 1
        if self.nothing > op.MOST_NOTHING:
            raise Fault(faults.NOTHING)


# Avro values of any type as JSON: unions, records, arrays and maps here, all others by the functions above.


def read_payload(r: Payload) -> bytes:
    read_value(r, 0, 0)
    if r.at != len(r.data):
        raise Fault(faults.LEFT)
    return b"".join(r.out)


def read_value(r: Payload, place: int, depth: int) -> None:
    code = r.code
    closing: list[bytes] = []
    while True:  # unions and wrappers continue in place, so that Python's stack depth is that of the value
        kind = code[place]
        if kind == op.UNION:
            place = code[place + 2 + r.index(code[place + 1])]
        elif kind == op.WRAP:
            r.put(r.texts[code[place + 1]])
            closing.append(b"}")
            place = code[place + 2]
        else:
            break
    if kind == op.RECORD:
        _record(r, place, depth + 1)
    elif kind in (op.ARRAY, op.MAP):
        _blocks(r, place, depth + 1)
    else:
        READ[kind](r, place)
    for end in closing:
        r.put(end)


def _record(r: Payload, place: int, depth: int) -> None:
    if depth > op.DEEPEST:
        raise Fault(faults.DEEP)
    code, before = r.code, r.at
    for field in range(place + 3, place + 3 + 2 * code[place + 1], 2):
        if code[field] < 0:
            kept, r.out, size = r.out, [], r.size
            read_value(r, code[field + 1], depth)
            r.out, r.size = kept, size
        else:
            r.put(r.texts[code[field]])
            read_value(r, code[field + 1], depth)
    if r.at == before:
        r.empty()
    r.put(r.texts[code[place + 2]])


def _blocks(r: Payload, place: int, depth: int) -> None:
    if depth > op.DEEPEST:
        raise Fault(faults.DEEP)
    item, fewest = r.code[place + 1], r.code[place + 2]
    named = r.code[place] == op.MAP
    r.put(b"{" if named else b"[")
    between = b""
    while (count := r.number()) != 0:
        if count < 0:
            count = -count
            r.length()  # of the block in bytes, for readers that skip it
        if count > (len(r.data) - r.at) // fewest if fewest else count > op.MOST_NOTHING:
            raise Fault(faults.BLOCK if fewest else faults.NOTHING)
        for _ in range(count):
            r.put(between)
            between = b","
            if named:
                r.string()
                r.put(b":")
            read_value(r, item, depth)
    r.put(b"}" if named else b"]")


LONGEST_NAME = 384  # bytes of a header that names a schema: 1, a GUID, 64 indexes and their count


class AvroReader:
    """A compiled schema: instructions (int32) and the texts to which they refer."""

    def __init__(self, code: array[int], texts: Sequence[bytes]) -> None:
        self.code = code
        self.texts = texts

    def json(self, data: bytes) -> bytes:
        """Return a payload's JSON. Raises Fault."""
        return read_payload(Payload(self.code, self.texts, data))


def frame_ids(data: Buffer, starts: array[int], lengths: array[int]) -> array[int]:
    """Return the schema id of each row that begins with Confluent's frame (0, then four bytes, big-endian); else -1."""
    return array(
        "q",
        [
            int.from_bytes(data[start + 1 : start + 5], "big") if length >= 5 and not data[start] else -1
            for start, length in zip(starts, lengths, strict=True)
        ],
    )


def frame_names(
    columns: Columns, starts: array[int], lengths: array[int], header: bytes
) -> tuple[list[bytes], array[int], array[int]]:
    """Return the name of the schema of each row.

    It is Confluent's 0 and an id of four bytes, or 1 and a GUID of 16, in the last header of this name, or else one of
    any form at the start of the row. A header's name includes what follows: the indexes of a Protobuf message. Returns
    the names, the number of each row's name (-1 for none) and the size of each row's framing.
    """
    data = columns.data
    numbers: dict[bytes, int] = {}
    which, skips = array("i"), array("i")
    for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        name, skip = b"", 0
        if length >= 0:
            count = columns.header_counts[row] if header else 0
            for own, content in read_headers(data, columns.header_starts[row], count) if count else ():
                if own.encode("utf-8", "surrogateescape") == header and content:
                    name = content[:LONGEST_NAME] if content[0] <= 1 and _schema_name(content) else name
            if not name:
                name = _schema_name(bytes(data[start : start + min(length, 18)]))
                skip = len(name)
        which.append(numbers.setdefault(name, len(numbers)) if name else -1)
        skips.append(skip)
    return list(numbers), which, skips


def _schema_name(content: bytes) -> bytes:
    """Return the leading bytes that name a schema: Confluent's (0 and an id, 1 and a GUID), Apicurio's 0 and a long,
    AWS Glue's 3, 0 or 5 and a UUID, Avro's C3 01 and a fingerprint."""
    first = content[:1]
    if first == b"\0":
        if len(content) >= 9 and content[:5] == bytes(5) and content[5:9] != bytes(4):
            return content[:9]
        return content[:5] if len(content) >= 5 else b""
    if first == b"\1":
        return content[:17] if len(content) >= 17 else b""
    if first == b"\3":
        return content[:18] if len(content) >= 18 and content[1] in (0, 5) else b""
    return content[:10] if len(content) >= 10 and content[:2] == b"\xc3\1" else b""
