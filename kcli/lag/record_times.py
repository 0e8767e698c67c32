"""Reads record timestamps for exact time lag, and checks whether there is any record after a commit (docs/lag.md).

It fetches one batch of each partition, with all partitions of a leader in one request.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import good
from kcli.asking.fetch_once import FETCH, Place, fetch_once
from kcli.errors import BrokerError, DecodeError, KcliError
from kcli.model import TopicPartition
from kcli.proto.batch import read_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.lag.figures import Sample
    from kcli.model import Cluster
    from kcli.proto.batch import Batch
    from kcli.proto.messages.fetch import PartitionData

    Spot = tuple[TopicPartition, int]
    """A partition and an offset in it."""

PATIENCE = 2.0  # seconds that a refresh waits for record timestamps
ENOUGH = 64 * 1024  # bytes of a partition: usually one batch
HANDFUL = 10
"""Offsets after a commit that may all be transaction markers; more than that are hardly ever markers."""
MARKERS = 1024  # bytes: room for HANDFUL markers; anything larger is a batch of records
SPOTS = 4096  # places read at once, 4 MiB in total
AT_ONCE = 16 * 1024 * 1024  # bytes of a response


class RecordTime(KcliError):
    """There is no record with a timestamp. `reached`: only markers and gaps lie before it."""

    def __init__(self, text: str, reached: int = -1) -> None:
        super().__init__(text)
        self.reached = reached


def spot(sample: Sample) -> Spot:
    """Return a partition and the offset of its first unread record."""
    return TopicPartition(sample.topic, sample.partition), max(sample.committed or 0, sample.start or 0)


async def mark_drained(cluster: Cluster, samples: Iterable[Sample]) -> None:
    """Mark the samples of groups that have read every record: only a few offsets are left, which are transaction
    markers and gaps. What cannot be read is left unchanged."""
    near: dict[Spot, list[Sample]] = {}
    for sample in samples:
        at, offset = spot(sample)
        if sample.committed is not None and sample.end is not None and 0 < sample.end - offset <= HANDFUL:
            near.setdefault((at, offset), []).append(sample)
    _, empty = await first_records(cluster, list(near)[:SPOTS], size=MARKERS)
    for place, some in near.items():
        for sample in some:
            sample.drained = empty.get(place, -1) >= (sample.end or 0)


async def first_records(
    cluster: Cluster, spots: Iterable[Spot], *, size: int = ENOUGH
) -> tuple[dict[Spot, int], dict[Spot, int]]:
    """Return when the first record at or after each place was written (ms), and for places without one the offset up to
    which there is none. Groups may be at several places of a partition."""
    times: dict[Spot, int] = {}
    empty: dict[Spot, int] = {}
    left: dict[TopicPartition, list[int]] = {}
    for at, offset in spots:
        left.setdefault(at, []).append(offset)
    while left:
        asked = {at: offsets.pop() for at, offsets in left.items()}
        answers = await record_times(cluster, asked, size=size)
        times |= {(at, asked[at]): time for at, time in good(answers).items()}
        empty |= {(at, asked[at]): answer.reached for at, answer in answers.items() if isinstance(answer, RecordTime)}
        left = {at: offsets for at, offsets in left.items() if offsets}
    return times, empty


async def record_times(
    cluster: Cluster, offsets: dict[TopicPartition, int], *, size: int = ENOUGH, patience: float = PATIENCE
) -> dict[TopicPartition, int | KcliError]:
    """Return the timestamp (ms) of the first record at or after each offset, or an error if there is no record or no
    timestamp.

    Markers and compacted offsets are skipped as far as fetches of `size` bytes reach; with fewer than ENOUGH, a batch
    that does not fit ends the search.
    """
    wanted = {at: Place(offset, size) for at, offset in offsets.items()}
    read = _read if size >= ENOUGH else _read_markers
    return await fetch_once(cluster, wanted, read, _no_record, at_once=AT_ONCE, patience=patience)


def _read(at: TopicPartition, part: PartitionData, place: Place) -> int | KcliError | Place:
    """Return the time, or the place after markers if there was nothing else."""
    name = f"{at.topic} [{at.partition}]"
    if part.error_code:
        return BrokerError(codes.of(part.error_code), name, api=FETCH, topic=at.topic)
    try:
        time, offset = _time_of(part, place.offset)
    except DecodeError as error:
        return error
    if time is None:
        return Place(offset, place.size)
    return time if time >= 0 else RecordTime(f"{name}: the record there carries no timestamp")


def _read_markers(at: TopicPartition, part: PartitionData, place: Place) -> int | KcliError | Place:
    outcome = _read(at, part, place)
    if isinstance(outcome, Place) and (outcome == place or outcome.offset >= part.high_watermark):
        return _no_record(at, outcome)
    return outcome


def _no_record(at: TopicPartition, place: Place) -> RecordTime:
    return RecordTime(f"{at.topic} [{at.partition}]: no record there yet", place.offset)


def _time_of(part: PartitionData, offset: int) -> tuple[int | None, int]:
    """Return (the time of the first record at or after `offset`, or None; the next offset to read)."""
    for batch in read_batches(part.records or b"", check_crcs=False):
        time = _first_time(batch, offset)
        if time is not None:
            return time, offset
        offset = max(offset, batch.last_offset + 1)
    return None, offset


def _first_time(batch: Batch, offset: int) -> int | None:
    """Return the timestamp of the batch's first record at or after `offset`; None if there is none."""
    if batch.is_control or batch.last_offset < offset:
        return None
    batch.first = offset
    return next((record.timestamp for record in batch), None)
