"""Avro values read into columns: what has parts here, numbers, bytes and texts by a function per instruction."""

from __future__ import annotations

from struct import pack, unpack

from kcli.proto import avro_columns_code as op
from kcli.proto import faults
from kcli.proto.avro_code import DEEPEST, LONGEST_DECIMAL, MOST_NOTHING
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_payload import Payload
from kcli.proto.plain.avro_texts import as_single, decimal, replaced, uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from kcli.proto.plain.avro_column import Column

MOST_SECONDS = 9_223_372_036_854_775  # thousands of microseconds


class ColumnPayload(Payload):
    """One payload being read. `written` counts what takes few bytes of it, or none."""

    def __init__(self, code: array[int], texts: Sequence[bytes], data: bytes, columns: Sequence[Column]) -> None:
        super().__init__(code, texts, data)
        self.columns = columns
        self.written = 0
        self.most = op.ROOM + op.RATIO * len(data)

    def column(self, place: int) -> Column | None:
        """The column of an instruction; None where its value is only passed."""
        number = self.code[place + 1]
        return self.columns[number] if number >= 0 else None

    def count(self, size: int) -> None:
        self.written += size
        if self.written > self.most:
            raise Fault(faults.BULKY)

    def payload(self, size: int) -> bytes:
        """A value of bytes: its size is given, in front, or all that is left."""
        if size == op.LENGTH:
            return self.take(self.length())
        if size == 0:
            self.empty()
        return self.take(len(self.data) - self.at if size < 0 else size)

    def utf8(self) -> bytes:
        data = self.take(self.length())
        try:
            data.decode()
        except UnicodeDecodeError:
            return replaced(data)
        return data


def read_value(r: ColumnPayload, place: int, depth: int) -> None:
    code = r.code
    while code[place] == op.UNION:  # in place: a level of Python's stack is one of the value's
        place = code[place + 2 + r.index(code[place + 1])]
    kind = code[place]
    if kind in PARTS:
        PARTS[kind](r, place, depth)
    else:
        READ[kind](r, place)


# -- parts ------------------------------------------------------------------------------------------------------------


def _record(r: ColumnPayload, place: int, depth: int) -> None:
    if depth + 1 > DEEPEST:
        raise Fault(faults.DEEP)
    before = r.at
    for each in range(place + 3, place + 3 + r.code[place + 2]):
        read_value(r, r.code[each], depth + 1)
    if r.at == before:
        r.empty()
    column = r.column(place)
    if column is not None:
        column.done()


def _blocks(r: ColumnPayload, place: int, depth: int) -> None:
    if depth + 1 > DEEPEST:
        raise Fault(faults.DEEP)
    item, fewest = r.code[place + 2], r.code[place + 3]
    column = r.column(place)
    entries = column.parts[0] if column is not None and r.code[place] == op.MAP else None
    while (count := r.number()) != 0:
        if count < 0:
            count = -count
            r.length()  # of the block's bytes, for readers that skip it
        if count > (len(r.data) - r.at) // fewest if fewest else count > MOST_NOTHING:
            raise Fault(faults.BLOCK if fewest else faults.NOTHING)
        for _ in range(count):
            if r.code[place] == op.MAP:
                name = r.utf8()
                if entries is not None:
                    entries.parts[0].text(name)
            read_value(r, item, depth + 1)
            if entries is not None:
                entries.done()
    if column is not None:
        column.items()


def _member(r: ColumnPayload, place: int, depth: int) -> None:
    read_value(r, r.code[place + 2], depth)
    for number in r.code[place + 4 : place + 4 + r.code[place + 3]]:
        r.written += r.columns[number].null()
    r.count(0)
    r.columns[r.code[place + 1]].done()


def _default(r: ColumnPayload, place: int, depth: int) -> None:
    text = r.texts[r.code[place + 2]]
    r.count(len(text))
    data, at, nothing = r.data, r.at, r.nothing
    r.data, r.at = text, 0
    read_value(r, r.code[place + 3], depth)
    r.data, r.at, r.nothing = data, at, nothing


PARTS: dict[int, Callable[[ColumnPayload, int, int], None]] = {
    op.RECORD: _record,
    op.ARRAY: _blocks,
    op.MAP: _blocks,
    op.MEMBER: _member,
    op.DEFAULT: _default,
}

# -- no parts ---------------------------------------------------------------------------------------------------------


def _null(r: ColumnPayload, place: int) -> None:
    r.empty()
    column = r.column(place)
    if column is not None:
        r.count(column.null())


def _boolean(r: ColumnPayload, place: int) -> None:
    (byte,) = r.take(1)
    if byte > 1:
        raise Fault(faults.NO_BOOLEAN)
    column = r.column(place)
    if column is not None:
        column.bit(byte == 1)


def _put(r: ColumnPayload, place: int, cell: bytes) -> None:
    column = r.column(place)
    if column is not None:
        column.cell(cell)


def _text(r: ColumnPayload, place: int, cell: bytes) -> None:
    column = r.column(place)
    if column is not None:
        column.text(cell)


def _number(r: ColumnPayload, place: int) -> None:
    number, to = r.number(r.code[place + 2]), r.code[place + 3]
    if r.column(place) is None:
        return
    if to == op.MILLIS and not -MOST_SECONDS <= number <= MOST_SECONDS:
        raise Fault(faults.RANGE)
    if to in (op.WIDE, op.MILLIS):
        _put(r, place, pack("<q", number * 1000 if to == op.MILLIS else number))
    else:
        _put(r, place, pack("<f", as_single(number)) if to == op.SINGLE else pack("<d", float(number)))


def _enum(r: ColumnPayload, place: int) -> None:
    symbol = r.code[place + 3 + r.index(r.code[place + 2])]
    if symbol < 0:
        raise Fault(faults.REFUSED)
    if r.column(place) is not None:
        r.count(len(r.texts[symbol]))
        _text(r, place, r.texts[symbol])


def _decimal(r: ColumnPayload, place: int) -> None:
    data = r.payload(r.code[place + 2])
    if len(data) > LONGEST_DECIMAL:
        raise Fault(faults.DIGITS)
    number = int.from_bytes(data, "big", signed=True)
    if abs(number) >= 10 ** r.code[place + 3]:
        raise Fault(faults.PRECISION)
    _put(r, place, number.to_bytes(16, "little", signed=True))


def _digits(r: ColumnPayload, place: int) -> None:
    data = r.payload(r.code[place + 2])
    if len(data) > LONGEST_DECIMAL:
        raise Fault(faults.DIGITS)
    _text(r, place, decimal(data, r.code[place + 3])[1:-1])


def _refuse(r: ColumnPayload, _: int) -> None:
    raise Fault(faults.REFUSED)


READ: dict[int, Callable[[ColumnPayload, int], None]] = {
    op.NULL: _null,
    op.BOOLEAN: _boolean,
    op.INT: lambda r, place: _put(r, place, pack("<i", r.number(32))),
    op.LONG: lambda r, place: _put(r, place, pack("<q", r.number())),
    op.NUMBER: _number,
    op.FLOAT: lambda r, place: _put(r, place, r.take(4)),
    op.DOUBLE: lambda r, place: _put(r, place, r.take(8)),
    op.WIDEN: lambda r, place: _put(r, place, pack("<d", *unpack("<f", r.take(4)))),
    op.TEXT: lambda r, place: _text(r, place, r.utf8()),
    op.BYTES: lambda r, place: _text(r, place, r.payload(r.code[place + 2])),
    op.ENUM: _enum,
    op.DECIMAL: _decimal,
    op.DIGITS: _digits,
    op.UUID: lambda r, place: _text(r, place, uuid(r.take(16))[1:-1]),
    op.REFUSE: _refuse,
}
