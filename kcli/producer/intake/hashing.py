"""Where a key's records go, by the names librdkafka and Java give it (D11), so that kcli and they agree.

| name | key | no key |
|---|---|---|
| murmur2, murmur2_random | Java's default | sticky |
| consistent_random | CRC-32, librdkafka's default; an empty key counts as none | sticky |
| consistent | CRC-32 | as an empty key: one partition |
| fnv1a_random | FNV-1a, sarama's default | sticky |
| fnv1a | FNV-1a | as an empty key: one partition |
| random | sticky, whatever the key | sticky |
| roundrobin | one after the other, whatever the key | the same |
"""

from __future__ import annotations

from kcli.proto.core import partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Hash = Callable[[bytes, int], int]

MURMUR2 = ("murmur2", "murmur2_random")
NAMES = (*MURMUR2, "consistent", "consistent_random", "fnv1a", "fnv1a_random", "random", "roundrobin")


def crc32(key: bytes, count: int) -> int:
    """librdkafka's `consistent`."""
    import zlib

    return zlib.crc32(key) % count


def fnv1a(key: bytes, count: int) -> int:
    """sarama's hash partitioner and librdkafka's `fnv1a`: FNV-1a of 32 bits, signed, its absolute value."""
    value = 0x811C9DC5
    for byte in key:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (value if value < 1 << 31 else (1 << 32) - value) % count


class Partitioner:
    """By name. `of` gives a partition, or None where the topic's sticky choice decides."""

    def __init__(self, name: str) -> None:
        self._turn = -1 if name == "roundrobin" else None
        self._hash: Hash | None = {
            "murmur2": partition_of,
            "murmur2_random": partition_of,
            "consistent": crc32,
            "consistent_random": crc32,
            "fnv1a": fnv1a,
            "fnv1a_random": fnv1a,
        }.get(name)
        self._keyless = name in ("consistent", "fnv1a")
        self._empty_is_none = name == "consistent_random"

    def of(self, key: bytes | None, count: int) -> int | None:
        """The partition among `count`."""
        if self._turn is not None:
            self._turn = (self._turn + 1) % count
            return self._turn
        if self._hash is None or (key is None and not self._keyless) or (self._empty_is_none and not key):
            return None
        return self._hash(key or b"", count)
