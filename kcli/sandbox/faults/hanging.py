"""A hanging transaction, made as they come about: a batch of a transaction arrives after its coordinator has ended
that, or was never told of the partition, and brokers before KIP-890 took it."""

from __future__ import annotations

from kcli.sandbox.log.batches import LAYOUT, SIZE, TRANSACTIONAL

_RECORD = b"\x00\x00\x00\x01\x0ehanging\x00"  # no deltas, a null key, seven bytes of value, no headers


def hanging_batch(producer_id: int, epoch: int, sequence: int, timestamp: int) -> bytes:
    """A transactional batch of one record, `timestamp` in ms; the log puts in offset, leader epoch and CRC."""
    body = bytes([2 * len(_RECORD)]) + _RECORD
    head = LAYOUT.pack(
        0, SIZE - 12 + len(body), -1, 2, 0, TRANSACTIONAL, 0, timestamp, timestamp, producer_id, epoch, sequence, 1
    )
    return head + body
