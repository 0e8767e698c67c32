"""A column of Arrow's that grows, in plain Python."""

from __future__ import annotations

from array import array

from kcli.errors import DecodeError
from kcli.proto import avro_columns_code as op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer

    Buffers = tuple[int, Buffer | None, Buffer | None, Buffer | None]
    """Rows; which are valid, cells or ends, and bytes, as far as a column has them."""

WIDTHS = {op.FOUR: 4, op.EIGHT: 8, op.SIXTEEN: 16}


class Column:
    """`kind` is of `avro_columns_code`; a column that is not `nullable` has a cell in each row, `span` columns are it
    and its parts."""

    def __init__(self, kind: int, nullable: int, span: int) -> None:
        self.kind, self.nullable, self.span = kind, nullable, span
        self.parts: list[Column] = []
        self.rows = 0
        self._valid: list[bool] = []
        self._bits: list[bool] = []
        self._cells = bytearray()
        self._ends = [0]

    def take_parts(self, columns: Sequence[Column], number: int) -> None:
        """The columns that follow this one and are its parts."""
        stop, number = number + self.span, number + 1
        while number < stop:
            self.parts.append(columns[number])
            number += columns[number].span

    def done(self, valid: bool = True) -> None:
        """The cell of the next row is there."""
        if self.nullable:
            self._valid.append(valid)
        if self.rows >= op.MOST:
            raise DecodeError("more than 2 GiB of records at once")
        self.rows += 1

    def null(self) -> int:
        """A null; in a column without nulls, the filler below a struct that is null. Returns how much it counts."""
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
        """A cell of fixed width."""
        self._cells += data
        self.done()

    def text(self, data: bytes) -> None:
        """A cell of any number of bytes."""
        self._cells += data
        if len(self._cells) > op.MOST:
            raise DecodeError("more than 2 GiB of records at once")
        self._ends.append(len(self._cells))
        self.done()

    def items(self) -> None:
        """A list of the items that were put since the last one."""
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
    """Bits, the first of a byte lowest."""
    found = bytearray((len(bits) + 7) // 8)
    for number, bit in enumerate(bits):
        found[number >> 3] |= bit << (number & 7)
    return found
