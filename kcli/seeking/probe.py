"""The newest records of partitions: what their values look like is what the rest is read as."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition
from kcli.seeking.read_range import LITTLE, stretches

if TYPE_CHECKING:
    from kcli.serde.payload_time import Decode


class Newest(NamedTuple):
    """One of the newest records with a value."""

    timestamp: int
    at: TopicPartition
    offset: int
    value: bytes


async def newest(
    cluster: Cluster, spans: dict[TopicPartition, tuple[int, int]], decode: Decode | None = None
) -> list[Newest]:
    """A record with a value from near the end of each partition, the newest by timestamp first. It looks further back
    only where no partition gave one: tombstones and markers may be many. Raises KcliError."""
    back = 1
    left = {at: span for at, span in spans.items() if span[0] < span[1]}
    while left:
        starts = {at: max(low, high - back) for at, (low, high) in left.items()}
        answers = await stretches(cluster, {at: (start, LITTLE) for at, start in starts.items()}, decode)
        rows = []
        for at, answer in answers.items():
            if isinstance(answer, KcliError):
                raise answer
            for index in range(len(answer.offsets) - 1, -1, -1):
                value = answer.value(index)
                if value is not None and answer.offsets[index] < left[at][1]:
                    rows.append(Newest(answer.timestamps[index], at, answer.offsets[index], value))
                    break
        if rows:
            return sorted(rows, reverse=True)
        left = {at: span for at, span in left.items() if starts[at] > span[0]}
        back *= 8
    return []
