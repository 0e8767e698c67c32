"""Cuts what a poll returns to the limits of its caller, inside of a batch where necessary."""

from __future__ import annotations

from itertools import islice

from kcli.proto.batch import CorruptBatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.fetch.cursor import Piece
    from kcli.proto.batch import Batch


def cut(piece: Piece, records: int, size: int) -> tuple[Piece, Piece | None, int, int]:
    """The beginning of a piece within so many records and bytes, but one record at least; the rest of it, None
    if that is nothing; and the room that is left."""
    batches = piece.fetched.batches
    for number, batch in enumerate(batches):
        within = _within(batch, records, size)
        if within is None:
            records, size = records - _records(batch), size - (batch.body_end - batch.body_start)
            if (records > 0 and size > 0) or number + 1 == len(batches):
                continue
            number, first, own = number + 1, _first(batches[number + 1]), []
        else:
            first, own = within, [batch.window(batch.first, within)]
        head = batches[:number] + own
        tail = [batch.window(first, batch.stop), *batches[number + 1 :]] if own else batches[number:]
        epoch = head[-1].leader_epoch
        before = piece.rest(head, piece.start, piece.start_epoch)
        before.stop, before.stop_epoch = first, epoch
        before.fetched = before.fetched.changed(next_offset=first, error=None, skipped=())
        return before, piece.rest(tail, first, epoch), 0, 0
    return piece, None, records, size


def _first(batch: Batch) -> int:
    """The first offset of a batch that its reader sees."""
    return max(batch.first, batch.base_offset)


def _records(batch: Batch) -> int:
    """How many records a reader of it gets; those of a batch that cannot be read by its own account."""
    try:
        return batch.visible
    except CorruptBatch:
        return batch.count


def _within(batch: Batch, records: int, size: int) -> int | None:
    """The offset where a batch has to be cut to have at most so many records and bytes; None if it fits. A batch that
    cannot be read is not cut: its reader gets the error."""
    if batch.compressed:
        return None
    fits = batch.body_end - batch.body_start <= size
    try:
        if fits and batch.visible <= records:
            return None
        if fits and batch.count == batch.last_offset - batch.base_offset + 1:
            return _first(batch) + records
        after = -1
        for record in islice(batch, records):
            size -= len(record.key or b"") + len(record.value or b"")
            size -= sum(len(name) + len(value or b"") for name, value in record.headers)
            if size < 0 <= after:
                return after
            after = record.offset + 1
    except CorruptBatch:
        return None
    return after if 0 <= after < min(batch.stop, batch.last_offset + 1) else None
