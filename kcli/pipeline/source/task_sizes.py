"""Into how many tasks ranges are cut, and a warning where these become too small to pay for their start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from math import ceil

from kcli.model import TopicPartition
from kcli.text.numbers import size as size_of

LARGE = 900_000_000
"""Bytes in the log: a task that reads more takes minutes, which are lost when it fails. A tenth below 1 GB, as the size
of records is measured in some of them."""
RECORD = 1 << 20
"""Bytes of a record in Kafka, unless a topic allows larger ones."""
SMALL = 32 * 1024 * 1024
"""Bytes in the log: a task that reads less costs more than it saves (its start takes about 55 ms)."""


def shares(lengths: Sequence[int], least: int) -> list[int]:
    """Into how many parts ranges of these lengths are cut, `least` parts in all, or as many as there are offsets
    where these are fewer: one more for the range with the longest parts, until there are enough."""
    parts = [1] * len(lengths)
    longest = [(-float(length), number) for number, length in enumerate(lengths)]
    heapify(longest)
    for _ in range(min(least, sum(lengths)) - len(lengths)):
        number = longest[0][1]
        parts[number] += 1
        heapreplace(longest, (-lengths[number] / parts[number], number))
    return parts


def parts_by_bytes(
    offsets: Mapping[TopicPartition, int], sizes: Mapping[TopicPartition, float], most: int
) -> dict[TopicPartition, int]:
    """Into how many parts each partition is cut so that none is of more than about `most` bytes in the log. Of each
    `offsets` has how many are read, `sizes` the bytes of one; a partition without a size is not cut."""
    return {at: min(number, ceil(number * sizes.get(at, 0.0) / most) or 1) for at, number in offsets.items()}


def too_small(
    option: str,
    offsets: Mapping[TopicPartition, int],
    parts: Mapping[TopicPartition, int],
    sizes: Mapping[TopicPartition, float],
) -> str | None:
    """The sentence about partitions that `option` cuts into tasks below 32 MiB; None where there are none. Of each
    partition `offsets` has how many are read, `parts` how many tasks do that, `sizes` the bytes of one offset."""
    each = {at: number * sizes[at] / parts[at] for at, number in offsets.items() if parts[at] > 1 and at in sizes}
    small = {at: size for at, size in each.items() if size < SMALL}
    if not small:
        return None
    at = min(small, key=lambda at: small[at])
    tasks = sum(parts[one] for one in small)
    return (
        f"{option} makes {tasks:,} tasks of less than {size_of(SMALL)}, those of {at.topic}[{at.partition}] about "
        f"{size_of(round(small[at]))} each: a task that small costs more than it saves"
    )
