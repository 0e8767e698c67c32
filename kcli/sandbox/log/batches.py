"""Checks of a produced batch, in Kafka's order: the 61 bytes before the records, the checksum, then the records, which
are decompressed and walked, but not made."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.buffer import Buffer

if TYPE_CHECKING:
    from kcli.proto.batch import Batch

LAYOUT = Layout(">qiibIhiqqqhii")
SIZE = 61
CHECKED_FROM = 21  # the CRC covers attributes and all that follows
CODEC, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x07, 0x08, 0x10, 0x20
ZSTD = 4
PREFIX, MAGIC_AT = 12, 16  # base offset and length; where the magic is
LEAST = 14  # the shortest message of any version
LAST = (1 << 63) - 1
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
        """Make `now` (ms) the timestamp of every record: LogAppendTime."""
        self.attributes |= LOG_APPEND_TIME
        self.stamp_newest(now, body)

    def stamp_newest(self, newest: int, body: Buffer) -> None:
        """Set the largest timestamp (ms). It is inside the CRC, which is computed again."""
        self.max_timestamp = newest
        self.crc = checksum(body, checksum(self.pack()[CHECKED_FROM:]))


def checksum(data: Buffer, start: int = 0) -> int:
    """CRC-32C."""
    from kcli.proto.checksum import crc32c

    return int(crc32c(data, start))


def accept(records: Buffer | None, *, zstd: bool = True) -> Header:
    """The header of a produced batch, checked as every request is before it comes to a log. `zstd`: the version of the
    request knows that codec. Raises BrokerError INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE,
    UNKNOWN_SERVER_ERROR."""
    size = _framed(records or b"", 0)
    if records is None or size is None:
        raise BrokerError(codes.INVALID_RECORD, message="the partition has no batch")
    if records[16] != 2:
        raise BrokerError(codes.INVALID_RECORD, message=f"magic {records[16]}: only record batch version 2 is accepted")
    if size < SIZE:
        raise BrokerError(codes.CORRUPT_MESSAGE, message=f"a batch of {size} bytes")
    header = Header(records)
    if not zstd and header.attributes & CODEC == ZSTD:
        raise BrokerError(codes.UNSUPPORTED_COMPRESSION_TYPE, message="zstd needs Produce version 7")
    if _framed(records, size) is not None:
        raise BrokerError(codes.INVALID_RECORD, message="more than one batch for a partition")
    return header


def _framed(records: Buffer, at: int) -> int | None:
    """The bytes of the whole batch that begins there; None where none does. Raises BrokerError CORRUPT_MESSAGE, and
    UNKNOWN_SERVER_ERROR for a size that Kafka's arithmetic does not survive."""
    left = len(records) - at
    if left < PREFIX:
        return None
    size = int.from_bytes(records[at + 8 : at + PREFIX], "big", signed=True)
    if size < LEAST:
        raise BrokerError(codes.CORRUPT_MESSAGE, message=f"a batch of {size} bytes")
    if left < MAGIC_AT + 1:
        return None
    if records[at + MAGIC_AT] > 2:
        raise BrokerError(codes.CORRUPT_MESSAGE, message=f"magic {records[at + MAGIC_AT]} does not exist")
    if size + PREFIX >= 1 << 31:
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message=f"a batch of {size} bytes")
    return size + PREFIX if size + PREFIX <= left else None


def analyze(header: Header, records: Buffer, largest: int) -> None:
    """The first checks of a log; `largest` is max.message.bytes. Raises BrokerError INVALID_RECORD, MESSAGE_TOO_LARGE,
    CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR."""
    if header.base_offset != 0:
        raise BrokerError(codes.INVALID_RECORD, message=f"the base offset should be 0, and it is {header.base_offset}")
    if len(records) > largest:
        raise BrokerError(
            codes.MESSAGE_TOO_LARGE, message=f"a batch of {len(records)} bytes, max.message.bytes is {largest}"
        )
    if checksum(memoryview(records)[CHECKED_FROM:]) != header.crc:
        raise BrokerError(codes.CORRUPT_MESSAGE, message="the batch fails its checksum")
    if header.attributes & CODEC > ZSTD:
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message=f"codec {header.attributes & CODEC} does not exist")


def judge(header: Header) -> None:
    """Raises BrokerError INVALID_RECORD for a batch that no log takes."""
    if header.count <= 0 or header.count != header.last_offset_delta + 1:
        raise BrokerError(
            codes.INVALID_RECORD, message=f"{header.count} records, last offset delta {header.last_offset_delta}"
        )
    if header.attributes & CONTROL:
        raise BrokerError(codes.INVALID_RECORD, message="clients may not write control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise BrokerError(codes.INVALID_RECORD, message="a producer id without a sequence")


class Records:
    """The records of a produced batch, checked as Kafka checks them: their lengths and how many they are. Raises
    BrokerError UNKNOWN_SERVER_ERROR for what cannot be decompressed, INVALID_RECORD for broken records."""

    def __init__(self, header: Header, records: Buffer) -> None:
        from kcli.errors import DecodeError
        from kcli.proto.batch import CODECS, MAX_DECOMPRESSED, read_batches
        from kcli.proto.compression import TooLarge, decompress

        self.batch: Batch | None = None
        """None where this side reads other records than Kafka does, or the batch is too large to look into."""
        self._times: list[int] = []
        self._keyed: list[bool] = []
        body: Buffer = memoryview(records)[SIZE:]
        number = header.attributes & CODEC
        try:
            if number:
                body = decompress(CODECS[number], body, MAX_DECOMPRESSED)
        except TooLarge:
            return
        except DecodeError as broken:
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message=str(broken)) from broken
        try:
            (batch,) = read_batches(records, check_crcs=False)
            if number:
                batch.data, batch.body_start, batch.body_end, batch.packed = body, 0, len(body), False
            batch.check()
            self.batch = batch
        except (DecodeError, ValueError):
            self._walk(header, body)

    def _walk(self, header: Header, body: Buffer) -> None:
        """Read the records one by one, as Kafka does: offsets may be any, and so may the length of what is null."""
        at = 0
        for _ in range(header.count):
            size, at = _varint(body, at)
            end = at + size
            if size < 1 or end > len(body):
                raise _broken(f"a record of {size} bytes at {at}")
            elapsed, at = _varint(body, at + 1)
            _, at = _varint(body, at)
            key, at = _skip(body, at, end)
            _, at = _skip(body, at, end)
            headers, at = _varint(body, at)
            if not 0 <= headers <= end - at:
                raise _broken(f"{headers} headers in {end - at} bytes")
            for _ in range(headers):
                length, at = _skip(body, at, end)
                if length < 0:
                    raise _broken("a header without a name")
                _, at = _skip(body, at, end)
            if at != end:
                raise _broken(f"{end - at} bytes too many in a record")
            self._times.append(header.base_timestamp + elapsed)
            self._keyed.append(key >= 0)
        if at < len(body):
            raise _broken(f"{len(body) - at} bytes after the last record")

    def mistimed(self, header: Header, earliest: int, latest: int) -> list[int]:
        """Which records have a timestamp (ms) out of range; they are read only if one may be, as the header says."""
        if header.max_timestamp <= latest and earliest <= 0 and header.base_timestamp >= earliest:
            return []
        return [row for row, at in enumerate(self.times()) if at != -1 and not earliest <= at <= latest]

    def keyless(self) -> list[int]:
        """Which records have no key."""
        if self.batch is None:
            return [row for row, keyed in enumerate(self._keyed) if not keyed]
        return [row for row, length in enumerate(self.batch.columns().key_lengths) if length < 0]

    def times(self) -> list[int]:
        """The timestamps of the records, in ms."""
        return self._times if self.batch is None else self.batch.columns().timestamps.tolist()

    def newest(self, header: Header) -> int:
        """The largest timestamp: what the header says, unless no record has it."""
        if self.batch is None:
            return max(self._times, default=header.max_timestamp)
        if header.attributes & LOG_APPEND_TIME or _has(self.batch, header.max_timestamp):
            return header.max_timestamp
        return max(self.times(), default=header.max_timestamp)


def _has(batch: Batch, newest: int) -> bool:
    """Whether a record has this timestamp, and none a later one."""
    from kcli.proto import core

    at_least = core.timed(batch, newest, LAST)
    return len(at_least) > 0 and (len(at_least) == len(core.timed(batch, newest, min(newest + 1, LAST))))


def _varint(data: Buffer, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _broken("a number that does not end")
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7


def _skip(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """The length of a field, and where it ends."""
    length, at = _varint(data, at)
    if at + max(length, 0) > end:
        raise _broken(f"a field of {length} bytes at {at}")
    return length, at + max(length, 0)


def _broken(words: str) -> BrokerError:
    return BrokerError(codes.INVALID_RECORD, message=words)


def corrupted(records: Buffer) -> bytes:
    """A copy whose first batch fails its checksum (a scripted fault)."""
    copy = bytearray(records)
    if len(copy) >= CHECKED_FROM:
        _CRC.pack_into(copy, 17, _CRC.unpack_from(copy, 17)[0] ^ 0xFFFFFFFF)
    return bytes(copy)
