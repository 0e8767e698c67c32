"""`kcli consume`: records to stdout; follows unless bounded.

A bounded run fixes its ends at the start and delivers every visible record before them, or says which partition it
could not finish and exits non-zero (R2). A group's offsets are committed only after the write (R4).
"""

from __future__ import annotations

from kcli.cli.commands.consume.plan import ConsumeOptions, Plan
from kcli.cli.commands.consume.selection import EARLIEST, LATEST, partitions
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output.failure import with_line
from kcli.cli.output.text import records
from kcli.cli.parsing.command import command
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.commands.consume.commits import Commits
    from kcli.cli.commands.consume.reading import Reading
    from kcli.cli.runtime.topic_pattern import TopicPattern
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.model import TopicPartition

FAILED_ASSERTION = 3  # exit code
PATIENCE = 10.0  # seconds that the last commit may take after Ctrl-C
LEAVE = 5.0  # and leaving the group


@command(
    "consume",
    words="TOPIC...",
    examples=r"""
kcli consume orders -e                           # all records, then stop
kcli consume orders -o -10 -e                    # the last ten of each partition
kcli consume orders --start -1h --end now        # a time range
kcli consume orders -e -f '%T{iso} %p %o %k %s\n'
kcli consume orders -e --where 'value.user.id == 42 and value.total > 9.5'
kcli consume '^orders-' -e --order time -J       # merged by time, as JSON
kcli consume orders -g billing                   # as a member of a group""",
    details="""
With -g, kcli joins the group and commits only what it has printed. `-X group.protocol=consumer` uses KIP-848.

With --share-group, the members share partitions record by record. Printed records are accepted; fetched records that
were not printed are released. --share-ack release releases all of them, reject drops them for good.

--order time merges exactly the records up to the end seen at the start, and keeps the order within each partition.
Later records are merged if they arrive within 0.2 s. --order offset prints one partition after another and needs an
end. Neither can be combined with --group.

--print-control-records prints the markers that end transactions: key COMMIT or ABORT, header __control.""",
)
def consume(options: ConsumeOptions) -> int:
    """Print records from the beginning and follow; -e, -n or an end offset stops it."""
    if options.share_group is not None:
        from kcli.cli.commands.consume.share.share_group import consume_share_group

        return consume_share_group(options, options.share_group)
    if options.share_ack is not None:
        raise UsageError("--share-ack sets how a share group's records are acknowledged; it needs --share-group")
    plan = Plan(options)
    return with_line(lambda: run_loop(lambda stop: _consume(plan, stop)), options.as_json)


async def _consume(plan: Plan, stop: Stop) -> int:
    sink = Sink(stop=stop)
    try:
        async with plan.client() as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            if plan.newest:
                written = await stop.unless(_newest(plan, client, sink)) or 0
                return _verdict(plan, written, sink, stop)
            if plan.order is not None:
                await _make_room(plan, client)
            consumer = plan.consumer(client, plan.group)
            commits = _commits(plan, consumer)
            reading = _ordered(plan, consumer, sink) if plan.order else _reading(plan, consumer, sink, commits)
            async with consumer, plan.waiting(client, consumer):
                close = _watched(client, consumer) if plan.connection.verbose else None
                await stop.unless(reading.begin(_begin(plan, client, reading)))
                try:
                    await reading.everything(stop)
                    if commits is not None:
                        await stop.unless(commits.settle())
                finally:
                    try:
                        if commits is not None:
                            await commits.last(PATIENCE if stop.asked else None)
                    finally:
                        if close is not None:
                            close()
                        if stop.asked:
                            await consumer.close(LEAVE)
    finally:
        sink.close()
    return _verdict(plan, reading.written, sink, stop)


async def _newest(plan: Plan, client: Client, sink: Sink) -> int:
    """Print the newest N, the newest first; returns how many there are."""
    from kcli.cli.commands.consume.order.newest import newest, print_held
    from kcli.cli.output.records.printer import Printer

    printer = Printer(plan.options, terminal=sink.terminal, several=plan.several, decoding=plan.decoding)
    span = await plan.span(client.cluster, await plan.some_places(client.cluster), ends=True)
    rows = await newest(plan, client, span, plan.limit)
    await print_held(plan, printer, sink, rows[::-1])
    return len(rows)


def _watched(client: Client, consumer: Consumer) -> Callable[[], None]:
    """Report partitions that are not fetched; call what is returned at the end, for the counters."""
    from kcli.cli.commands.consume.unfetched import Unfetched
    from kcli.cli.output.metrics import say_consumer

    unfetched = Unfetched(consumer)
    unfetched.report()

    def close() -> None:
        unfetched.close()
        say_consumer(client.metrics, consumer.metrics)

    return close


async def _make_room(plan: Plan, client: Client) -> None:
    """Many partitions are read a little at a time, so that what waits for its turn is bounded."""
    from kcli.cli.commands.consume.order.ordered import room_of_each

    room = room_of_each(len(await plan.places(client.cluster)))
    plan.settings = plan.settings.replace(partition_max_bytes=min(room, plan.settings.partition_max_bytes))


def _ordered(plan: Plan, consumer: Consumer, sink: Sink) -> Reading:
    from kcli.cli.commands.consume.order.ordered import OrderedReading

    return OrderedReading(plan, consumer, sink)


def _reading(plan: Plan, consumer: Consumer, sink: Sink, commits: Commits | None) -> Reading:
    if plan.per_partition is not None:
        from kcli.cli.commands.consume.order.newest import CountedReading

        return CountedReading(plan, consumer, sink, plan.per_partition)
    from kcli.cli.commands.consume.reading import Reading

    return Reading(plan, consumer, sink, commits)


def _commits(plan: Plan, consumer: Consumer) -> Commits | None:
    if plan.group is None:
        return None
    from kcli.cli.commands.consume.commits import Commits

    return Commits(consumer)


async def _begin(plan: Plan, client: Client, reading: Reading) -> None:
    """Assign or join. The ends are fixed here, before anything is read (E18)."""
    if reading.commits is not None:
        await _join(plan, client, reading, reading.commits)
        return
    end = plan.end
    places = await (plan.places if end is None else plan.some_places)(client.cluster)
    if end is None:
        reading.follow(client.cluster, places)
    starts = {at: plan.range.start_of(at.partition) or EARLIEST for at in places}
    typed = any(bound.kind in ("offset", "relative") for bound in starts.values())
    plan.select_times(reading.consumer, places)
    if end is None and not typed and plan.payload is None and plan.order is None:
        reading.consumer.assign(starts)
        return
    span = await plan.span(client.cluster, places, ends=end is not None)
    plan.read(reading.consumer, span, on=end is None)
    reading.expect(span if end is not None else dict.fromkeys(plan.left_out.errors, (0, 0)) | span)
    if end is not None and reading.total is None:
        reading.total = sum(stop - first for first, stop in span.values())


async def _join(plan: Plan, client: Client, reading: Reading, commits: Commits) -> None:
    """Become a member of the group."""

    async def assigned(partitions: set[TopicPartition]) -> None:
        await commits.lost(partitions)  # the positions known before are not the group's any more
        if plan.to_end and partitions:
            led = await plan.left_out.check(client.cluster, partitions, plan.patience)
            logs = await plan.log_ends(client.cluster, led)
            answering = [at for at in led if at not in plan.left_out.errors]
            ends = await plan.offsets(client.cluster, dict.fromkeys(answering, LATEST))
            plan.left_out.say()
            await plan.say_held_back(client.cluster, logs, ends)
            reading.consumer.stop_at(ends)
            reading.log_ends.update(logs if plan.settings.isolation == "read_committed" else ends)
        reading.joined = True

    for topic in plan.topics:
        await partitions(client.cluster, topic)
    wanted: list[str] | str = plan.topics
    if plan.pattern is not None:
        await _check_pattern(plan, client, plan.pattern)
        wanted = plan.pattern.text
    await reading.consumer.subscribe(wanted, on_assigned=assigned, on_revoked=commits.revoked, on_lost=commits.lost)


async def _check_pattern(plan: Plan, client: Client, pattern: TopicPattern) -> None:
    """A member that reads to the end must find something to read. The pattern of a KIP-848 member is its
    coordinator's to understand, and to refuse (E62)."""
    assert plan.group is not None
    if plan.group.protocol == "consumer":
        return
    if not await plan.names(client.cluster) and plan.to_end:
        raise pattern.no_match()


def _verdict(plan: Plan, written: int, sink: Sink, stop: Stop) -> int:
    from kcli.cli.output.messages import complain

    plan.say_skipped()
    if plan.left_out.exit_code and plan.options.as_json and sink.open:
        from kcli.cli.output.failure import print_errors

        print_errors(plan.left_out.errors.values())
    if plan.connection.verbose:
        complain(f"{records(written)} written")
    if stop.asked and (plan.bounded or sink.buffer):
        complain(f"interrupted: {records(written)} written")
        return INTERRUPTED
    unknown = plan.left_out.exit_code or (plan.decoding is not None and plan.decoding.unanswered)
    if plan.fail_if_none and not written and not unknown:
        complain("no record matched (--fail-if-none)")
        return FAILED_ASSERTION
    return plan.exit_code
