"""Samples of the ranges that a pipeline will read: bytes per record, and values of the newest records."""

from __future__ import annotations

from kcli.cli.commands.consume.selection import Selection
from kcli.client import Client
from kcli.model import TopicPartition

Span = dict[TopicPartition, tuple[int, int]]
"""The offsets [start, end) of each partition."""

NEWEST = 1000
"""Newest records that a schema is taken from."""
SAMPLE_BYTES = 128 * 1024
"""Of a partition, for the size of its records."""
PATIENCE = 5.0  # seconds


async def sizes(client: Client, selection: Selection, span: Span) -> dict[TopicPartition, float]:
    """Bytes in the log per offset, by the first batches of each range; ranges without an answer are missing."""
    wanted = {at: start for at, (start, end) in span.items() if end > start}
    known: dict[TopicPartition, float] = {}
    if not wanted:
        return known
    settings = selection.settings.replace(
        partition_max_bytes=SAMPLE_BYTES,
        fetch_max_bytes=SAMPLE_BYTES * len(wanted),
        isolation="read_uncommitted",
        decompress=False,
    )
    async with client.consumer(settings) as consumer:
        consumer.assign(wanted)
        while len(known) < len(wanted):
            polled = await consumer.poll(PATIENCE)
            if not polled:
                break
            for fetched in polled:
                at = TopicPartition(fetched.topic, fetched.partition)
                if fetched.error is not None:
                    raise fetched.error
                if fetched.batches:
                    offsets = fetched.next_offset - fetched.batches[0].base_offset
                    known.setdefault(at, sum(batch.size for batch in fetched.batches) / max(offsets, 1))
                    consumer.pause(at)
    return known


async def newest(client: Client, selection: Selection, span: Span) -> list[bytes]:
    """Values of the newest records, some of each partition."""
    share = max(NEWEST // max(len(span), 1), 10)
    wanted = {at: max(start, end - share) for at, (start, end) in span.items() if end > start}
    values: list[bytes] = []
    if not wanted:
        return values
    async with selection.consumer(client) as consumer:
        consumer.assign(wanted)
        consumer.stop_at({at: span[at][1] for at in wanted})
        while not consumer.finished:
            for fetched in await consumer.poll(None):
                if fetched.error is not None:
                    raise fetched.error
                values += [record.value for batch in fetched.batches for record in batch if record.value is not None]
    return values
