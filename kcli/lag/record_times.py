"""When records were written: the timestamp of the record at an offset, for time lag that is exact (docs/lag.md).

A fetch of one batch for each partition, all partitions of a leader in one request.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE
from kcli.asking.fetch_once import Place, fetch_once
from kcli.errors import BrokerError, DecodeError, KcliError
from kcli.proto.batch import read_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.batch import Batch
    from kcli.proto.messages.fetch import PartitionData

ENOUGH = 64 * 1024  # bytes of a partition: usually a batch
AT_ONCE = 16 * 1024 * 1024  # bytes of an answer


class RecordTime(KcliError):
    """There is no record with a timestamp. `reached`: only markers and gaps lie before it."""

    def __init__(self, text: str, reached: int = -1) -> None:
        super().__init__(text)
        self.reached = reached


async def record_times(
    cluster: Cluster, offsets: dict[TopicPartition, int], *, patience: float = PATIENCE
) -> dict[TopicPartition, int | KcliError]:
    """The timestamp (ms) of the first record at or after each offset, or an error if there is no record, or none with a
    timestamp. Markers and compacted offsets are skipped as far as one fetch reaches."""
    wanted = {at: Place(offset, ENOUGH) for at, offset in offsets.items()}
    return await fetch_once(cluster, wanted, _read, _no_record, at_once=AT_ONCE, patience=patience)


def _read(at: TopicPartition, part: PartitionData, place: Place) -> int | KcliError | Place:
    """The time; where nothing but markers came, the place behind them."""
    name = f"{at.topic} [{at.partition}]"
    if part.error_code:
        return BrokerError(codes.of(part.error_code), name)
    try:
        time, offset = _time_of(part, place.offset)
    except DecodeError as error:
        return error
    if time is None:
        return Place(offset, place.size)
    return time if time >= 0 else RecordTime(f"{name}: the record there carries no timestamp")


def _no_record(at: TopicPartition, place: Place) -> RecordTime:
    return RecordTime(f"{at.topic} [{at.partition}]: no record there yet", place.offset)


def _time_of(part: PartitionData, offset: int) -> tuple[int | None, int]:
    """(the time of the first record at or after `offset`, or None; the next offset to read)."""
    for batch in read_batches(part.records or b"", check_crcs=False):
        time = _first_time(batch, offset)
        if time is not None:
            return time, offset
        offset = max(offset, batch.last_offset + 1)
    return None, offset


def _first_time(batch: Batch, offset: int) -> int | None:
    """The timestamp of the batch's first record at or after `offset`; None where it has none."""
    if batch.is_control or batch.last_offset < offset:
        return None
    batch.first = offset
    return next((record.timestamp for record in batch), None)
