"""A ShareFetch's data for one partition, as returned by a poll: the acquired ranges, each with its batches.

The unit is the range, not the record: adjacent ranges with the same delivery count are merged (a broker that received
single acknowledgements lists records one by one). An acquired offset without a record, or with a marker, is a gap.
Offsets after a cut-off batch are unreached, not gaps, because they may have records. Java treats them as gaps, and
relies on the broker to acquire only whole batches.
"""

from __future__ import annotations

from kcli.consumer.fetch.chunk import CorruptRecords, after
from kcli.consumer.fetch.frames import fruitless
from kcli.consumer.share.ranges import Range, Undecided
from kcli.errors import DecodeError, KcliError
from kcli.proto import core
from kcli.proto.batch import CorruptBatch, read_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import TopicPartition
    from kcli.proto.batch import Batch
    from kcli.proto.buffer import Buffer
    from kcli.proto.messages.share_fetch import AcquiredRecords, PartitionData
    from kcli.settings import ConsumerSettings

    Place = tuple[bytes, int]
    Span = tuple[int, int]  # first and last offset
    Corrupt = tuple[int, int, CorruptRecords]

ALL = 2**63 - 1


class Acquired:
    """Records of one partition that only this member may process until `deadline` (loop time in seconds): offsets
    `first` to `last`, in their `delivery_count`th delivery.

    `batches` may be empty. `error` is why those in `unreadable` could not be read; `gaps` are offsets without a record,
    `unreached` those after a cut-off batch.
    """

    __slots__ = (
        "batches",
        "deadline",
        "delivery_count",
        "error",
        "first",
        "gaps",
        "last",
        "node",
        "partition",
        "place",
        "topic",
        "undecided",
        "unreached",
        "unreadable",
    )

    def __init__(self, at: TopicPartition, place: Place, node: int, first: int, last: int, count: int) -> None:
        self.topic, self.partition = at
        self.place = place
        self.node = node
        self.first = first
        self.last = last
        self.delivery_count = count
        self.deadline = 0.0
        self.batches: list[Batch] = []
        self.gaps: list[Span] = []
        self.unreached: list[Span] = []
        self.unreadable: list[Span] = []
        self.error: KcliError | None = None
        self.undecided = Undecided(first, last)

    def __repr__(self) -> str:
        return f"<Acquired {self.topic}[{self.partition}] {self.first}..{self.last}, delivery {self.delivery_count}>"


class Arrived:
    """A partition's part of a response; the poll that returns it decodes it."""

    __slots__ = ("_opened", "at", "data", "deadline", "node", "place", "size")

    def __init__(self, at: TopicPartition, place: Place, node: int, data: PartitionData, deadline: float) -> None:
        self.at = at
        self.place = place
        self.node = node
        self.data = data
        self.deadline = deadline
        self.size = len(data.records or b"")
        self._opened: tuple[list[Batch], list[Corrupt]] | None = None

    def ranges(self) -> list[tuple[int, int, int]]:
        """The acquired ranges as (first, last, delivery count), in order, adjacent ones with the same count merged."""
        return _joined(self.data.acquired_records)

    def _batches(self, settings: ConsumerSettings) -> tuple[list[Batch], list[Corrupt]]:
        if self._opened is None:
            self._opened = _read(self.data.records, self.at, settings)
        return self._opened

    def compressed(self, settings: ConsumerSettings) -> list[Batch]:
        """Return the batches that have to be decompressed before their records are read."""
        return [batch for batch in self._batches(settings)[0] if batch.compressed]

    def cut_off(self, settings: ConsumerSettings) -> CorruptRecords | None:
        """Return the error if the first batch is cut off, so that nothing can be read; otherwise None."""
        records = self.data.records or b""
        if not records or any(self._batches(settings)) or core.ends(records)[2]:
            return None
        return CorruptRecords(self.at, self.data.acquired_records[0].first_offset, fruitless(records))

    def open(self, settings: ConsumerSettings) -> list[Acquired]:
        """Return the acquired ranges, each with its part of the batches."""
        batches, corrupt = self._batches(settings)
        records = self.data.records or b""
        end = ALL
        if core.ends(records)[2] < len(records):
            end = batches[-1].last_offset if batches else -1
        ranges: list[Acquired] = []
        at = 0
        for first, last, count in self.ranges():
            acquired = Acquired(self.at, self.place, self.node, first, last, count)
            acquired.deadline = self.deadline
            while at < len(batches) and batches[at].last_offset < first:
                at += 1
            _fill(acquired, batches, at, corrupt, end)
            ranges.append(acquired)
        return ranges


def _fill(acquired: Acquired, batches: list[Batch], at: int, corrupt: list[Corrupt], end: int) -> None:
    """Add the batches to an acquired range; after the offset `end` a missing record is not a gap."""
    covered: list[Span] = []
    for first, last, error in corrupt:
        if first <= acquired.last and last >= acquired.first:
            acquired.unreadable.append((max(first, acquired.first), min(last, acquired.last)))
            acquired.error = acquired.error or error
    covered += acquired.unreadable
    for index in range(at, len(batches)):
        batch = batches[index]
        if batch.base_offset > acquired.last:
            break
        if batch.is_control or not batch.count:
            continue
        first, last = max(batch.base_offset, acquired.first), min(batch.last_offset, acquired.last)
        covered.append((first, last))
        acquired.batches.append(batch.window(first, last + 1))
    missing: list[Span] = []
    following = acquired.first
    for first, last in sorted(covered):
        if first > following:
            missing.append((following, first - 1))
        following = last + 1
    if following <= acquired.last:
        missing.append((following, acquired.last))
    acquired.gaps = [(first, min(last, end)) for first, last in missing if first <= end]
    acquired.unreached = [(max(first, end + 1), last) for first, last in missing if last > end]


def _joined(rows: list[AcquiredRecords]) -> list[tuple[int, int, int]]:
    ranges: list[Range] = []
    for row in sorted(rows, key=lambda row: row.first_offset):
        if ranges and ranges[-1].last + 1 == row.first_offset and ranges[-1].kind == row.delivery_count:
            ranges[-1] = Range(ranges[-1].first, row.last_offset, row.delivery_count)
        else:
            ranges.append(Range(row.first_offset, row.last_offset, row.delivery_count))
    return [(span.first, span.last, span.kind) for span in ranges]


def _read(records: Buffer | None, at: TopicPartition, settings: ConsumerSettings) -> tuple[list[Batch], list[Corrupt]]:
    """Return the readable batches and the unreadable spans. Without skip_corrupt, nothing after the first of those is
    read."""
    batches: list[Batch] = []
    corrupt: list[Corrupt] = []
    rest: Buffer = records or b""
    while rest:
        try:
            batches += read_batches(rest, check_crcs=settings.check_crcs, max_decompressed=settings.max_decompressed)
            break
        except CorruptBatch as broken:
            batches += broken.good
            error = CorruptRecords(at, broken.base_offset, broken)
            if not settings.skip_corrupt:
                corrupt.append((broken.base_offset, ALL, error))
                break
            corrupt.append((broken.base_offset, broken.next_offset - 1, error))
            rest = after(rest, broken.base_offset)
        except DecodeError as broken:
            start = batches[-1].last_offset + 1 if batches else 0
            corrupt.append((start, ALL, CorruptRecords(at, start, broken)))
            break
    return batches, corrupt
