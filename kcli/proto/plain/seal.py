"""The header of a batch to send: what is known when it is full, and its producer."""

from __future__ import annotations

from struct import Struct

from kcli.proto.plain import scan

STAMP = Struct(">qhi")
WORD = Struct(">I")
AFTER_LENGTH, CRC, CHECKED, IDENTITY = 12, 17, 21, 43
"""Positions: where the counted length begins, the CRC, the start of what it covers, and the producer's identity."""


def write_header(data: bytearray, attributes: int, count: int, base_timestamp: int, max_timestamp: int) -> None:
    """Write the 61 bytes before the records, without producer and CRC."""
    length, last, times = len(data) - AFTER_LENGTH, count - 1, (base_timestamp, max_timestamp)
    scan.HEADER.pack_into(data, 0, 0, length, -1, 2, 0, attributes, last, *times, -1, -1, -1, count)


def write_stamp(data: bytearray, producer_id: int, epoch: int, base_sequence: int) -> None:
    """Write the producer's identity (-1 for none), then the CRC."""
    STAMP.pack_into(data, IDENTITY, producer_id, epoch, base_sequence)
    WORD.pack_into(data, CRC, scan.crc32c(memoryview(data)[CHECKED:]))
