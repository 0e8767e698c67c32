"""The data of one fetch for one partition: kept as received, decoded when a poll returns it.

So memory is limited by the bytes on the wire, and the next fetch can be sent before this one is decoded, because its
offset is in the batch headers. Work is per batch, not per record.
"""

from __future__ import annotations

from struct import Struct

from kcli.errors import DecodeError, KcliError
from kcli.proto import core
from kcli.proto.batch import CorruptBatch, read_batches
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Protocol

    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch
    from kcli.proto.buffer import Buffer
    from kcli.proto.messages.fetch import AbortedTransaction, PartitionData
    from kcli.settings import ConsumerSettings

    class BatchHeader(Protocol):
        """The fields of a batch that the filter needs."""

        @property
        def last_offset(self) -> int: ...
        @property
        def producer_id(self) -> int: ...
        @property
        def is_control(self) -> bool: ...
        @property
        def is_transactional(self) -> bool: ...
        @property
        def control_type(self) -> int: ...


_PREFIX = Struct(">qiib")  # base offset, length, leader epoch (v2), magic
LOG_OVERHEAD = 12
ABORT = 0


class CorruptRecords(DecodeError):
    """A batch with corrupt bytes, at partition `at` and `offset`."""

    def __init__(self, at: TopicPartition, offset: int, reason: object) -> None:
        place = f"{at.topic}[{at.partition}]"  # the text of a CorruptBatch already has its offset
        super().__init__(
            f"{place}: {reason}" if isinstance(reason, CorruptBatch) else f"{place} offset {offset}: {reason}"
        )
        self.at = at
        self.offset = offset


class Fetched(Value):
    """Records of one partition returned by a poll.

    `next_offset` is the position after them. `batches` may be empty if there were only markers or aborted records, or
    if there is only an `error`. Offsets are -1 if unknown. `skipped` are batches that skip_corrupt skipped.
    """

    topic: str = ""
    partition: int = 0
    batches: list[Batch] = ()  # type: ignore[assignment]
    next_offset: int = -1
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    error: KcliError | None = None
    skipped: Sequence[KcliError] = ()

    def changed(self, **changes: Any) -> Fetched:
        """Return a copy with some fields changed."""
        kept = {one.name: getattr(self, one.name) for one in Fetched.__fields__}
        return Fetched(**(kept | changes))


class Chunk:
    """A fetched chunk. `fetched_at` is the requested offset, `following` the next one to request, `size` is on the
    wire. `broken`: the fetch contains only a batch with a broken frame. Decompression was tried up to the offset
    `tried`: a batch before it that is still compressed cannot be read."""

    __slots__ = (
        "aborted",
        "batches",
        "broken",
        "data",
        "epoch",
        "fetched_at",
        "following",
        "last",
        "size",
        "skipped",
        "tried",
        "trouble",
    )

    def __init__(
        self, data: PartitionData, fetched_at: int, following: int, epoch: int, broken: CorruptBatch | None = None
    ) -> None:
        assert data.records is not None
        self.data = data
        self.fetched_at = fetched_at
        self.following = following
        self.epoch = epoch
        self.broken = broken
        self.size = len(data.records)
        self.aborted = data.aborted_transactions
        self.batches: list[Batch] | None = None  # batches not yet returned
        self.last = -1  # the offset after the last of them
        self.trouble: KcliError | None = None
        self.skipped: list[CorruptRecords] = []
        self.tried = -1

    @property
    def is_old(self) -> bool:
        """Whether it begins with messages in format v0 or v1."""
        records = self.data.records
        return records is not None and len(records) >= 17 and records[16] < 2

    def open(self, at: TopicPartition, settings: ConsumerSettings) -> None:
        """Check the CRCs and read the headers, once. Records are decompressed piece by piece, see `Unpacking`."""
        if self.batches is None:
            self.batches, self.trouble = self._read(at, settings)
            if self.batches:
                self.last = self.batches[-1].last_offset + 1

    def _read(self, at: TopicPartition, settings: ConsumerSettings) -> tuple[list[Batch], KcliError | None]:
        records = self.data.records
        assert records is not None
        batches: list[Batch] = []
        if self.broken is not None:
            trouble = CorruptRecords(at, self.fetched_at, self.broken)
            if not settings.skip_corrupt:
                return batches, trouble
            self.skipped.append(trouble)
            return batches, None
        rest: Buffer = records
        while True:
            try:
                batches += read_batches(
                    rest, check_crcs=settings.check_crcs, max_decompressed=settings.max_decompressed
                )
                return batches, None
            except CorruptBatch as broken:
                batches += broken.good
                trouble = CorruptRecords(at, max(broken.base_offset, self.fetched_at), broken)
                if not settings.skip_corrupt:
                    return batches, trouble
                self.skipped.append(trouble)
                rest = after(rest, broken.base_offset)
            except DecodeError as broken:
                return batches, CorruptRecords(at, batches[-1].last_offset + 1 if batches else self.fetched_at, broken)

    def window(self, position: int, end: int | None, *, committed: bool, control: bool) -> tuple[list[Batch], int]:
        """Return the batches to deliver, cut to [position, end), and the position after them. The position moves past
        markers, aborted and empty batches, but not past a corrupt one."""
        assert self.batches is not None
        if committed and self.aborted:
            hidden = AbortedFilter(self.aborted)
            self.batches = [batch for batch in self.batches if not hidden.hides(batch)]
            self.aborted = None
        shown, following, all_seen = core.show(self.batches, position, end, control)
        if all_seen:
            following = max(following, self.last)  # aborted ones are passed, too
            if self.trouble is None:
                following = max(following, self.following)
        return shown, following if end is None else min(following, max(end, position))

    def let_go(self, position: int) -> None:
        """Release the batches before `position`, which were returned."""
        assert self.batches is not None
        self.batches = [batch for batch in self.batches if batch.last_offset >= position]


def after(records: Buffer, base_offset: int) -> Buffer:
    """Return the bytes after the first batch with this base offset; empty if it is not found."""
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


# Which batches of a fetched chunk belong to aborted transactions (read_committed).
#
# The broker lists the aborted transactions of exactly the range in its response, so a filter is valid for one chunk.
class AbortedFilter:
    """Call `hides` with every batch in order, including markers."""

    __slots__ = ("_aborted", "_coming")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # Sorted here, because not every broker does; the next one is last.
        self._coming = sorted(
            ((transaction.first_offset, transaction.producer_id) for transaction in aborted), reverse=True
        )
        self._aborted: set[int] = set()

    def hides(self, batch: BatchHeader) -> bool:
        """Whether the records of `batch` were aborted. An ABORT marker ends its producer's transaction."""
        coming = self._coming
        while coming and coming[-1][0] <= batch.last_offset:
            self._aborted.add(coming.pop()[1])
        if batch.is_control:
            if batch.producer_id in self._aborted and batch.control_type == ABORT:
                self._aborted.discard(batch.producer_id)
            return False
        return batch.is_transactional and batch.producer_id in self._aborted
