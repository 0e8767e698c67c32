"""`--dry-run`: which offsets a pipeline would read, about how many records and bytes that is. No Spark is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kcli.cli.commands.consume.selection import Selection
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.tables.view import View
from kcli.cli.runtime.answer import plural
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.pipeline.source.limits import measured
from kcli.text.numbers import size as size_of


class RangeRow(Row, section="ranges"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    start: int = column("First offset.")
    end: int = column("End of the range: the offset after the last.")
    records: int = column("Number of offsets; there may be fewer records.", unit="count")
    bytes: int | None = column("Approximate bytes in the log; null if unknown.", unit="bytes")
    destination: str = column("Topic the records would be sent to.", table=False, rank=1)


MOST = 24
"""How many partitions the table of a plan has, unless all are wanted."""
SHAPE = shape("pipeline.plan", "What a pipeline would read, by partition.", RangeRow)


class Source(Protocol):
    """A source of one topic or of several."""

    span: Span
    sizes: dict[TopicPartition, float]

    def prepare(self, *, measure: bool = False) -> None: ...


def show(frame: Frame, source: Source, destination: str) -> int:
    """Look and print. Returns the exit code."""
    source.prepare(measure=True)
    write_plan(source.span, source.sizes, destination, frame.format, frame.view, quiet=frame.quiet)
    if not frame.quiet:
        total = sum(end - start for start, end in source.span.values())
        size = sum((end - start) * source.sizes.get(at, 0.0) for at, (start, end) in source.span.items())
        about = f"at most {total:,} records, about {size_of(size)} in the log"
        complain(f"{frame.mode}: {about}, to {destination}; nothing was done")
    return 0


def write_plan(
    span: Span, sizes: Mapping[TopicPartition, float], destination: str, form: str | None, view: View, *, quiet: bool
) -> None:
    """The ranges, a row each; bytes where the size per offset is known. A table has the first MOST, --wide has all."""
    document = Document(shape=SHAPE, view=view)
    rows = document.of(RangeRow)
    for at, (start, end) in sorted(span.items()):
        size = 0.0 if end == start else sizes.get(at)
        rows.append(
            RangeRow(
                topic=at.topic,
                partition=at.partition,
                start=start,
                end=end,
                records=end - start,
                bytes=None if size is None else round((end - start) * size),
                destination=destination,
            )
        )
    more = rows[MOST:] if form in (None, "table") and not view.wide and not quiet else []
    del rows[len(rows) - len(more) :]
    write(document, form or "table")
    if more:
        total = sum(row.records for row in more)
        complain(f"and {plural(len(more), 'more partition')} with at most {total:,} records; --wide shows all")


# Samples of the ranges that a pipeline will read: bytes per record, and values of the newest records.


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
