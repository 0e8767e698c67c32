"""Offsets by time, as ListOffsets asks for them: the first record at or after a timestamp, or a special value.
Batches are found by their max timestamp; only the one that holds the answer is decoded."""

from __future__ import annotations

from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.log import Log
from kcli.sandbox.log.segment import Segment

Found = tuple[int, int, int]  # offset, timestamp (ms), leader epoch

EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -2, -1, -3, -4, -5, -6
NOTHING = (-1, -1, -1)


def offset_at(partition: Partition, timestamp: int, *, committed: bool) -> Found:
    """(offset, timestamp, leader epoch) of the first record at or after `timestamp` (ms), or for one of the special
    values. With `committed` the log ends at the last stable offset. Offset -1 without one."""
    log = partition.log
    end = log.stable if committed else log.end
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epoch_at(log.start)
        return log.start, -1, partition.leader_epoch if epoch < 0 < log.end else epoch
    if timestamp == LATEST:
        return end, -1, partition.leader_epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING):
        return NOTHING
    if timestamp == MAX_TIMESTAMP:
        timestamp = max((segment.times[row] for segment, row in log.batches() if _kept(log, segment, row)), default=-1)
        if timestamp < 0:
            return NOTHING
    position = _search(log, timestamp)
    return position if position[0] < end else NOTHING


def _kept(log: Log, segment: Segment, row: int) -> bool:
    """Whether a reader may still have something of the batch."""
    after = segment.bases[row + 1] if row + 1 < len(segment.bases) else segment.next_offset
    return after > log.start


def _search(log: Log, timestamp: int) -> Found:
    for segment, row in log.batches():
        if segment.times[row] >= timestamp and _kept(log, segment, row):
            position = _record_at(log, segment, row, timestamp)
            if position is not None:
                return position
    return NOTHING


def _record_at(log: Log, segment: Segment, row: int, timestamp: int) -> Found | None:
    from kcli.proto.batch import read_batches

    for batch in read_batches(segment.view[segment.start_of(row) : segment.ends[row]], check_crcs=False):
        columns = batch.columns()
        for offset, at in zip(columns.offsets, columns.timestamps, strict=True):
            if at >= timestamp and offset >= log.start:
                return int(offset), int(at), segment.epochs[row]
    return None
