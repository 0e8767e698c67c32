"""`kcli copy --dry-run`: what would be copied, by partition and over time. Nothing is published or kept."""

from __future__ import annotations

from kcli.cli.commands.copy.plan import Plan, Span
from kcli.cli.commands.lag.rows import stamp
from kcli.cli.output.messages import complain
from kcli.cli.output.progress import Progress
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, headed, shape
from kcli.cli.output.text import records
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.views import view_of
from kcli.client import Client
from kcli.consumer.stall import Stall
from kcli.copying.survey import Part, Survey
from kcli.errors import DecodeError
from kcli.model import TopicPartition

BAR = 40  # characters


class TimeRow(Row, section="times"):
    from_: str | None = column(
        "Start of the interval, UTC; null for records without a timestamp.", name="from", unit="time"
    )
    copied: int = headed("to copy", column("Records that would be copied.", unit="count"))
    bytes: int = column("Bytes of the records to copy, as stored; a part of a batch counts as its share.", unit="bytes")
    bar: str = column("The same to look at.", unit="word", rank=3)


class PartitionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    start: int = column("First offset of the range.")
    end: int = column("Offset at which it ends.")
    records: int = column("Records in it.", unit="count")
    copied: int = headed("to copy", column("Records that would be copied.", unit="count"))
    bytes: int = column("Bytes of the records to copy, as stored; a part of a batch counts as its share.", unit="bytes")
    first: str | None = column("Earliest timestamp of the records to copy, UTC.", unit="time")
    last: str | None = column("Latest timestamp of the records to copy, UTC.", unit="time")


PLAN_SHAPE = shape("copy.plan", "What a copy would do, by partition and over time.", TimeRow, PartitionRow)


async def survey(plan: Plan, source: Client, span: Span, stop: Stop) -> int:
    """Read the range once and print what is in it."""
    contents = Survey(plan.kept if plan.keep is not None else None)
    total = sum(end - start for start, end in span.values())
    progress = Progress("read", total, hidden=plan.connection.quiet)
    kept = read = 0
    async with plan.consumer(source) as consumer:
        plan.read(consumer, span)
        stall = Stall(consumer)
        try:
            while not consumer.finished and not stop.asked and (plan.limit is None or kept < plan.limit):
                got = await stop.unless(consumer.poll(stall.step)) or []
                stall.check(got)
                for fetched in got:
                    at = TopicPartition(fetched.topic, fetched.partition)
                    for left_out in fetched.skipped:
                        plan.leave_out(left_out, at)
                    for batch in fetched.batches:
                        read += batch.visible
                        try:
                            kept += contents.add(at, batch, None if plan.limit is None else plan.limit - kept)
                        except DecodeError as broken:
                            plan.leave_out(broken, at)
                    if fetched.error is not None:
                        raise fetched.error
                progress.at(read)
        finally:
            progress.close()
    if stop.asked:
        return INTERRUPTED
    plan.say_skipped()
    document = plan.document or Document(shape=PLAN_SHAPE, view=view_of(plan.options))
    document.of(PartitionRow).extend(_row(plan, at, contents.parts.get(at, Part()), span[at]) for at in sorted(span))
    plan.left_out.fail(document)
    if plan.document is None:  # nothing would distinguish the times of several topics
        document.of(TimeRow)[:] = _times(contents)
        write(document, plan.format or "table")
    if plan.talkative:
        complain(f"{plan.source}: {kept} of {records(read)} would be copied; dry run: nothing was copied")
    return plan.exit_code


def _row(plan: Plan, at: TopicPartition, part: Part, span: tuple[int, int]) -> PartitionRow:
    return PartitionRow(
        topic=at.topic,
        partition=at.partition,
        start=span[0],
        end=span[1],
        records=part.records,
        copied=part.kept,
        bytes=part.bytes,
        first=stamp(part.first_timestamp / 1000) if part.first_timestamp >= 0 else None,
        last=stamp(part.last_timestamp / 1000) if part.last_timestamp >= 0 else None,
    )


def _times(survey: Survey) -> list[TimeRow]:
    cells = survey.histogram()
    most = max((records for _, _, records, _ in cells), default=0)
    return [
        TimeRow(
            from_=stamp(begin / 1000) if begin >= 0 else None,
            copied=records,
            bytes=size,
            bar="#" * (records * BAR // most) if most else "",
        )
        for begin, _, records, size in cells
    ]
