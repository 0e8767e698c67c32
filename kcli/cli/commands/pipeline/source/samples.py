"""Samples of the ranges that a pipeline will read: bytes per record, and values of the newest records."""

from __future__ import annotations

from kcli.cli.commands.consume.selection import Selection
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.pipeline.source.limits import measured

Span = dict[TopicPartition, tuple[int, int]]
"""The offsets [start, end) of each partition."""

NEWEST = 1000
"""Newest records that a schema is taken from."""
PATIENCE = 5.0  # seconds


async def sizes(client: Client, selection: Selection, span: Span) -> dict[TopicPartition, float]:
    """Bytes in the log per offset, by the first batches of each range; ranges without an answer are missing."""
    starts, ends = ({at: one[which] for at, one in span.items()} for which in (0, 1))
    return await measured(client, selection.settings, starts, ends, patience=PATIENCE)


async def newest(client: Client, selection: Selection, span: Span) -> list[bytes]:
    """Values of the newest records, some of each partition."""
    share = max(NEWEST // max(len(span), 1), 10)
    return await values_of(client, selection, {at: (max(start, end - share), end) for at, (start, end) in span.items()})


async def values_of(client: Client, selection: Selection, span: Span) -> list[bytes]:
    """The values of these ranges."""
    wanted = {at: start for at, (start, end) in span.items() if end > start}
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
