"""Large values as slices of what was fetched: written as they are, without a copy into the output's buffer."""

from __future__ import annotations

from kcli.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.batch import Batch
    from kcli.proto.buffer import Buffer

LARGE = 16 * 1024
"""Bytes of a value, on average over a batch, from which a slice costs less than a copy."""


def slices(batches: Sequence[Batch], delimiter: bytes, null: bytes) -> tuple[list[Buffer], int, int]:
    """The values of the first batches, each with the delimiter, as pieces to be written one after the other; how many
    records they are, and how many batches. It ends before a batch that is broken, still compressed, or of small values.
    """
    pieces: list[Buffer] = []
    records = 0
    for done, batch in enumerate(batches):
        if batch.compressed or batch.body_end - batch.body_start < batch.count * LARGE:
            return pieces, records, done
        try:
            columns = batch.columns()
        except DecodeError:
            return pieces, records, done
        data = memoryview(columns.data)
        for start, length in zip(columns.value_starts, columns.value_lengths, strict=True):
            pieces += (null if length < 0 else data[start : start + length]), delimiter
        records += len(columns)
    return pieces, records, len(batches)
