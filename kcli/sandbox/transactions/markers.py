"""The marker that ends a transaction in a partition: a control batch of one record and 78 bytes (F.3)."""

from __future__ import annotations

import time
from struct import Struct

from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.batches import CHECKED_FROM, CONTROL, LAYOUT, SIZE, TRANSACTIONAL, Header, checksum

ABORT, COMMIT = 0, 1
COORDINATOR_EPOCH = 0  # one process: no older coordinator can be left over
_RECORD = Struct(">bbbbbhhbhib")  # lengths and deltas are varints of one byte; key (version, type), value, no headers
_MARKER_SIZE = SIZE + _RECORD.size


def marker(producer_id: int, epoch: int, *, commit: bool, now: int) -> bytes:
    """The control batch; `now` in ms. Its offset and leader epoch are put in by the log."""
    body = _RECORD.pack(2 * 16, 0, 0, 0, 2 * 4, 0, COMMIT if commit else ABORT, 2 * 6, 0, COORDINATOR_EPOCH, 0)
    head = LAYOUT.pack(0, _MARKER_SIZE - 12, -1, 2, 0, CONTROL | TRANSACTIONAL, 0, now, now, producer_id, epoch, -1, 1)
    header = Header(head)
    header.crc = checksum(body, checksum(head[CHECKED_FROM:]))
    return header.pack() + body


def end_in(partition: Partition, producer_id: int, epoch: int, *, commit: bool) -> None:
    """Write the marker. From then on older epochs of the producer are refused in this partition, and readers see the
    outcome. Raises BrokerError KAFKA_STORAGE_ERROR."""
    data = marker(producer_id, epoch, commit=commit, now=int(time.time() * 1000))
    header = Header(data)
    partition.log.append(header, data, partition.leader_epoch, None)
    partition.producers.ended(header)
    partition.wake()
