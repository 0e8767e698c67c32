"""Reads the rows of a column with readers of any format except Avro, each after its frame."""

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
            """Return a payload's JSON. Raises Unreadable."""
else:
    PayloadReader = object

AS_IT_IS = -1
"""Instead of a reader's number: the row stays unchanged."""


class Unreadable(ValueError):
    """A payload that cannot be read, and the reason."""


def read_payloads(
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    readers: Sequence[PayloadReader | None],
    done: Spans | None = None,
) -> tuple[Spans, list[tuple[int, str]]]:
    """Return the column with each row read by its reader, after `skips` bytes of framing, and (row, reason) of the rows
    that could not be read. Unreadable rows are unchanged; a row without a reader is as in `done`, else unchanged."""
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
    """Iterate over the cells of a column, None for null."""
    valid = column.valid and memoryview(column.valid)
    ends = memoryview(column.ends)
    data = memoryview(column.data)
    start = 0
    for row in range(column.rows):
        stop = int.from_bytes(ends[4 * row + 4 : 4 * row + 8], "little")
        yield None if valid and not valid[row >> 3] >> (row & 7) & 1 else bytes(data[start:stop])
        start = stop


def read_one(reader: PayloadReader, payload: bytes) -> bytes:
    """Return the JSON of one payload by any reader. Raises Unreadable."""
    try:
        return bytes(reader.json(payload))
    except Fault as fault:
        raise Unreadable(str(fault)) from None
