"""Converts a column of payloads to JSON, each with its reader. The twin of `compiled/payloads.pxi`."""

from __future__ import annotations

from kcli.proto.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.plain.avro import AvroReader
    from kcli.proto.plain.protobuf import ProtobufReader
    from kcli.proto.spans import Spans


def payload_json(
    data: Buffer,
    starts: array[int],
    lengths: array[int],
    skips: array[int],
    which: array[int],
    readers: Sequence[AvroReader | ProtobufReader],
) -> tuple[Spans, list[tuple[int, int]]]:
    """Return the column with each row converted by its reader, after `skips` bytes of framing. `which` is the number of
    the reader; -1 leaves a row unchanged, -2 removes the framing.

    Returns the new column, and (row, fault) of the rows that could not be read and are unchanged.
    """
    from kcli.proto.plain.gather import spans

    cells: list[bytes | None] = []
    faults: list[tuple[int, int]] = []
    for row, (start, length, skip, reader) in enumerate(zip(starts, lengths, skips, which, strict=True)):
        if length < 0:
            cells.append(None)
            continue
        cell = bytes(data[start : start + length])
        if reader < -1:
            cell = cell[skip:]
        elif reader >= 0:
            try:
                cell = readers[reader].json(cell[skip:])
            except Fault as fault:
                faults.append((row, fault.number))
        cells.append(cell)
    return spans(cells), faults
