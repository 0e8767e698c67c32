"""Murmur2 as in Java's default partitioner, and the partition of a key."""

from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer

SEED = 0x9747B28C
MIX = 0x5BD1E995
WORD = 0xFFFFFFFF
WORDS = Struct("<I").iter_unpack


def murmur2(data: Buffer) -> int:
    """Return the unsigned 32-bit hash."""
    size = len(data)
    hashed = SEED ^ size
    whole = size & ~3
    for (k,) in WORDS(memoryview(data)[:whole]):
        k = k * MIX & WORD
        hashed = (hashed * MIX ^ (k ^ k >> 24) * MIX) & WORD
    rest = size & 3
    if rest:
        if rest == 3:
            hashed ^= data[whole + 2] << 16
        if rest >= 2:
            hashed ^= data[whole + 1] << 8
        hashed = (hashed ^ data[whole]) * MIX & WORD
    hashed = (hashed ^ hashed >> 13) * MIX & WORD
    return hashed ^ hashed >> 15


def partition_of(key: Buffer, partition_count: int) -> int:
    """Return the partition of `key` among all partitions, available or not. Raises ValueError without partitions."""
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    return (murmur2(key) & 0x7FFFFFFF) % partition_count
