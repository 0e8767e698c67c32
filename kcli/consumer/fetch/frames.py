"""Incomplete or broken batch frames: the error, and where the next batch begins.

A response that brings nothing past the position is not fetched again endlessly: an impossible frame is corrupt at once;
a batch that was cut off, or an older one, is corrupt at the third consecutive response.
"""

from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer

PREFIX = Struct(">qi")  # base offset, number of bytes that follow
SHORTEST = 14  # bytes after the length in a v0 message, the minimum of all formats
LAST = 2**63 - 2**32  # larger base offsets would make last offsets overflow
LARGEST = 2**31 - 1
HEAD = 64  # bytes that include the length of a batch in any format
PATIENCE = 3
"""Number of consecutive responses without new data."""


def impossible(records: Buffer) -> str | None:
    """Return why no batch can begin like this, or None if it can."""
    if len(records) < PREFIX.size:
        return None
    base, length = PREFIX.unpack_from(records)
    if length < SHORTEST:
        return f"a batch length of {length}"
    if not 0 <= base < LAST:
        return f"a base offset of {base}"
    return None


def wanted(records: Buffer) -> int:
    """Return the length of the first batch from its header; HEAD if the header is incomplete."""
    if len(records) < PREFIX.size:
        return HEAD
    return min(PREFIX.size + int(PREFIX.unpack_from(records)[1]), LARGEST)


def fruitless(records: Buffer) -> str:
    """Return the error for the third consecutive response without new data."""
    size = wanted(records)
    if size > len(records):
        return f"cut off after {len(records)} of {size} bytes"
    return "the broker sends only batches before this offset"


def behind(records: Buffer, position: int, high_watermark: int) -> int:
    """Return where to continue after skipping the first batch: after its last offset by its header, but not past the
    end of the log; one offset further if the header is broken, too."""
    following = position + 1
    if len(records) >= 27 and records[16] == 2:
        base, delta = PREFIX.unpack_from(records)[0], int.from_bytes(records[23:27], "big", signed=True)
        if 0 <= base <= position and delta >= 0:
            following = max(following, base + delta + 1)
    return max(min(following, high_watermark), position + 1)
