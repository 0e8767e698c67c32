"""Avro values as Arrow's columns, in plain Python: a program of `avro_columns_code` run over payloads. The twin of
`compiled/avro_columns.pxi`.

A payload that ends early, continues after its value or breaks a bound has a fault, and its row is null.
"""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto import avro_columns_code as op
from kcli.proto import faults
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_column import Column
from kcli.proto.plain.avro_column_values import ColumnPayload, read_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.plain.avro import AvroReader
    from kcli.proto.plain.avro_column import Buffers


def avro_columns(
    layout: array[int],
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    which: array[int],
    readers: Sequence[AvroReader],
) -> tuple[list[Buffers], list[tuple[int, int]]]:
    """Payloads as the columns of a layout, each read by its reader after `skips` bytes of framing. `which` is the
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
