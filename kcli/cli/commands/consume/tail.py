"""`kcli tail`: the last N records of all partitions and topics together, merged by time, then what comes."""

from __future__ import annotations

from time import monotonic

from kcli.cli.commands.consume.order.arrivals import Arrivals
from kcli.cli.commands.consume.order.merge import WINDOW, Merge
from kcli.cli.commands.consume.order.newest import newest, print_held
from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, finished, named_topics
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output.failure import with_line
from kcli.cli.output.records.printer import Printer
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions, PatternOptions
from kcli.cli.parsing.record_groups import (
    FilterOptions,
    OrderedOptions,
    PrintOptions,
    SchemaOptions,
    SelectionOptions,
    TopicOptions,
)
from kcli.cli.runtime.signals import Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import DecodeError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.client import Client
    from kcli.consumer.poll import Fetched


DEFAULT = 10


class TailOptions(
    TopicOptions,
    PatternOptions,
    SelectionOptions,
    OrderedOptions,
    FilterOptions,
    SchemaOptions,
    PrintOptions,
    ConnectionOptions,
):
    last: Annotated[int | None, typer.Option("-n", "-c", "--lines", min=0, help="Number of records (default 10).")] = (
        None
    )
    offset: Annotated[
        list[str], typer.Option("-o", "--offset", metavar="OFFSET", help="Only this range, such as @-1h.")
    ]
    no_follow: Annotated[bool, typer.Option("--no-follow", "-e", help="Stop after the last N.")] = False


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: TailOptions) -> None:
        topics, literal = named_topics(options), options.literal
        super().__init__(options, "tail", topics, filters=options, schemas=options, literal=literal)
        self.print_decoded(options)
        if self.decoding is not None:
            self.decoding.waits = self.keep is None
        self.options = options
        self.last: int = DEFAULT if options.last is None else options.last
        self.follow: bool = not options.no_follow and self.range.stop is None
        if self.range.stored:
            raise UsageError("-o stored: tail does not use the offsets of a group")


@command(
    "tail",
    words="TOPIC...",
    examples=r"""
kcli tail orders
kcli tail orders --where 'value.total > 100'        # new ones that match
kcli tail 'orders-*' payments -n 100 -f '%T{iso} %t %s\n'
kcli tail orders -n 5 --no-follow -J""",
)
def tail(options: TailOptions) -> int:
    """Print the last N records of all partitions and topics together, merged by time; then follow.

    A terminal shows time, partition:offset, key and value of each record, with JSON indented and in colour. With -f,
    -J, -K, -D, -Z, --meta or --raw, and into a pipe without --pretty, tail prints like consume."""
    plan = Plan(options)
    return with_line(lambda: run_loop(lambda stop: _tail(plan, stop)), options.as_json)


async def _tail(plan: Plan, stop: Stop) -> int:
    sink = Sink(stop=stop)
    printer = Printer(plan.options, terminal=sink.terminal, view=True, several=plan.several, decoding=plan.decoding)
    try:
        async with plan.client() as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            ends = await stop.unless(_print_last(plan, client, printer, sink))
            if ends is not None and plan.follow and sink.open:
                await _follow(plan, client, printer, sink, stop, ends)
    finally:
        sink.close()
    plan.say_skipped()
    if plan.left_out.exit_code and plan.options.as_json and sink.open:
        from kcli.cli.output.failure import print_errors

        print_errors(plan.left_out.errors.values())
    if stop.asked and not plan.follow:
        from kcli.cli.runtime.signals import INTERRUPTED

        return INTERRUPTED
    return plan.exit_code


async def _print_last(plan: Plan, client: Client, printer: Printer, sink: Sink) -> dict[TopicPartition, int]:
    """Print the last N by time; returns the offset where following starts, by partition."""
    places = await (plan.places if plan.follow else plan.some_places)(client.cluster)
    span = await plan.span(client.cluster, places, ends=not plan.follow)
    await print_held(plan, printer, sink, await newest(plan, client, span, plan.last))
    if plan.decoding is not None:
        plan.decoding.count_all()
    return {at: stop for at, (_, stop) in span.items()}


async def _follow(
    plan: Plan, client: Client, printer: Printer, sink: Sink, stop: Stop, ends: dict[TopicPartition, int]
) -> None:
    """What comes after the last N, in the order of time as far as it comes together (see `consume --order time`)."""
    known = [*ends, *plan.left_out.errors]
    arrivals, merge = Arrivals(plan, client.cluster, known), Merge(plan.leave_out)
    merge.add(known, caught_up=True)
    async with plan.consumer(client) as consumer, plan.waiting(client, consumer):
        plan.read(consumer, {at: (end, end) for at, end in ends.items()}, on=True, awaited_from=LATEST)
        while sink.open and not stop.asked:
            patience = WINDOW if merge.waiting else arrivals.wait
            got = await stop.unless(consumer.poll(patience), sink.left) or ()
            for fetched in got:
                _take(plan, fetched, merge)
            for at, batch in merge.late(monotonic() - WINDOW):
                _, following = printer.put(sink.buffer, batch, at.topic, at.partition)
                sink.holds = at, following - 1
            if sink.buffer:
                await sink.flush()
            new = set() if arrivals.wait else await stop.unless(arrivals.new()) or set()
            plan.select_times(consumer, new)
            consumer.incremental_assign(dict.fromkeys(new, EARLIEST))
            merge.add(sorted(new), caught_up=True)
            for fetched in got:
                if fetched.error is not None:
                    raise finished(fetched.error, TopicPartition(fetched.topic, fetched.partition), fetched.next_offset)


def _take(plan: Plan, fetched: Fetched, merge: Merge) -> None:
    """What was fetched waits for its turn."""
    at, now = TopicPartition(fetched.topic, fetched.partition), monotonic()
    for left_out in fetched.skipped:
        plan.leave_out(left_out, at)
    for batch in fetched.batches:
        try:
            shown = plan.kept(batch, at)
        except DecodeError as broken:
            plan.leave_out(broken, at)
            continue
        if shown is not None:
            merge.streams[at].give(shown, now)
