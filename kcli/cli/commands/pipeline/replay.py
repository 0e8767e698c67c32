"""`kcli pipeline replay SRC DST`: the options, the two clients, and the summary at the end."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

from kcli.admin.topics.topics import describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.consume.selection import Selection, partitions
from kcli.cli.commands.copy.registries import KeptSchemasOptions, check_ids
from kcli.cli.commands.copy.target import cluster_id, make_like
from kcli.cli.commands.pipeline.options import DryRunOptions, report_format
from kcli.cli.commands.pipeline.source.plan import Span, write_plan
from kcli.cli.output import text
from kcli.cli.output.messages import complain, sentence
from kcli.cli.output.progress import Progress
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics
from kcli.cli.parsing.record_groups import OrderedOptions, SelectionOptions, TargetOptions, TimeOptions
from kcli.cli.runtime.connection import connection_of
from kcli.cli.runtime.signals import INTERRUPTED, Stop, run
from kcli.cli.runtime.views import view_of
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.grammar.durations import seconds
from kcli.pipeline.jobs.replay import Pace, Replay, Sent
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import Compression, Repartition

LATE = 1.0
"""Seconds behind that are worth a word."""


class ReplayRow(Row, section="replays"):
    source: str = column("The source.", rank=1)
    destination: str = column("The destination.", rank=1)
    records: int = column("Records sent.", unit="count")
    acked: int = column("Records acknowledged.", unit="count")
    failed: int = column("Records that were not acknowledged.", table=False, unit="count")
    unknown: int = column("Records that may have been stored; no response arrived.", table=False, unit="count")
    bytes: int = column("Bytes of keys and values.", table=False, unit="bytes")
    span: float = duration("Seconds from the first record to the last, as they were written.")
    skipped: float = duration("Seconds of silence that --max-gap skipped.", table=False)
    seconds: float = duration("How long it took.")
    speed: float | None = column("Requested factor of the original pace; null without pauses (max).")
    late: float | None = column("Largest delay of a record, in seconds.")


SHAPE = shape("pipeline.replay", "Outcome of a replay, and how well it kept its pace.", ReplayRow)


class ReplayOptions(
    NamedTopics, TargetOptions, KeptSchemasOptions, TimeOptions, DryRunOptions, SelectionOptions, OrderedOptions
):
    speed: Annotated[
        str | None,
        typer.Option("--speed", metavar="N", help="Factor of the original pace (default 1); max: without pauses."),
    ] = None
    max_gap: Annotated[
        str | None,
        typer.Option(
            "--max-gap", metavar="DURATION", help="Shorten longer pauses in the original to this, such as 10s."
        ),
    ] = None
    now: Annotated[bool, typer.Option("--now", help="Use the time of sending instead of the original timestamp.")] = (
        False
    )
    repartition: Repartition = False
    create: Annotated[bool, typer.Option("--create", help="Create DST like SRC if it does not exist.")] = False
    compression: Compression = None


@command(
    "pipeline replay",
    help="Replay records at their original pace, or faster.",
    words="SRC DST",
    examples="""
kcli pipeline replay orders orders-replayed --create
kcli pipeline replay orders test-orders --speed 10 -o @2026-11-20T09:00:@2026-11-20T10:00
kcli pipeline replay orders orders --to-profile staging --start -1h --max-gap 5s --now
kcli pipeline replay orders load-test --speed max -J""",
)
def replay(options: ReplayOptions) -> int:
    """Send the records of SRC to DST at their original pace: the time between two records is the difference of their
    timestamps divided by --speed. Key, value, headers, timestamp, partition and the order within each partition stay;
    partitions are replayed in step. No Spark is needed."""
    plan = Plan(options)
    return run(lambda stop: _replay(plan, stop))


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: ReplayOptions) -> None:
        if len(options.words) != 2:
            raise UsageError("missing arguments: kcli pipeline replay SRC DST")
        super().__init__(options, "pipeline replay", options.words[:1], times=options)
        self.options = options
        (self.source,), self.destination = self.topics, options.words[1]
        self.elsewhere = bool(options.to_profile or options.to_bootstrap)
        if not self.elsewhere and options.to_properties:
            raise UsageError("--to-X sets properties of DST's cluster: add --to-profile or --to-bootstrap")
        if not self.elsewhere and self.source == self.destination:
            raise UsageError("SRC and DST are the same topic: replay to a different topic")
        if self.range.stored:
            raise UsageError("-o stored: a replay does not use a group; -o @TIME:TIME gives a range")
        self.pace = Pace(speed=speed_of(options.speed), longest=seconds(options.max_gap, "--max-gap", None))
        self.target = (
            connection_of(options.to_profile, options.to_bootstrap, options.to_properties)
            if self.elsewhere
            else self.connection
        )
        check_ids(options, self.connection, self.target)
        changes = self.target.properties.producer
        self.producer = ProducerSettings(**changes).for_command(max_block_given="max_block" in changes)
        if options.compression is not None:
            codec, level = text.codec(options.compression)
            self.producer = self.producer.replace(compression=codec, compression_level=level)


def speed_of(given: str | None) -> float:
    """`10`, `10x`, `0.5`; 0 for max. Raises UsageError."""
    if given is None:
        return 1.0
    if given == "max":
        return 0.0
    try:
        speed = float(given.removesuffix("x"))
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise UsageError(f"--speed {given}: expected a factor such as 10 or 0.5, or max")
    return speed


async def _replay(plan: Plan, stop: Stop) -> int:
    async with Client(plan.connection.client()) as source:
        if not plan.elsewhere:
            return await _between(plan, source, source, stop)
        async with Client(plan.target.client()) as target:
            here = await cluster_id(source.cluster)
            if plan.source == plan.destination and here is not None and here == await cluster_id(target.cluster):
                raise UsageError("SRC and DST are the same topic of the same cluster: replay to a different topic")
            return await _between(plan, source, target, stop)


async def _between(plan: Plan, source: Client, target: Client, stop: Stop) -> int:
    places = await plan.places(source.cluster)
    span = await plan.span(source.cluster, places, whole=True)
    if plan.options.dry_run:
        quiet = plan.connection.quiet
        write_plan(span, {}, plan.destination, report_format(plan.options), view_of(plan.options), quiet=quiet)
        return 0
    await _target(plan, source, target, span)
    begun = monotonic()
    async with plan.consumer(source) as consumer, target.producer(plan.producer) as producer:
        plan.select_times(consumer, span)
        place = not plan.options.repartition
        replay = Replay(consumer, producer, plan.destination, plan.pace, place=place, now=plan.options.now)
        problem = await _work(plan, replay, span, stop)
        await producer.close(0)
    return _verdict(plan, replay.sent, problem, stop, monotonic() - begun)


async def _target(plan: Plan, source: Client, target: Client, span: Span) -> None:
    """DST is there, made if that is wanted, and has the partitions. Raises KcliError."""
    topic = (await describe_topics(target.cluster, [plan.destination])).get(plan.destination)
    if plan.options.create and isinstance(topic, TopicMissing):
        done = await make_like(source, plan.source, target, plan.destination)
        if not plan.connection.quiet:
            complain(done)
    there = len(await partitions(target.cluster, plan.destination))
    most = max((at.partition for at, (start, end) in span.items() if start < end), default=0)
    if most >= there and not plan.options.repartition:
        raise UsageError(
            f"{plan.destination} has no partition {most}: its partitions are 0-{there - 1}; "
            "--repartition assigns new ones"
        )


async def _work(plan: Plan, replay: Replay, span: Span, stop: Stop) -> KcliError | None:
    sent = replay.sent
    stop.last_words = lambda: complain(f"stopped: {sent.acked:,} of {sent.records:,} records acknowledged")
    total = sum(end - start for start, end in span.values())
    progress = Progress("replay", total, hidden=plan.connection.quiet)
    replay.on_progress = lambda: progress.at(sent.records)
    try:
        await replay.everything(span, stop)
    except KcliError as problem:
        return problem
    finally:
        progress.close()
    return None


def _verdict(plan: Plan, sent: Sent, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    if problem is not None:
        complain(sentence(problem))
    if report_format(plan.options) is not None:
        _show(plan, sent, problem, seconds)
    quiet = plan.connection.quiet
    if sent.late >= LATE and not quiet and plan.pace.speed:
        complain(f"up to {sent.late:.1f} s late: the source, the target or this machine could not keep this pace")
    if stop.asked:
        if not quiet:
            reached = ", ".join(f"[{at.partition}] {offset}" for at, offset in sorted(sent.reached.items())[:6])
            complain(f"interrupted: {sent.acked:,} records replayed, up to {plan.source}{reached}")
        return INTERRUPTED
    if (sys.stderr.isatty() or plan.connection.verbose) and not quiet and problem is None:
        complain(f"replayed {sent.acked:,} records of {plan.source} to {plan.destination} in {seconds:.1f} s")
    return 0 if problem is None else problem.exit_code


def _show(plan: Plan, sent: Sent, problem: KcliError | None, seconds: float) -> None:
    original = max(sent.clock - sent.first, 0) / 1000
    document = Document(shape=SHAPE, view=view_of(plan.options))
    document.of(ReplayRow).append(
        ReplayRow.of(
            sent,
            source=plan.source,
            destination=plan.destination,
            span=round(original, 3),
            skipped=round(sent.skipped, 3),
            seconds=round(seconds, 3),
            speed=plan.pace.speed or None,
            late=round(sent.late, 3) if plan.pace.speed else None,
        )
    )
    if problem is not None:
        document.fail(problem)
    write(document, report_format(plan.options) or "table")
