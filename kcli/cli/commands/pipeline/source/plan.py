"""`--dry-run`: which offsets a pipeline would read, about how many records and bytes that is. No Spark is started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kcli.cli.commands.consume.selection import Selection
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.source.source import Span
from kcli.client import Client
from kcli.model import TopicPartition

if TYPE_CHECKING:

    class Looked(Protocol):
        """A source of one topic or of several."""

        span: Span
        sizes: dict[TopicPartition, float]

        def look(self, *, measure: bool = False) -> None: ...


SAMPLE = 128 * 1024
PATIENCE = 5.0


async def sizes(client: Client, selection: Selection, span: Span) -> dict[TopicPartition, float]:
    """Bytes in the log per offset, by the first batches of each range; what gives no answer is left out."""
    wanted = {at: start for at, (start, end) in span.items() if end > start}
    found: dict[TopicPartition, float] = {}
    if not wanted:
        return found
    settings = selection.settings.replace(
        partition_max_bytes=SAMPLE, fetch_max_bytes=SAMPLE * len(wanted), isolation="read_uncommitted", decompress=False
    )
    async with client.consumer(settings) as consumer:
        consumer.assign(wanted)
        while len(found) < len(wanted):
            polled = await consumer.poll(PATIENCE)
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
    return found


def show(frame: Frame, source: Looked, destination: str) -> int:
    """Look and print. Returns the exit code."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    source.look(measure=True)
    made = Document(shape=shape("pipeline.plan"))
    rows = []
    for at, (start, end) in sorted(source.span.items()):
        size = source.sizes.get(at)
        rows.append(
            {
                "topic": at.topic,
                "partition": at.partition,
                "start": start,
                "end": end,
                "records": end - start,
                "bytes": 0 if end == start else None if size is None else round((end - start) * size),
                "destination": destination,
            }
        )
    made.rows["ranges"] = rows
    write(made, frame.format or "table")
    if not frame.quiet:
        from kcli.cli.commands.pipeline.session.drive import say
        from kcli.cli.commands.pipeline.session.progress import human_size

        total = sum(end - start for start, end in source.span.values())
        size = sum((end - start) * source.sizes.get(at, 0.0) for at, (start, end) in source.span.items())
        about = f"at most {total:,} records, about {human_size(size)} in the log"
        say(f"{frame.mode}: {about}, to {destination}; nothing was done")
    return 0
