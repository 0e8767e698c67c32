"""The data of one fetch for one partition: kept as received, decoded when a poll returns it.

So memory is bounded by the bytes on the wire, and the next fetch is sent before this one is decoded: its offset is in
the batch headers. Work is per batch, not per record.
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
        """What the filter reads of a batch: nothing of its records."""

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
    """A batch whose bytes are corrupt, at partition `at` and `offset`."""

    def __init__(self, at: TopicPartition, offset: int, reason: object) -> None:
        place = f"{at.topic}[{at.partition}]"  # a CorruptBatch says its offset itself
        super().__init__(
            f"{place}: {reason}" if isinstance(reason, CorruptBatch) else f"{place} offset {offset}: {reason}"
        )
        self.at = at
        self.offset = offset


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

    def changed(self, **changes: Any) -> Fetched:
        """A copy with some fields changed."""
        kept = {one.name: getattr(self, one.name) for one in Fetched.__fields__}
        return Fetched(**(kept | changes))


class Chunk:
    """`fetched_at` is the requested offset, `following` the next one to request, `size` is on the wire. `broken`: the
    fetch has only a batch with a broken frame. Up to the offset `tried` all batches were decompressed: one that is
    still compressed cannot be read."""

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
        self.batches: list[Batch] | None = None  # those that were not handed out yet
        self.last = -1  # behind the last of them
        self.trouble: KcliError | None = None
        self.skipped: list[CorruptRecords] = []
        self.tried = -1

    @property
    def is_old(self) -> bool:
        """Whether it begins with messages of v0 or v1."""
        records = self.data.records
        return records is not None and len(records) >= 17 and records[16] < 2

    def open(self, at: TopicPartition, settings: ConsumerSettings) -> None:
        """Check the CRCs and read the headers, once. Records are decompressed a piece at a time, see `Unpacking`."""
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
        """The batches to be handed out, cut to [position, end), and the position after them (E3, E4). The position
        goes past markers, aborted and empty batches, but not past a corrupt one."""
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
        """The batches before `position` were handed out: what they hold is no longer ours."""
        assert self.batches is not None
        self.batches = [batch for batch in self.batches if batch.last_offset >= position]


def after(records: Buffer, base_offset: int) -> Buffer:
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


# read_committed: which batches of a fetched chunk belong to transactions that were aborted (E14-E16).
#
# The broker names the aborted transactions of exactly the range it answers, so a filter lives as long as one chunk.
class AbortedFilter:
    """Fed with every batch in order, markers included."""

    __slots__ = ("_aborted", "_coming")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        # Sorted here, since not every broker does; the next one is last.
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
