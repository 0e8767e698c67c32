"""The size of a micro-batch: a number of offsets, or of bytes, distributed over partitions by backlog."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.log import Log
from kcli.settings import ConsumerSettings

Offsets = dict[TopicPartition, int]

USUAL = 1024.0
"""Record size in bytes if none can be measured."""
Places = Mapping[TopicPartition, int]
Sizes = dict[TopicPartition, float]

SAMPLED = 128
"""Maximum number of partitions to measure: those with the largest backlog."""
SAMPLE = 64 * 1024
"""Bytes of a partition to fetch for that; at least one whole batch."""


async def measured(
    client: Client, settings: ConsumerSettings, starts: Places, ends: Places, *, patience: float
) -> Sizes:
    """Return the bytes in the log per offset of [start, end). A partition that is not measured has the mean of its
    topic; one that does not respond within `patience` seconds is missing. Raises the first error of a partition."""
    waiting = [at for at in ends if ends[at] > starts[at]]
    chosen = sorted(waiting, key=lambda at: (starts[at] - ends[at], at))[:SAMPLED]
    if not chosen:
        return {}
    settings = settings.replace(
        partition_max_bytes=SAMPLE,
        fetch_max_bytes=SAMPLE * len(chosen),
        isolation="read_uncommitted",
        decompress=False,
    )
    found: Sizes = {}
    async with client.consumer(settings=settings) as consumer:
        consumer.assign({at: starts[at] for at in chosen})
        while len(found) < len(chosen):
            polled = await consumer.poll(patience)
            if not polled:
                break
            for fetched in polled:
                at = TopicPartition(fetched.topic, fetched.partition)
                if fetched.error is not None:
                    raise fetched.error
                if fetched.batches:
                    offsets = fetched.next_offset - fetched.batches[0].base_offset
                    found.setdefault(at, sum(batch.size for batch in fetched.batches) / max(offsets, 1))
                    consumer.pause(at)
    return found | _guessed(found, set(waiting).difference(chosen))


def _guessed(found: Sizes, others: set[TopicPartition]) -> Sizes:
    """Return the mean of its topic for each of the others; of all topics if its own was not measured."""
    if not found or not others:
        return {}
    each: dict[str, list[float]] = {}
    for at, size in found.items():
        each.setdefault(at.topic, []).append(size)
    means = {topic: sum(sizes) / len(sizes) for topic, sizes in each.items()}
    usual = sum(found.values()) / len(found)
    return {at: means.get(at.topic, usual) for at in others}


def by_rows(starts: Offsets, ends: Offsets, most: int) -> Offsets:
    """Return ends that are `most` offsets away in total, distributed by backlog, but at least one per waiting
    partition, so that none is skipped forever."""
    waiting = {at: ends[at] - starts[at] for at in ends if ends[at] > starts[at]}
    total = sum(waiting.values())
    if total <= most:
        return ends
    limited = dict(ends)
    for at, size in waiting.items():
        share = most * size / total
        limited[at] = starts[at] + min(size, max(1, int(share)))
    return limited


def by_bytes(log: Log, starts: Offsets, ends: Offsets, most: int) -> Offsets:
    """The same for about `most` bytes in the log; record sizes are measured where reading resumes."""
    waiting = [at for at in ends if ends[at] > starts[at]]
    if not waiting:
        return ends
    sizes = sizes_of(log, starts, ends)
    total = sum((ends[at] - starts[at]) * sizes[at] for at in waiting)
    if total <= most:
        return ends
    share = most / total
    return ends | {at: starts[at] + max(1, int((ends[at] - starts[at]) * share)) for at in waiting}


def sizes_of(log: Log, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> Sizes:
    """Return the bytes per offset of every partition with a backlog. Never fails: the read itself will report
    errors."""
    settings = log.sealed.consumer.replace(reset="earliest")
    try:
        found = log.kafka.run(lambda client: measured(client, settings, starts, ends, patience=1.0))
    except KcliError:
        found = {}
    return {at: found.get(at, USUAL) for at in ends if ends[at] > starts[at]}
