"""A column's rows read by readers of any format but Avro, each behind its frame."""

from __future__ import annotations

from kcli.proto.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from kcli.proto.buffer import Buffer
    from kcli.proto.spans import Spans

    class PayloadReader(Protocol):
        def json(self, data: bytes) -> bytes:
            """A payload's JSON. Raises Unreadable."""
else:
    PayloadReader = object

AS_IT_IS = -1
"""In place of a reader's number: the row stays as it is."""


class Unreadable(ValueError):
    """A payload that cannot be read, and why."""


def read_payloads(
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    readers: Sequence[PayloadReader | None],
    done: Spans | None = None,
) -> tuple[Spans, list[tuple[int, str]]]:
    """The column with each row read by its reader, after `skips` bytes of framing; a row without one is as in `done`,
    else as it is. Returns the new column, and (row, reason) of the rows that could not be read and stay as they
    were."""
    from kcli.proto.plain.gather import spans

    cells: list[bytes | None] = []
    faults: list[tuple[int, str]] = []
    before = cells_of(done) if done is not None else None
    for row, (start, length, skip, reader) in enumerate(zip(starts, lengths, skips, readers, strict=True)):
        cell = None if before is None else next(before)
        if length >= 0 and (before is None or reader is not None):
            cell = bytes(data[start : start + length])
        if cell is not None and reader is not None:
            try:
                cell = reader.json(cell[skip:])
            except Unreadable as problem:
                faults.append((row, str(problem)))
        cells.append(cell)
    return spans(cells), faults


def cells_of(column: Spans) -> Iterator[bytes | None]:
    """The cells of a column, None for null."""
    valid = column.valid and memoryview(column.valid)
    ends = memoryview(column.ends)
    data = memoryview(column.data)
    start = 0
    for row in range(column.rows):
        stop = int.from_bytes(ends[4 * row + 4 : 4 * row + 8], "little")
        yield None if valid and not valid[row >> 3] >> (row & 7) & 1 else bytes(data[start:stop])
        start = stop


def read_one(reader: PayloadReader, payload: bytes) -> bytes:
    """The JSON of one payload by any reader. Raises Unreadable."""
    try:
        return bytes(reader.json(payload))
    except Fault as fault:
        raise Unreadable(str(fault)) from None
