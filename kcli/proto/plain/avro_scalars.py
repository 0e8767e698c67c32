"""Avro values without parts, read and written as JSON: a function per instruction."""

from __future__ import annotations

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
    single,
    text,
    time,
    timestamp,
    uuid,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.plain.avro_payload import Payload


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
