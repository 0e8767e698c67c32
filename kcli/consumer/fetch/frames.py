"""Frames of batches that are incomplete or broken: the error, and where the next batch begins.

A response that brings nothing past the position is not fetched again without end: an impossible frame is corrupt at
once; a batch that was cut off, or an old one, is corrupt at the third response in a row.
"""

from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer

PREFIX = Struct(">qi")  # base offset, bytes behind these two
SHORTEST = 14  # what a message of v0 has behind its length, the least of all formats
LAST = 2**63 - 2**32  # a base offset from which last offsets could not be counted
LARGEST = 2**31 - 1
HEAD = 64  # bytes that contain the length of a batch of any format
PATIENCE = 3
"""Answers in a row that bring nothing."""


def impossible(records: Buffer) -> str | None:
    """Why no batch can begin so; None where one may, as far as it came."""
    if len(records) < PREFIX.size:
        return None
    base, length = PREFIX.unpack_from(records)
    if length < SHORTEST:
        return f"a batch length of {length}"
    if not 0 <= base < LAST:
        return f"a base offset of {base}"
    return None


def wanted(records: Buffer) -> int:
    """The length of the first batch, by its header; HEAD if the header is incomplete."""
    if len(records) < PREFIX.size:
        return HEAD
    return min(PREFIX.size + int(PREFIX.unpack_from(records)[1]), LARGEST)


def fruitless(records: Buffer) -> str:
    """What to say of the third answer in a row that brought nothing."""
    size = wanted(records)
    if size > len(records):
        return f"cut off after {len(records)} of {size} bytes"
    return "the broker sends batches in front of this offset only"


def behind(records: Buffer, position: int, high_watermark: int) -> int:
    """Where to continue after skipping the first batch: behind its last offset by its header, but not behind the end of
    the log; one offset further if the header is broken too."""
    following = position + 1
    if len(records) >= 27 and records[16] == 2:
        base, delta = PREFIX.unpack_from(records)[0], int.from_bytes(records[23:27], "big", signed=True)
        if 0 <= base <= position and delta >= 0:
            following = max(following, base + delta + 1)
    return max(min(following, high_watermark), position + 1)
