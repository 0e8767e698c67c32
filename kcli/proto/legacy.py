"""Converts message sets v0 and v1 to batches with a v2 records section, so that all other code sees one format. A
compressed wrapper becomes a batch; so do consecutive plain messages with the same magic and timestamp type."""

from __future__ import annotations

from binascii import crc32
from struct import Struct

from kcli.errors import DecodeError
from kcli.proto.varint import encode_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from kcli.proto.buffer import Buffer

    class Message(NamedTuple):
        """A message whose value is not parsed yet."""

        offset: int
        magic: int
        attributes: int
        timestamp: int
        key: bytes | None
        value: bytes | None
        end: int
else:
    from collections import namedtuple

    Message = namedtuple("Message", "offset magic attributes timestamp key value end")

FRONT = Struct(">qiIbb")
INT = Struct(">i")
LONG = Struct(">q")
SMALLEST = (14, 22)
CODECS = ("none", "gzip", "snappy", "lz4")
FARTHEST = 2**31 - 1
WORD = 0xFFFFFFFF
MASK = 0x0F
"""Codec and timestamp type; other attribute bits have no meaning before v2."""


class BadMessage(DecodeError):
    """A bad message; `at` is where it begins."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def read_messages(
    data: Buffer, at: int, check_crcs: bool, bound: int, make: type[Any], batches: list[Any]
) -> tuple[int, bool]:
    """Read messages from `at` on into `batches`, creating each batch with `make()`. Returns where it stopped and
    whether that is the end, rather than a v2 batch. Raises DecodeError, whose `at` is where the bad message begins."""
    group: list[Message] = []
    ended = True
    try:
        while True:
            if len(data) - at >= 17 and data[at + 16] == 2:
                ended = False
                break
            message = _read_message(data, at, check_crcs)
            if message is None:
                break
            if message.attributes & 7:
                _close(group, make, batches)
                batches.append(_open_wrapper(message, message.end - at, bound, make))
            else:
                if group and not _agree(group[-1], message):
                    _close(group, make, batches)
                group.append(message)
            at = message.end
    except DecodeError as error:
        _close(group, make, batches)
        raise BadMessage(str(error), at) from None
    _close(group, make, batches)
    return at, ended


def _read_message(data: Buffer, at: int, check_crcs: bool) -> Message | None:
    """Return the message at `at`; None if it is truncated."""
    if len(data) - at < 18:
        return None
    offset, size, crc, magic, attributes = FRONT.unpack_from(data, at)
    if magic not in (0, 1):
        raise DecodeError(f"format version {magic} is unknown")
    if size < SMALLEST[magic]:
        raise DecodeError(f"a message of {size} bytes")
    end = at + 12 + size
    if end > len(data):
        return None
    if check_crcs and crc32(memoryview(data)[at + 16 : end]) != crc:
        raise DecodeError("its CRC does not match")
    if not 0 <= offset < 2**63 - 2**32:
        raise DecodeError(f"an offset of {offset}")
    timestamp, place = -1, at + 18
    if magic == 1:
        (timestamp,) = LONG.unpack_from(data, place)
        place += 8
    key, place = _read_bytes(data, place, end)
    value, place = _read_bytes(data, place, end)
    if place != end:
        raise DecodeError(f"{end - place} bytes after its value")
    return Message(offset, magic, attributes & MASK, timestamp, key, value, end)


def _read_bytes(data: Buffer, at: int, end: int) -> tuple[bytes | None, int]:
    if end - at < 4:
        raise DecodeError("a message that ends before its length")
    (length,) = INT.unpack_from(data, at)
    at += 4
    if length == -1:
        return None, at
    if not 0 <= length <= end - at:
        raise DecodeError(f"a field of {length} bytes where {end - at} are left")
    return bytes(data[at : at + length]), at + length


def _agree(before: Message, after: Message) -> bool:
    """Whether two plain messages fit in one batch."""
    if (before.magic, before.attributes) != (after.magic, after.attributes):
        return False
    if before.attributes & 8 and before.timestamp != after.timestamp:
        return False
    return before.offset < after.offset < before.offset + FARTHEST // 1_000_000


def _close(group: list[Message], make: type[Any], batches: list[Any]) -> None:
    """Make a batch of the plain messages so far."""
    if group:
        size = sum(SMALLEST[m.magic] + 12 + len(m.key or b"") + len(m.value or b"") for m in group)
        batches.append(_batch(group, group[-1].offset, size, make))
        group.clear()


def _open_wrapper(outer: Message, size: int, bound: int, make: type[Any]) -> Any:
    """Return the batch of a compressed message."""
    codec = outer.attributes & 7
    if codec >= len(CODECS):
        raise DecodeError(f"codec {codec} does not exist in format version {outer.magic}")
    from kcli.proto.compression import decompress

    packed = outer.value or b""
    if codec == 3 and outer.magic == 0:
        packed = mend_lz4(packed)
    plain = decompress(CODECS[codec], packed, bound)
    inner: list[Message] = []
    at = 0
    while at < len(plain):
        message = _read_message(plain, at, False)  # covered by the wrapper's CRC
        if message is None:
            raise DecodeError("a compressed message set that is cut off")
        if message.attributes & 7 or message.magic != outer.magic:
            raise DecodeError("a compressed message inside another, or of another format version")
        inner.append(message)
        at = message.end
    if not inner:
        raise DecodeError("a compressed message set without messages")
    shift = 0
    # 0 is from producers that left it to the broker: then the inner offsets count
    if outer.magic == 1 and outer.offset:
        shift = outer.offset - inner[-1].offset
        if shift < 0:
            raise DecodeError(f"inner offset {inner[-1].offset} beyond the outer one, {outer.offset}")
    appended = outer.attributes & 8
    moved = [
        m._replace(offset=m.offset + shift, attributes=appended, timestamp=outer.timestamp if appended else m.timestamp)
        for m in inner
    ]
    return _batch(moved, max(outer.offset, moved[-1].offset), size, make, codec)


def _batch(messages: list[Message], last_offset: int, size: int, make: type[Any], codec: int = 0) -> Any:
    """Return messages in ascending order as a batch with a v2 section."""
    first = messages[0]
    section = bytearray()
    latest, before = first.timestamp, first.offset - 1
    for message in messages:
        delta = message.offset - first.offset
        if message.offset <= before or delta > FARTHEST:
            raise DecodeError(f"offset {message.offset} after {before}")
        before = message.offset
        latest = max(latest, message.timestamp)
        body = b"\x00" + encode_varint(message.timestamp - first.timestamp) + encode_varint(delta)
        for field in (message.key, message.value):
            body += b"\x01" if field is None else encode_varint(len(field)) + field
        section += encode_varint(len(body) + 1)
        section += body
        section += b"\x00"
    batch = make()
    batch.base_offset, batch.last_offset = first.offset, last_offset
    batch.first, batch.stop = first.offset, last_offset + 1
    batch.magic, batch.attributes, batch.size = first.magic, first.attributes & 8 | codec, size
    batch.leader_epoch = batch.producer_id = batch.producer_epoch = batch.base_sequence = -1
    batch.base_timestamp, batch.max_timestamp = first.timestamp, latest
    batch.count = len(messages)
    batch.data, batch.body_start, batch.body_end = bytes(section), 0, len(section)
    batch.packed, batch.max_decompressed = True, 1 << 26
    return batch


def mend_lz4(data: bytes) -> bytes:
    """Return a v0 lz4 frame with the correct header checksum: Kafka's own was wrong until v1 (KIP-57)."""
    if len(data) < 7 or data[:4] != b"\x04\x22\x4d\x18":
        return data
    stop = 6 + (8 if data[4] & 8 else 0) + (4 if data[4] & 1 else 0)
    if len(data) <= stop or stop - 4 >= 16:
        return data
    return data[:stop] + bytes((xxh32_short(data[4:stop]) >> 8 & 255,)) + data[stop + 1 :]


def xxh32_short(data: bytes) -> int:
    """xxHash-32 with seed 0 for fewer than 16 bytes, the maximum size of a frame descriptor."""
    hashed = (374761393 + len(data)) & WORD
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        hashed = hashed + int.from_bytes(data[at : at + 4], "little") * 3266489917 & WORD
        hashed = ((hashed << 17 | hashed >> 15) & WORD) * 668265263 & WORD
    for byte in data[whole:]:
        hashed = hashed + byte * 374761393 & WORD
        hashed = ((hashed << 11 | hashed >> 21) & WORD) * 2654435761 & WORD
    hashed = (hashed ^ hashed >> 15) * 2246822519 & WORD
    hashed = (hashed ^ hashed >> 13) * 3266489917 & WORD
    return hashed ^ hashed >> 16
