"""Splits ranges into tasks, and warns if they become too small to pay for their start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from math import ceil

from kcli.model import TopicPartition
from kcli.text.numbers import size as size_of

LARGE = 900_000_000
"""Bytes in the log: a task that reads more takes minutes, which are lost if it fails. A tenth below 1 GB, because
record sizes are only sampled."""
RECORD = 1 << 20
"""Maximum record size in Kafka, unless a topic allows larger ones."""
SMALL = 32 * 1024 * 1024
"""Bytes in the log: a task that reads less costs more than it saves (its start takes about 55 ms)."""


def shares(lengths: Sequence[int], least: int) -> list[int]:
    """Return into how many parts ranges of these lengths are split, `least` parts in total, or fewer if there are fewer
    offsets: the range with the longest parts gets one more until there are enough."""
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
    """Return into how many parts each partition is split so that none has more than about `most` bytes in the log.
    `offsets` are the numbers of offsets to read, `sizes` the bytes per offset; a partition without a size is not split.
    """
    return {at: min(number, ceil(number * sizes.get(at, 0.0) / most) or 1) for at, number in offsets.items()}


def too_small(
    option: str,
    offsets: Mapping[TopicPartition, int],
    parts: Mapping[TopicPartition, int],
    sizes: Mapping[TopicPartition, float],
) -> str | None:
    """Return the warning about partitions that `option` splits into tasks below 32 MiB; None if there are none.
    `offsets` are the numbers of offsets to read, `parts` the numbers of tasks, `sizes` the bytes per offset."""
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
