"""The last N records of a log, for `-N`. Offsets do not tell: transaction markers, aborted records and what compaction
removed have offsets and are no records."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, list_offsets
from kcli.consumer.consumer import Consumer
from kcli.errors import DeadlineExceeded, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.seeking.read_range import LITTLE, stretches
from kcli.settings import ConsumerSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kcli.grammar.bound import Bound
    from kcli.proto.batch import Batch
    from kcli.serde.payload_time import Decode

    Counted = tuple[Batch | None, int, int]
    """A batch, None where no offset is missing in it; its first offset and how many records it has."""

WIDEN = 8
"""By how much the next stretch is longer, where a log has fewer records than offsets."""
PATIENCE = 30.0  # seconds without a record


async def last_records(
    cluster: Cluster, counts: Mapping[TopicPartition, int], settings: ConsumerSettings, *, patience: float = PATIENCE
) -> dict[TopicPartition, int | KcliError]:
    """Return the offset of the Nth record before the end of each log, its start where it has fewer.

    The end and the records are those that a consumer with these settings sees.
    """
    found: dict[TopicPartition, int | KcliError] = {}
    starts: dict[TopicPartition, int] = {}
    left: dict[TopicPartition, tuple[int, int]] = {}  # the stretch to look at next
    for at, log in (await _logs(cluster, counts, settings.isolation, patience)).items():
        if isinstance(log, KcliError):
            found[at] = log
        else:
            starts[at], end = log
            left[at] = max(starts[at], end - counts[at]), end
    missing = dict(counts)
    while left:
        found |= {at: end for at, (begin, end) in left.items() if begin == end}
        left = {at: stretch for at, stretch in left.items() if at not in found}
        for at, counted in (await _read(cluster, left, settings, patience)).items():
            begin, end = left[at]
            here = sum(count for *_, count in counted)
            if here >= missing[at]:
                found[at] = _nth(counted, here - missing[at])
            missing[at] -= here
            left[at] = max(starts[at], begin - WIDEN * (end - begin)), begin
        left = {at: stretch for at, stretch in left.items() if at not in found}
    return found


async def _logs(
    cluster: Cluster, parts: Iterable[TopicPartition], isolation: str, patience: float
) -> dict[TopicPartition, tuple[int, int] | KcliError]:
    """Return the [start, end) of each log as it is read with an isolation level."""
    starts, ends = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(parts, EARLIEST), patience=patience),
        list_offsets(cluster, dict.fromkeys(parts, LATEST), isolation, patience=patience),
    )
    logs: dict[TopicPartition, tuple[int, int] | KcliError] = {}
    for at, start in starts.items():
        end = ends[at]
        if isinstance(start, KcliError) or isinstance(end, KcliError):
            logs[at] = start if isinstance(start, KcliError) else end  # type: ignore[assignment]
        else:
            logs[at] = start.offset, max(start.offset, end.offset)
    return logs


async def found_at(
    cluster: Cluster, parts: Sequence[TopicPartition], where: Bound
) -> dict[TopicPartition, int | KcliError]:
    """Return the offset of each partition that has to be looked up for a place: the first record of a time, -1 without
    one, or the first of the last N committed records. Empty for other places."""
    if where.kind == "time":
        times = await list_offsets(cluster, dict.fromkeys(parts, where.value))
        return {at: answer.offset if isinstance(answer, LogOffset) else answer for at, answer in times.items()}
    if where.kind == "relative":
        settings = ConsumerSettings(isolation="read_committed")
        return await last_records(cluster, dict.fromkeys(parts, where.value), settings)
    return {}


async def _read(
    cluster: Cluster, spans: dict[TopicPartition, tuple[int, int]], settings: ConsumerSettings, patience: float
) -> dict[TopicPartition, list[Counted]]:
    """Return what the batches of each stretch [start, end) of a log have. Raises KcliError."""
    read: dict[TopicPartition, list[Counted]] = {at: [] for at in spans}
    if not spans:
        return read
    async with Consumer(cluster, settings.replace(decompress=False)) as consumer:
        consumer.assign({at: begin for at, (begin, _) in spans.items()})
        consumer.stop_at({at: end for at, (_, end) in spans.items()})
        before: list[int | None] = []
        while not consumer.finished:
            got = await consumer.poll(patience)
            for fetched in got:
                counted = read[TopicPartition(fetched.topic, fetched.partition)]
                for batch in fetched.batches:
                    first = max(batch.first, batch.base_offset)
                    gapless = batch.count == batch.last_offset - batch.base_offset + 1
                    counted.append((None if gapless else batch, first, batch.visible))
                if fetched.error is not None:
                    raise fetched.error
            here = [consumer.position(at) for at in spans]
            if not got and here == before:
                raise DeadlineExceeded(f"no record arrived for {patience:g} s", sent=True)
            before = here
    return read


def _nth(counted: list[Counted], number: int) -> int:
    """Return the offset of a record, counted from 0."""
    for batch, first, count in counted:
        if number < count:
            return first + number if batch is None else batch.columns().offsets[number]
        number -= count
    raise AssertionError("a stretch has the record")


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
