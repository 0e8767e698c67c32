"""What one fetch brought for one partition: kept as it came, opened when it is handed out.

So memory is bounded by what is on the wire, and the next fetch leaves before this one is decoded: its offset is in
the batch headers. Work is per batch, nothing per record.
"""

from __future__ import annotations

from struct import Struct

from kcli.consumer.aborted import AbortedFilter
from kcli.errors import DecodeError, KcliError
from kcli.proto.batch import CorruptBatch, read_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch
    from kcli.proto.messages.fetch import PartitionData
    from kcli.proto.schema import Buffer
    from kcli.settings import ConsumerSettings

_PREFIX = Struct(">qiib")  # base offset, length, leader epoch (v2), magic
_DELTA = Struct(">i")
LOG_OVERHEAD, DELTA_AT, V2_HEADER = 12, 23, 61


class CorruptRecords(DecodeError):
    """A batch whose bytes are not what was written. `at` and `offset` say which."""

    def __init__(self, at: TopicPartition, offset: int, reason: object) -> None:
        place = f"{at.topic}[{at.partition}]"  # a CorruptBatch says its offset itself
        super().__init__(
            f"{place}: {reason}" if isinstance(reason, CorruptBatch) else f"{place} offset {offset}: {reason}"
        )
        self.at = at
        self.offset = offset


def scan(records: Buffer) -> tuple[int, int, int]:
    """(next offset, leader epoch of the last batch, bytes of whole batches) from headers alone.
    The offset is -1 when there is no whole batch. An incomplete last batch is not looked at (E1)."""
    at, size = 0, len(records)
    following = epoch = -1
    while size - at >= 17:
        base, length, leader_epoch, magic = _PREFIX.unpack_from(records, at)
        end = at + LOG_OVERHEAD + length
        if length < 14 or end > size:
            break
        if magic >= 2 and end - at >= V2_HEADER:
            following = base + max(_DELTA.unpack_from(records, at + DELTA_AT)[0], 0) + 1
            epoch = leader_epoch
        else:
            following = base + 1
        at = end
    return following, epoch, at


class Chunk:
    """`fetched_at` is the offset that was asked for, `following` the one to ask for next, `size` is on the wire."""

    __slots__ = ("batches", "data", "epoch", "fetched_at", "following", "size", "skipped", "trouble")

    def __init__(self, data: PartitionData, fetched_at: int, following: int, epoch: int) -> None:
        assert data.records is not None
        self.data = data
        self.fetched_at = fetched_at
        self.following = following
        self.epoch = epoch
        self.size = len(data.records)
        self.batches: list[Batch] | None = None
        self.trouble: KcliError | None = None
        self.skipped: list[CorruptRecords] = []

    def open(self, at: TopicPartition, settings: ConsumerSettings) -> None:
        """Check the CRCs and read the headers, once. Records are decompressed a batch at a time by whoever uses them,
        so the loop is never held for longer than a batch takes (B31)."""
        if self.batches is None:
            self.batches, self.trouble = self._read(at, settings)

    def _read(self, at: TopicPartition, settings: ConsumerSettings) -> tuple[list[Batch], KcliError | None]:
        records = self.data.records
        assert records is not None
        found: list[Batch] = []
        rest: Buffer = records
        while True:
            try:
                found += read_batches(rest, check_crcs=settings.check_crcs, max_decompressed=settings.max_decompressed)
                return found, None
            except CorruptBatch as broken:
                found += broken.good
                trouble = CorruptRecords(at, max(broken.base_offset, self.fetched_at), broken)
                if not settings.skip_corrupt:
                    return found, trouble
                self.skipped.append(trouble)
                rest = _after(rest, broken.base_offset)
            except DecodeError as broken:
                return found, CorruptRecords(at, found[-1].last_offset + 1 if found else self.fetched_at, broken)

    def window(self, position: int, end: int | None, *, committed: bool, control: bool) -> tuple[list[Batch], int]:
        """The batches to be handed out, cut to [position, end), and the position after them (E3, E4). The position
        goes past markers, aborted and empty batches, but not past a corrupt one."""
        assert self.batches is not None
        hidden = AbortedFilter(self.data.aborted_transactions or ()) if committed else None
        shown = []
        following = position
        for batch in self.batches:
            aborted = hidden is not None and hidden.hides(batch)
            if batch.last_offset < position:
                continue
            if end is not None and batch.base_offset >= end:
                following = end
                break
            following = batch.last_offset + 1
            if aborted or batch.count == 0 or (batch.is_control and not control):
                continue
            batch.first = max(position, batch.base_offset)
            batch.stop = following if end is None else min(following, end)
            shown.append(batch)
        else:
            if self.trouble is None:
                following = max(following, self.following)
        return shown, following if end is None else min(following, max(end, position))


def _after(records: Buffer, base_offset: int) -> Buffer:
    """What follows the first batch with this base offset; nothing where it cannot be found."""
    view = memoryview(records)
    at = 0
    while len(view) - at >= LOG_OVERHEAD:
        base, length, _, _ = _PREFIX.unpack_from(view, at) if len(view) - at >= 17 else (0, -1, 0, 0)
        if length < 0:
            break
        at += LOG_OVERHEAD + length
        if base == base_offset:
            return view[at:]
    return view[len(view) :]
