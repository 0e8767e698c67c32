"""`kcli tail`: the last N records of all partitions and topics together, merged by time, then what comes."""

from __future__ import annotations

from array import array
from heapq import heappushpop
from time import monotonic

from kcli.cli.commands.consume.order.arrivals import Arrivals
from kcli.cli.commands.consume.order.merge import WINDOW, Merge
from kcli.cli.commands.consume.selection import EARLIEST, Selection, finished, named_topics
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output.failure import with_line
from kcli.cli.output.records.printer import Printer
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions, PatternOptions
from kcli.cli.parsing.option import flag, integer
from kcli.cli.parsing.record_groups import (
    FilterOptions,
    OrderedOptions,
    PrintOptions,
    SchemaOptions,
    SelectionOptions,
    TopicOptions,
    offset_range,
)
from kcli.cli.runtime.signals import Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import DecodeError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.consumer.poll import Fetched
    from kcli.proto.batch import Batch

    Last = list[tuple[int, int, str, int, int, Batch]]
    """timestamp, offset, topic, partition, a number that tells equals apart, the batch that holds it, or its kept
    part"""

DEFAULT = 10
LARGE = 256 * 1024  # plain bytes of a batch that is not held for a few of its records
WIDEN = 8  # how much further to look back where gaps and markers hid records


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
    last = integer("-n", "-c", "--lines", least=0, help="Number of records (default 10).")
    offset = offset_range("Only of this range, such as @-1h.")
    no_follow = flag("--no-follow", "-e", help="Stop after the last N.")


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
            raise UsageError("-o stored: tail reads no group's offsets")


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

    A terminal shows time, partition:offset, key and value of each record, JSON laid out and in colour; -f, -J, -K, -D,
    -Z, --meta and --raw print as consume does, and so does a pipe unless --pretty is given."""
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
    if stop.asked and not plan.follow:
        from kcli.cli.runtime.signals import INTERRUPTED

        return INTERRUPTED
    return plan.undecoded


async def _print_last(plan: Plan, client: Client, printer: Printer, sink: Sink) -> dict[TopicPartition, int]:
    """Print the last N by time; returns the offset where following starts, by partition."""
    places = await (plan.places if plan.follow else plan.some_places)(client.cluster)
    span = await plan.span(client.cluster, places, ends=not plan.follow)
    ends = {at: stop for at, (_, stop) in span.items()}
    held: Last = []
    look = dict(ends)
    back = max(plan.last, 1)
    while plan.last and look:
        # Per partition from the end backwards, until N records were seen or the beginning is reached: markers,
        # compaction and aborted transactions make offsets a bound of the count, not the count.
        starts = {at: max(span[at][0], stop - back) for at, stop in look.items()}
        seen = await _collect(plan, client, starts, look, held)
        look = {at: starts[at] for at in look if starts[at] > span[at][0] and seen.get(at, 0) < plan.last}
        back *= WIDEN
    for _, offset, topic, partition, _, batch in sorted(held, key=lambda row: row[:4]):
        first, stop = batch.first, batch.stop
        batch.first, batch.stop = offset, offset + 1
        printer.put(sink.buffer, batch, topic, partition, 1)
        at = TopicPartition(topic, partition)
        if plan.decoding is not None:
            plan.decoding.printed(at, offset)
        sink.holds = at, offset
        batch.first, batch.stop = first, stop
    await sink.flush()
    if plan.decoding is not None:
        plan.decoding.count_all()
    return ends


async def _collect(
    plan: Plan, client: Client, starts: dict[TopicPartition, int], ends: dict[TopicPartition, int], held: Last
) -> dict[TopicPartition, int]:
    """Read [start, end) of each partition into `held`, which keeps the latest N; returns how many each had."""
    seen: dict[TopicPartition, int] = {}
    number = len(held)
    work = {at: (start, ends[at]) for at, start in starts.items() if start < ends[at]}
    if not work:
        return seen
    async with plan.consumer(client) as consumer:
        plan.read(consumer, work)
        while not consumer.finished:
            for fetched in await consumer.poll(None):
                at = TopicPartition(fetched.topic, fetched.partition)
                for left_out in fetched.skipped:
                    plan.leave_out(left_out, at)
                for batch in fetched.batches:
                    try:
                        shown = plan.kept(batch, at)
                        if shown is None:
                            continue
                        columns = shown.columns()
                    except DecodeError as broken:
                        plan.leave_out(broken, at)
                        continue
                    seen[at] = seen.get(at, 0) + len(columns.offsets)
                    for timestamp, offset in zip(columns.timestamps, columns.offsets, strict=True):
                        number += 1
                        row = (timestamp, offset, at.topic, at.partition, number, shown)
                        if len(held) < plan.last:
                            held.append(row)
                            if len(held) == plan.last:
                                held.sort(key=lambda entry: entry[:5])
                        elif row[:5] > held[0][:5]:
                            heappushpop(held, row)
                if fetched.error is not None:
                    raise finished(fetched.error, at, fetched.next_offset, "read")
                _let_go(held)
    return seen


def _let_go(held: Last) -> None:
    """Of what was compressed keep the records that are held, not the batches they came in."""
    rows: dict[int, list[int]] = {}
    for number, (*_, batch) in enumerate(held):
        if batch.attributes & 7 and batch.body_end - batch.body_start > LARGE:
            rows.setdefault(id(batch), []).append(number)
    for numbers in rows.values():
        offsets = array("q", sorted(held[number][1] for number in numbers))
        kept = held[numbers[0]][5].picked(offsets)
        for number in numbers:
            held[number] = (*held[number][:5], kept)


async def _follow(
    plan: Plan, client: Client, printer: Printer, sink: Sink, stop: Stop, ends: dict[TopicPartition, int]
) -> None:
    """What comes after the last N, in the order of time as far as it comes together (see `consume --order time`)."""
    arrivals, merge = Arrivals(plan, client.cluster, ends), Merge(plan.leave_out)
    merge.add(ends, caught_up=True)
    async with plan.consumer(client) as consumer, plan.waiting(client, consumer):
        plan.read(consumer, {at: (end, end) for at, end in ends.items()}, on=True)
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
            new = set() if arrivals.wait else await stop.unless(arrivals.look()) or set()
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
