"""`kcli consume --share-group`: records that are ours alone for a while, acknowledged after they were written.

What was not written is given back: by `-n`, by a reader of the output that left, by Ctrl-C. A lock that would run out
while the output stands still is renewed where the broker can; a record whose lock ran out is not written.
"""

from __future__ import annotations

from kcli.cli.commands.consume.selection import Selection, has_times, named_topics, partitions
from kcli.cli.commands.consume.share.reading import ShareReading
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output import text
from kcli.cli.output.failure import with_line
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.signals import run as run_loop
from kcli.consumer.share.settings import ShareSettings
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.plan import ConsumeOptions
    from kcli.consumer.share.ranges import Outcome

FAILED_ASSERTION = 3  # exit code
LEAVE = 5.0  # seconds to give back and leave after Ctrl-C
SENTENCES = 5


class SharePlan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, options: ConsumeOptions, group: str) -> None:
        _refuse(options)
        super().__init__(options, "consume", named_topics(options), filters=options)
        if self.pattern is not None:
            raise UsageError(f"{self.pattern.patterns[0]}: a share group takes names of topics, and no pattern")
        self.options = options
        self.group = group
        self.kind: str = options.share_ack or "accept"
        self.from_beginning: bool = options.beginning
        self.limit: int = -1 if options.count is None else options.count
        self.to_end: bool = options.exit_at_end
        self.timeout = None if options.timeout_ms is None else options.timeout_ms / 1000
        self.single: bool = options.unbuffered
        self.fail_if_none: bool = options.fail_if_none
        if self.kind == "release" and not self.bounded and self.timeout is None:
            raise UsageError("--share-ack release gives records back when it ends: say when, by -n, -e or --timeout-ms")

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.to_end


def _refuse(options: ConsumeOptions) -> None:
    """Raises UsageError for what does not go with --share-group."""
    reasons = (
        (options.group, "--group and --share-group are two kinds of groups; take one"),
        (options.partitions, "--share-group gives out records of all partitions; -p does not go with it"),
        (
            options.offset,
            "a share group keeps the state of each record and has no offsets to start at; -o does not go with it",
        ),
        (options.order, "--order reads all partitions at once; a share group gives records to whom it likes"),
        (options.control, "a share group gives no control records; --print-control-records does not go with it"),
        (
            options.isolation,
            "isolation is a setting of the share group: kcli cannot choose it here (share.isolation.level)",
        ),
    )
    for given, reason in reasons:
        if given not in (None, False, []):
            raise UsageError(reason)
    if has_times(options, options):
        raise UsageError("a share group reads what it has not read, not a range of time; take --where, or no group")


def consume_share_group(options: ConsumeOptions, group: str) -> int:
    """Consume as a member of a share group. Returns the exit code."""
    plan = SharePlan(options, group)
    return with_line(lambda: run_loop(lambda stop: _consume(plan, stop)), options.json)


async def _consume(plan: SharePlan, stop: Stop) -> int:
    from kcli.cli.main import complain
    from kcli.client import Client

    sink = Sink(stop=stop)
    try:
        async with Client(plan.connection.client()) as client:
            for topic in plan.topics:
                await partitions(client.cluster, topic)
            if plan.from_beginning:
                from kcli.cli.commands.consume.share.start import start_at_beginning

                await start_at_beginning(client.cluster, plan)
            share = ShareSettings(group=plan.group, explicit=True, exact=plan.limit >= 0)
            async with client.share_consumer(plan.settings, share) as consumer:
                if not plan.connection.quiet:
                    consumer.on_notice = complain
                reading = ShareReading(plan, consumer, sink)
                await stop.unless(consumer.subscribe(plan.topics))
                await reading.everything(stop)
                if stop.asked:
                    await consumer.close(LEAVE)
    finally:
        sink.close()
    return _verdict(plan, reading, stop)


def _verdict(plan: SharePlan, reading: ShareReading, stop: Stop) -> int:
    from kcli.cli.main import complain

    plan.say_skipped()
    if plan.connection.verbose:
        complain(f"{text.records(reading.written)} written")
    if reading.expired and not plan.connection.quiet:
        complain(f"{text.records(reading.expired)} not written: their locks had run out, the group gives them again")
    if reading.refused:
        raise KcliError(_said(reading.refused, plan.kind))
    if stop.asked and (plan.bounded or reading.sink.buffer):
        complain(f"interrupted: {text.records(reading.written)} written")
        return INTERRUPTED
    if plan.to_end and not reading.written and not plan.from_beginning and not plan.connection.quiet:
        complain(f"{plan.group} has nothing to give now; a group that is new begins at the end, or --from-beginning")
    if plan.fail_if_none and not reading.written:
        complain("no record was written, and --fail-if-none is given")
        return FAILED_ASSERTION
    return 0


def _said(refused: list[Outcome], kind: str) -> str:
    """Which records were written and will or may be given again."""
    places = [
        f"{outcome.topic}[{outcome.partition}] offset {outcome.first}"
        + (f" to {outcome.last}" if outcome.last > outcome.first else "")
        + (": unknown, " if outcome.unknown else ": ")
        + str(outcome.error).removeprefix(f"{outcome.topic} partition {outcome.partition}: ")
        for outcome in refused[:SENTENCES]
    ]
    if len(refused) > SENTENCES:
        places.append(f"and {len(refused) - SENTENCES} more")
    sure = [outcome.records for outcome in refused if not outcome.unknown]
    maybe = [outcome.records for outcome in refused if outcome.unknown]
    parts = [f"{text.records(sum(sure))} written and not {kind}ed, to be given again"] if sure else []
    parts += [f"{text.records(sum(maybe))} written, and nobody knows whether {kind}ed"] if maybe else []
    return f"{' and '.join(parts)}: {'; '.join(places)}"
