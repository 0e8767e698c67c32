"""How large records are: bytes per offset, measured where reading would begin. For the size of a micro-batch, for plans
and for warnings: a guess from few partitions is good enough, and costs about the same however many there are."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.client import Client
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings

Offsets = Mapping[TopicPartition, int]
Sizes = dict[TopicPartition, float]

SAMPLED = 128
"""Partitions that are measured at most: those with the most to read."""
SAMPLE = 64 * 1024
"""Bytes of a partition that are fetched for it; a whole batch at least."""


async def measured(
    client: Client, settings: ConsumerSettings, starts: Offsets, ends: Offsets, *, patience: float
) -> Sizes:
    """Bytes in the log per offset of [start, end). A partition that is not measured has the mean of its topic; one that
    does not answer within `patience` seconds is missing. Raises the error of the first partition that has one."""
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
    async with client.consumer(settings) as consumer:
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
    """The mean of its topic for each of the others; of all topics where its own was not measured."""
    if not found or not others:
        return {}
    each: dict[str, list[float]] = {}
    for at, size in found.items():
        each.setdefault(at.topic, []).append(size)
    means = {topic: sum(sizes) / len(sizes) for topic, sizes in each.items()}
    usual = sum(found.values()) / len(found)
    return {at: means.get(at.topic, usual) for at in others}
