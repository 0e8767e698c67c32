"""The records of one partition that one call returns, and what is needed to take them back."""

from __future__ import annotations

from itertools import islice

from kcli.model import OffsetAndMetadata
from kcli.proto.batch import CorruptBatch
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.consumer.fetch.cursor import Cursor
    from kcli.errors import KcliError
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch


class Fetched(Value):
    """The records of one partition that a poll returns. `next_offset` is the position after them; `batches` may be
    empty if there were only markers or aborted records, or if there is only an `error`. Offsets are -1 if unknown.
    `skipped` are the batches that skip_corrupt skipped."""

    topic: str = ""
    partition: int = 0
    batches: list[Batch] = ()  # type: ignore[assignment]
    next_offset: int = -1
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    error: KcliError | None = None
    skipped: Sequence[KcliError] = ()


class Piece:
    """A `Fetched` and its place: the offsets [start, stop) with the leader epochs of the records before both, and its
    bytes. `era` is the cursor's, so that a piece from before a seek is recognized."""

    __slots__ = ("cursor", "decoded", "era", "fetched", "size", "start", "start_epoch", "stop", "stop_epoch")

    def __init__(self, cursor: Cursor, fetched: Fetched, start: int, start_epoch: int, size: int) -> None:
        self.cursor = cursor
        self.era = cursor.era
        self.fetched = fetched
        self.start, self.start_epoch = start, start_epoch
        self.stop, self.stop_epoch = cursor.position, cursor.epoch
        self.size = size
        self.decoded = False

    @property
    def at(self) -> TopicPartition:
        return self.cursor.at

    @property
    def following(self) -> OffsetAndMetadata:
        """The position after it."""
        return OffsetAndMetadata(self.stop, self.stop_epoch, "")

    def rest(self, batches: list[Batch], start: int, epoch: int) -> Piece:
        """The end of this piece, from the offset `start` on."""
        rest = Piece.__new__(Piece)
        for name in Piece.__slots__:
            setattr(rest, name, getattr(self, name))
        rest.start, rest.start_epoch, rest.fetched = start, epoch, _changed(self.fetched, batches=batches)
        return rest

    def cut(self, records: int, size: int) -> tuple[Piece, Piece | None, int, int]:
        """The beginning of this piece within so many records and bytes, but one record at least; the rest of it, None
        if that is nothing; and the room that is left."""
        batches = self.fetched.batches
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
            before = self.rest(head, self.start, self.start_epoch)
            before.stop, before.stop_epoch = first, epoch
            before.fetched = _changed(before.fetched, next_offset=first, error=None, skipped=())
            return before, self.rest(tail, first, epoch), 0, 0
        return self, None, records, size


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


def _changed(fetched: Fetched, **changes: object) -> Fetched:
    kept = {one.name: getattr(fetched, one.name) for one in Fetched.__fields__}
    return Fetched(**(kept | changes))
