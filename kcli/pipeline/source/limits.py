"""The size of a micro-batch: a number of offsets, or of bytes, shared among partitions by their backlog."""

from __future__ import annotations

from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.log import Log

Offsets = dict[TopicPartition, int]

SAMPLE = 256 * 1024
USUAL = 1024.0
"""Bytes of a record where nothing can be measured."""


def by_rows(starts: Offsets, ends: Offsets, most: int) -> Offsets:
    """Ends that are `most` offsets away in all, each partition's share being that of its backlog, and at least one:
    a partition that waits is never skipped for ever."""
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
    """The same for about `most` bytes, as they are in the log: a record's size is measured where reading resumes."""
    waiting = [at for at in ends if ends[at] > starts[at]]
    if not waiting:
        return ends
    sizes = _sizes(log, {at: starts[at] for at in waiting})
    total = sum((ends[at] - starts[at]) * sizes[at] for at in waiting)
    if total <= most:
        return ends
    share = most / total
    return ends | {at: starts[at] + max(1, int((ends[at] - starts[at]) * share)) for at in waiting}


def _sizes(log: Log, starts: Offsets) -> dict[TopicPartition, float]:
    """Bytes per offset, of the batches at `starts`."""
    settings = log.sealed.consumer.replace(
        partition_max_bytes=SAMPLE,
        fetch_max_bytes=SAMPLE * len(starts),
        reset="earliest",
        isolation="read_uncommitted",
        decompress=False,
    )

    async def ask(client: Client) -> dict[TopicPartition, float]:
        found: dict[TopicPartition, float] = {}
        async with client.consumer(settings) as consumer:
            consumer.assign(starts)
            while len(found) < len(starts):
                polled = await consumer.poll(1.0)
                if not polled:
                    break
                for fetched in polled:
                    at = next(at for at in starts if at == (fetched.topic, fetched.partition))
                    if fetched.error is not None:
                        found.setdefault(at, USUAL)
                    elif fetched.batches:
                        size = sum(batch.size for batch in fetched.batches)
                        offsets = fetched.next_offset - fetched.batches[0].base_offset
                        found.setdefault(at, size / max(offsets, 1))
                    consumer.pause(at)
        return found

    try:
        found = log.kafka.run(ask)
    except KcliError:
        found = {}  # a guess is good enough: the batch itself will say what is wrong
    return {at: found.get(at, USUAL) for at in starts}
