"""`kcli count`: how many records a consumer would see, exactly.

The ends are fixed at the start. A batch whose offsets have no gaps is counted from its header; one that was compacted
is decoded. Markers and, with read_committed, aborted records are not records.
"""

from __future__ import annotations

from kcli.cli.commands.consume.selection import Selection, finished, named_topics
from kcli.cli.output.failure import with_document
from kcli.cli.output.progress import Progress
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions, PatternOptions, RowOptions, TimeFieldOptions
from kcli.cli.parsing.record_groups import (
    FilterOptions,
    OrderedOptions,
    SchemaOptions,
    SelectionOptions,
    TimeOptions,
    TopicOptions,
)
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.cli.runtime.views import view_of
from kcli.consumer.stall import Stall
from kcli.errors import DecodeError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.client import Client


class CountRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    count: int = column("Records a consumer would see.", unit="count")


SHAPE = shape("count", "Number of records, exactly.", CountRow, total="Records of all partitions.")


class CountOptions(
    TopicOptions,
    PatternOptions,
    SelectionOptions,
    TimeOptions,
    OrderedOptions,
    TimeFieldOptions,
    FilterOptions,
    SchemaOptions,
    RowOptions,
    ConnectionOptions,
):
    offset: Annotated[
        list[str], typer.Option("-o", "--offset", metavar="OFFSET", help="Only this range, such as @-1h:now.")
    ]
    format: Annotated[
        Literal["plain", "table", "json", "ndjson", "yaml", "csv", "tsv"] | None,
        typer.Option("--format", help="Rows per partition instead of one number."),
    ] = None
    json: Annotated[bool, typer.Option("-J", "--json", help="Short for --format json.")] = False


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: CountOptions) -> None:
        topics, literal = named_topics(options), options.literal
        super().__init__(
            options, "count", topics, times=options, field=options, filters=options, schemas=options, literal=literal
        )
        if self.range.stored:
            raise UsageError("-o stored: count does not use the offsets of a group")
        if self.keep is None and not (options.fail_on_invalid or options.fail_on_undecoded):
            self.decoding = None
            if not self.range.timed:  # headers say how many records there are
                self.settings = self.settings.replace(decompress=False)
        if options.json and options.format not in (None, "json"):
            raise UsageError("-J is --format json")
        self.format: str | None = "json" if options.json else options.format
        if self.format is None and (options.columns or options.sort or options.top):
            raise UsageError("--columns, --sort and --top require --format table, csv, …")
        self.view = view_of(options, SHAPE, self.format or "plain")


@command(
    "count",
    words="TOPIC...",
    examples="""
kcli count orders
kcli count orders -o @-1h:now                       # in the last hour
kcli count orders --start -1h --time-field event.ts # by a time in the values
kcli count orders --where 'value.total > 100'       # that match
kcli count 'orders-*' payments --format table       # for all topics that match, by partition""",
)
def count(options: CountOptions) -> int:
    """Count the records that `consume` would print: markers, compacted gaps and records of aborted transactions are not
    counted."""
    plan = Plan(options)
    return with_document(lambda: run_loop(lambda stop: _count(plan, stop)), SHAPE, plan.format)


async def _count(plan: Plan, stop: Stop) -> int:
    async with plan.client() as client:
        tell_outages(client.cluster, quiet=plan.connection.quiet)
        counts = await stop.unless(_tally(plan, client))
    if counts is None:
        return INTERRUPTED
    _show(plan, counts)
    plan.say_skipped()
    return plan.exit_code


async def _tally(plan: Plan, client: Client) -> dict[TopicPartition, int]:
    places = await plan.some_places(client.cluster)
    span = await plan.span(client.cluster, places)
    counts = dict.fromkeys(places, 0)
    keep = plan.keep
    ends = {at: stop for at, (start, stop) in span.items() if start < stop}
    if not ends:
        return counts
    passed = dict.fromkeys(ends, 0)  # offsets, whatever is kept of them
    total = sum(stop - span[at][0] for at, stop in ends.items())
    progress = Progress("count", total, unit="offsets", hidden=plan.connection.quiet)
    async with plan.consumer(client) as consumer:
        plan.read(consumer, {at: span[at] for at in ends})
        try:
            stall = Stall(consumer)
            while not consumer.finished:
                got = await consumer.poll(stall.step)
                stall.check(got)
                for fetched in got:
                    at = TopicPartition(fetched.topic, fetched.partition)
                    passed[at] = min(fetched.next_offset, ends[at]) - span[at][0]
                    for left_out in fetched.skipped:
                        plan.leave_out(left_out, at)
                    for batch in fetched.batches:
                        try:
                            counts[at] += batch.visible if keep is None else keep.count(batch, at.topic, at.partition)
                        except DecodeError as broken:
                            plan.leave_out(broken, at)
                    if fetched.error is not None:
                        raise finished(fetched.error, at, fetched.next_offset, "counted")
                progress.at(sum(passed.values()))
        finally:
            progress.close()
    return counts


def _show(plan: Plan, counts: dict[TopicPartition, int]) -> None:
    import sys

    if plan.format is None:
        if len(plan.topics) == 1 and plan.pattern is None:
            sys.stdout.write(f"{sum(counts.values())}\n")
        else:
            from kcli.text.escape import put

            for topic in dict.fromkeys(at.topic for at in counts):
                put(f"{topic}\t{sum(n for at, n in counts.items() if at.topic == topic)}\n")
    else:
        from kcli.cli.output.tables.document import Document
        from kcli.cli.output.tables.render import write

        left_out = plan.left_out.errors
        document = Document(shape=SHAPE, view=plan.view, total=None if left_out else sum(counts.values()))
        plan.left_out.fail(document)
        rows = document.of(CountRow)
        rows += [
            CountRow(topic=at.topic, partition=at.partition, count=n) for at, n in counts.items() if at not in left_out
        ]
        write(document, plan.format)
    sys.stdout.flush()
