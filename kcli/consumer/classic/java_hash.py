"""The order in which a Java HashMap yields its keys.

Kafka's own assignors iterate over HashMaps, so the owner of the odd partition depends on that order, and a group may be
led by a Java client one day and by kcli the next (E50). A bucket that Java turned into a tree (eight colliding keys in
a table of 64 or more) is the one thing not reproduced.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from kcli.model import TopicPartition

    K = TypeVar("K")


def string_hash(text: str) -> int:
    """`String.hashCode()`, unsigned: over UTF-16 code units."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return value


def partition_hash(at: TopicPartition) -> int:
    """`TopicPartition.hashCode()`, unsigned."""
    return (31 * (31 + at.partition) + string_hash(at.topic)) & 0xFFFFFFFF


def text_order(text: str) -> bytes:
    """The sort key of `String.compareTo`: by UTF-16 code unit."""
    return text.encode("utf-16-be", "surrogatepass")


def hash_order(keys: Iterable[K], hashed: Callable[[K], int], capacity: int = 16) -> list[K]:
    """`keys`, given in the order of their insertion, in the order a HashMap yields them. `capacity` is the size of
    its first table."""
    kept = list(dict.fromkeys(keys))
    size = capacity
    while len(kept) * 4 > size * 3:
        size *= 2

    def bucket(key: K) -> int:
        value = hashed(key)
        return (value ^ value >> 16) & (size - 1)

    return sorted(kept, key=bucket)
