"""Where a key's records go, by the names librdkafka and Java give it (D11), so that kcli and they agree.

| name | key | no key |
|---|---|---|
| murmur2, murmur2_random | Java's default | sticky |
| consistent_random | CRC-32, librdkafka's default; an empty key counts as none | sticky |
| consistent | CRC-32 | as an empty key: one partition |
| fnv1a_random | FNV-1a, sarama's default | sticky |
| fnv1a | FNV-1a | as an empty key: one partition |
| random | sticky, whatever the key | sticky |
| roundrobin | one after the other of those with a leader, whatever the key | the same |

A function of the caller decides instead in `own_partitioner.py`.
"""

from __future__ import annotations

from kcli.proto.core import partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Hash = Callable[[bytes, int], int]

MURMUR2 = ("murmur2", "murmur2_random")


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
    """By name. `of` gives a partition, or None where the topic's sticky choice decides. `available(partition)`: the
    partition has a leader that takes records."""

    def __init__(self, name: str, available: Callable[[int], bool]) -> None:
        self._available = available
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

    def of(self, key: bytes | None, everyone: Sequence[int]) -> int | None:
        """The partition among all of the topic's."""
        count = len(everyone)
        if self._turn is not None:
            return self._next(count)
        if self._hash is None or (key is None and not self._keyless) or (self._empty_is_none and not key):
            return None
        return self._hash(key or b"", count)

    def _next(self, count: int) -> int:
        """The next partition that is available; the next one at all where none is."""
        assert self._turn is not None
        for ahead in range(1, count + 1):
            if self._available(turn := (self._turn + ahead) % count):
                self._turn = turn
                return turn
        self._turn = (self._turn + 1) % count
        return self._turn
