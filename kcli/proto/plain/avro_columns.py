"""Converts Avro values to Arrow columns in plain Python: runs a program of `avro_columns_code` over payloads. The twin
of `compiled/avro_columns.pxi`.

A payload that ends early, continues after its value or exceeds a limit has a fault, and its row is null.
"""

from __future__ import annotations

from array import array
from struct import pack, unpack

from kcli.errors import DecodeError
from kcli.proto import avro_columns_code as op
from kcli.proto import faults
from kcli.proto.avro_code import DEEPEST, LONGEST_DECIMAL, MOST_NOTHING
from kcli.proto.faults import Fault
from kcli.proto.plain.avro import Payload
from kcli.proto.plain.avro_texts import as_single, decimal, replaced, uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.plain.avro import AvroReader

    Buffers = tuple[int, Buffer | None, Buffer | None, Buffer | None]
    """Number of rows; then validity, cells or ends, and bytes, as far as a column has them."""
    from collections.abc import Callable


# Avro values read into columns: composite types here, numbers, bytes and texts by a function per instruction.


MOST_SECONDS = 9_223_372_036_854_775  # thousands of microseconds


class ColumnPayload(Payload):
    """A payload being read. `written` counts output for which little or no input is needed."""

    def __init__(self, code: array[int], texts: Sequence[bytes], data: bytes, columns: Sequence[Column]) -> None:
        super().__init__(code, texts, data)
        self.columns = columns
        self.written = 0
        self.most = op.ROOM + op.RATIO * len(data)

    def column(self, place: int) -> Column | None:
        """Return the column of an instruction; None if its value is skipped."""
        number = self.code[place + 1]
        return self.columns[number] if number >= 0 else None

    def count(self, size: int) -> None:
        self.written += size
        if self.written > self.most:
            raise Fault(faults.BULKY)

    def payload(self, size: int) -> bytes:
        """Read a value of bytes: of a given size, preceded by its size, or all that is left."""
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
    while code[place] == op.UNION:  # continues in place, so that Python's stack depth is that of the value
        place = code[place + 2 + r.index(code[place + 1])]
    kind = code[place]
    if kind in PARTS:
        PARTS[kind](r, place, depth)
    else:
        READ[kind](r, place)


# -- composite types --------------------------------------------------------------------------------------------------


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
            r.length()  # of the block in bytes, for readers that skip it
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

# -- simple types -----------------------------------------------------------------------------------------------------


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


# A growing Arrow column in plain Python.


WIDTHS = {op.FOUR: 4, op.EIGHT: 8, op.SIXTEEN: 16}


class Column:
    """`kind` is one of `avro_columns_code`; a column that is not `nullable` has a cell in each row; `span` is the
    number of columns including its parts."""

    def __init__(self, kind: int, nullable: int, span: int) -> None:
        self.kind, self.nullable, self.span = kind, nullable, span
        self.parts: list[Column] = []
        self.rows = 0
        self._valid: list[bool] = []
        self._bits: list[bool] = []
        self._cells = bytearray()
        self._ends = [0]

    def take_parts(self, columns: Sequence[Column], number: int) -> None:
        """Take the following columns, which are its parts."""
        stop, number = number + self.span, number + 1
        while number < stop:
            self.parts.append(columns[number])
            number += columns[number].span

    def done(self, valid: bool = True) -> None:
        """Complete the cell of the next row."""
        if self.nullable:
            self._valid.append(valid)
        if self.rows >= op.MOST:
            raise DecodeError("more than 2 GiB of records at once")
        self.rows += 1

    def null(self) -> int:
        """Add a null; in a column without nulls a filler under a null struct. Returns how much it counts."""
        counted = op.EMPTY
        if self.kind == op.STRUCT:
            counted += sum(part.null() for part in self.parts)
        elif self.kind == op.BITS:
            self._bits.append(False)
        elif self.kind in WIDTHS:
            self._cells += bytes(WIDTHS[self.kind])
        elif self.kind != op.VOID:
            self._ends.append(self._ends[-1])
        self.done(False)
        return counted

    def bit(self, value: bool) -> None:
        self._bits.append(value)
        self.done()

    def cell(self, data: bytes) -> None:
        """Add a cell of fixed width."""
        self._cells += data
        self.done()

    def text(self, data: bytes) -> None:
        """Add a cell of variable width."""
        self._cells += data
        if len(self._cells) > op.MOST:
            raise DecodeError("more than 2 GiB of records at once")
        self._ends.append(len(self._cells))
        self.done()

    def items(self) -> None:
        """Add a list of the items added since the last one."""
        self._ends.append(self.parts[0].rows)
        self.done()

    def cut(self, rows: int) -> None:
        """Drop all but the first `rows` rows."""
        self.rows = rows
        if self.nullable:
            del self._valid[rows:]
        if self.kind == op.BITS:
            del self._bits[rows:]
        elif self.kind in WIDTHS:
            del self._cells[WIDTHS[self.kind] * rows :]
        elif self.kind == op.STRUCT:
            for part in self.parts:
                part.cut(rows)
        elif self.kind != op.VOID:
            del self._ends[rows + 1 :]
            if self.kind == op.LIST:
                self.parts[0].cut(self._ends[-1])
            else:
                del self._cells[self._ends[-1] :]

    def buffers(self) -> Buffers:
        valid = packed(self._valid) if self.nullable else None
        if self.kind == op.BITS:
            return self.rows, valid, packed(self._bits), None
        if self.kind in WIDTHS:
            return self.rows, valid, self._cells, None
        if self.kind in (op.VOID, op.STRUCT):
            return self.rows, valid, None, None
        ends = bytearray(array("i", self._ends).tobytes())
        return self.rows, valid, ends, self._cells if self.kind == op.VARIABLE else None


def packed(bits: Sequence[bool]) -> bytearray:
    """Pack bits, the first of a byte lowest."""
    found = bytearray((len(bits) + 7) // 8)
    for number, bit in enumerate(bits):
        found[number >> 3] |= bit << (number & 7)
    return found


def avro_columns(
    layout: array[int],
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    which: array[int],
    readers: Sequence[AvroReader],
) -> tuple[list[Buffers], list[tuple[int, int]]]:
    """Convert payloads to the columns of a layout, each with its reader after `skips` bytes of framing. `which` is the
    number of the reader; -1 makes a row null. Returns the buffers of the columns, and (row, fault) of the rows that
    could not be read and are null."""
    columns = [Column(*layout[at : at + 3]) for at in range(0, len(layout), 3)]
    for number, column in enumerate(columns):
        column.take_parts(columns, number)
    first, written = columns[0], 0
    found: list[tuple[int, int]] = []
    rows = zip(starts, lengths, skips, which, strict=True)
    for row, (start, length, skip, reader) in enumerate(rows):
        if length < 0 or reader < 0:
            first.null()
            continue
        own = readers[reader]
        r = ColumnPayload(own.code, own.texts, bytes(data[start + min(skip, length) : start + length]), columns)
        try:
            read_value(r, 0, 0)
            if r.at != len(r.data):
                raise Fault(faults.LEFT)
        except Fault as fault:
            found.append((row, fault.number))
            first.cut(row)
            r.written += first.null()
        written += r.written
        if written > op.MOST:
            raise DecodeError("more than 2 GiB of records at once")
    return [column.buffers() for column in columns], found
