"""Checks of a produced batch: the 61 bytes before the records, and the checksum. Records are read only if the topic is
compacted: all of them need a key."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.buffer import Buffer

if TYPE_CHECKING:
    from kcli.proto.columns import Columns

LAYOUT = Layout(">qiibIhiqqqhii")
SIZE = 61
CHECKED_FROM = 21  # the CRC covers attributes and all that follows
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20
_CRC = Layout(">I")


class Header:
    """The header of a record batch v2, as its bytes say it."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "length",
        "magic",
        "max_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(self, data: Buffer, at: int = 0) -> None:
        (
            self.base_offset,
            self.length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = LAYOUT.unpack_from(data, at)

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + 12

    def pack(self) -> bytes:
        """The 61 bytes again."""
        return LAYOUT.pack(
            self.base_offset,
            self.length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        )

    def stamp_append_time(self, now: int, body: Buffer) -> None:
        """Make `now` (ms) the timestamp of every record: LogAppendTime. It is inside the CRC, which is computed
        again."""
        self.attributes |= LOG_APPEND_TIME
        self.max_timestamp = now
        self.crc = checksum(body, checksum(self.pack()[CHECKED_FROM:]))


def checksum(data: Buffer, start: int = 0) -> int:
    """CRC-32C."""
    from crc32c import crc32c

    return int(crc32c(data, start))


def accept(records: Buffer | None, largest: int) -> Header:
    """The header of a produced batch that may be appended. `largest` is max.message.bytes.
    Raises BrokerError as Kafka would answer: CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE."""
    if records is None or len(records) == 0:
        raise BrokerError(codes.INVALID_RECORD, message="the partition has no batch")
    if len(records) < 17 or (records[16] == 2 and len(records) < SIZE):
        raise BrokerError(codes.INVALID_RECORD, message=f"{len(records)} bytes are no record batch")
    if records[16] > 2:
        raise BrokerError(codes.CORRUPT_MESSAGE, message=f"magic {records[16]} does not exist")
    if records[16] != 2:
        raise BrokerError(codes.INVALID_RECORD, message=f"magic {records[16]}: only record batch version 2 is accepted")
    header = Header(records)
    if header.size > len(records) or header.length < SIZE - 12:
        raise BrokerError(codes.INVALID_RECORD, message=f"a batch of {header.size} bytes in {len(records)}")
    if header.size < len(records):
        raise BrokerError(codes.INVALID_RECORD, message="more than one batch for a partition")
    if len(records) > largest:
        raise BrokerError(
            codes.MESSAGE_TOO_LARGE, message=f"a batch of {len(records)} bytes, max.message.bytes is {largest}"
        )
    if checksum(memoryview(records)[CHECKED_FROM:]) != header.crc:
        raise BrokerError(codes.CORRUPT_MESSAGE, message="the batch fails its checksum")
    return header


def judge(header: Header) -> None:
    """Raises BrokerError INVALID_RECORD for a batch that no log takes."""
    if header.count <= 0 or header.count != header.last_offset_delta + 1:
        raise BrokerError(
            codes.INVALID_RECORD, message=f"{header.count} records, last offset delta {header.last_offset_delta}"
        )
    if header.attributes & 7 > 4:
        raise BrokerError(codes.INVALID_RECORD, message=f"codec {header.attributes & 7} does not exist")
    if header.attributes & CONTROL:
        raise BrokerError(codes.INVALID_RECORD, message="clients may not write control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise BrokerError(codes.INVALID_RECORD, message="a producer id without a sequence")


def mistimed(header: Header, records: Buffer, earliest: int, latest: int) -> list[int]:
    """Which records have a timestamp (ms) out of range. A batch is read only if one may be, as its header says."""
    if header.max_timestamp <= latest and (earliest <= 0 or header.count <= 0):
        return []
    times = _columns(records).timestamps
    return [row for row, at in enumerate(times) if at >= 0 and not earliest <= at <= latest]


def keyless(records: Buffer) -> list[int]:
    """Which records of a batch have no key. Raises BrokerError INVALID_RECORD for what cannot be read."""
    lengths = _columns(records).key_lengths
    return [row for row, length in enumerate(lengths) if length < 0] if min(lengths, default=0) < 0 else []


def _columns(records: Buffer) -> Columns:
    from kcli.errors import DecodeError
    from kcli.proto.batch import read_batches

    try:
        return read_batches(records, check_crcs=False)[0].columns()
    except DecodeError as broken:
        raise BrokerError(codes.INVALID_RECORD, message=str(broken)) from broken


def corrupted(records: Buffer) -> bytes:
    """A copy whose first batch fails its checksum (a scripted fault)."""
    copy = bytearray(records)
    if len(copy) >= CHECKED_FROM:
        _CRC.pack_into(copy, 17, _CRC.unpack_from(copy, 17)[0] ^ 0xFFFFFFFF)
    return bytes(copy)
