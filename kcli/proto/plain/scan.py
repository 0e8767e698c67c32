"""Splits a response's bytes into batches: framing and CRC are checked, nothing else."""

from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from kcli.proto.buffer import Buffer
    from kcli.proto.plain.walk import Header

    H = TypeVar("H", bound="Header")


HEADER = Struct(">qiibIhiqqqhii")
PREFIX = Struct(">qiib")
SMALLEST = 49  # of batch_length
LAST = 2**63 - 2**32  # larger base offsets would make last offsets overflow


def crc32c(data: Buffer, crc: int = 0) -> int:  # noqa: F811
    """CRC-32C (Castagnoli)."""
    global crc32c
    from kcli.proto.checksum import crc32c as found

    crc32c = found  # type: ignore[assignment]
    return found(data, crc)


def ends(data: Buffer) -> tuple[int, int, int]:
    """Return (next offset, leader epoch of the last batch, bytes of whole batches) from headers alone, of any magic.

    The offset is -1 without a whole batch. An incomplete batch ends the search, and so does one with an impossible
    length or offset.
    """
    at, size = 0, len(data)
    following = epoch = -1
    while size - at >= 17:
        base, length, leader_epoch, magic = PREFIX.unpack_from(data, at)
        end = at + 12 + length
        if length < 14 or end > size or not 0 <= base < LAST:
            break
        after = base + 1
        if magic >= 2 and end - at >= HEADER.size:
            after += max(int.from_bytes(data[at + 23 : at + 27], "big", signed=True), 0)
            epoch = leader_epoch
        following = max(following, after)
        at = end
    return following, epoch, at


def show(batches: list[H], position: int, end: int | None, control: bool) -> tuple[list[H], int, bool]:
    """Return the batches that overlap [position, end), cut to it, without empty ones and, unless `control`, markers; of
    a repeated one only what is past earlier batches. Also returns the position after them, and whether all were
    processed."""
    shown: list[H] = []
    for h in batches:
        if h.last_offset < position:
            continue
        if end is not None and h.base_offset >= end:
            return shown, end, False
        start, position = position, h.last_offset + 1
        if h.count == 0 or (h.attributes & 32 and not control):
            continue
        h.first = max(start, h.base_offset)
        h.stop = position if end is None else min(position, end)
        shown.append(h)
    return shown, position, True


def shown_records(batches: list[H]) -> int:
    """Return how many records of these batches are delivered, by their headers."""
    records = 0
    for h in batches:
        stop, first = min(h.stop, h.last_offset + 1), max(h.first, h.base_offset)
        records += min(h.count, stop - first)
    return records


def any_compressed(batches: list[H]) -> bool:
    """Whether any of these batches is compressed."""
    return any(h.attributes & 7 for h in batches)


def scan(data: Buffer, at: int, check_crcs: bool, make: type[Any], found: list[Any]) -> tuple[int, str | None]:
    """Read v2 batches from `at` on into `found`, creating each with `make()`. Returns where it stopped and the error
    there: None at the end, before a truncated batch, and before a message of another format."""
    size = len(data)
    while size - at >= 17 and data[at + 16] == 2:
        length = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        if length < SMALLEST:
            return at, f"a batch length of {length}"
        end = at + 12 + length
        if end > size:
            break
        h = make()
        base, _, h.leader_epoch, h.magic, crc, h.attributes, delta, h.base_timestamp, h.max_timestamp, *rest = (
            HEADER.unpack_from(data, at)
        )
        h.producer_id, h.producer_epoch, h.base_sequence, count = rest
        if check_crcs and crc32c(memoryview(data)[at + 21 : end]) != crc:
            return at, "its CRC does not match"
        if not 0 <= base < LAST or delta < 0:
            return at, f"offsets from {base} on by {delta}"
        if count < 0 or (h.attributes & 7 == 0 and count * 7 > length - SMALLEST):
            return at, f"a count of {count} records in {length - SMALLEST} bytes"
        h.base_offset, h.count, h.size, h.last_offset = base, count, length + 12, base + delta
        h.first, h.stop = base, base + delta + 1
        h.data, h.body_start, h.body_end, h.packed = data, at + 61, end, True
        h.max_decompressed = 1 << 26
        found.append(h)
        at = end
    return at, None
