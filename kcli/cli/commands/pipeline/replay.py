"""`kcli pipeline replay SRC DST`: what the line says, who is connected, what is said at the end."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, partitions
from kcli.cli.commands.copy.command import cluster_id, make_like
from kcli.cli.commands.pipeline.source.source import Span
from kcli.cli.output import text
from kcli.cli.output.progress import Progress
from kcli.cli.parsing.command import Legacy
from kcli.cli.runtime.connection import connection_of
from kcli.cli.runtime.signals import INTERRUPTED, Stop
from kcli.cli.runtime.signals import run as run_loop
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import duration
from kcli.pipeline.jobs.registry import Entry, Registered
from kcli.pipeline.jobs.replay import Pace, Replay, Sent
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

LATE = 1.0
"""Seconds behind that are worth a word."""


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        words = values["words"] or []
        if len(words) != 2:
            raise UsageError("replay what, and where to? kcli pipeline replay SRC DST")
        wanted: Values = Legacy({**values, "isolation": values["isolation"] or "read_committed"})
        super().__init__(wanted, "pipeline replay", words[:1], times=wanted)
        self.values = values
        (self.source,), self.destination = self.topics, words[1]
        self.elsewhere = bool(values["to_profile"] or values["to_bootstrap"])
        if not self.elsewhere and values["to_properties"]:
            raise UsageError("--to-X is about DST's cluster: --to-profile or --to-bootstrap names it")
        if not self.elsewhere and self.source == self.destination:
            raise UsageError("SRC and DST are one topic: a replay goes to another one")
        if self.range.start is not None and self.range.start.kind == "stored":
            raise UsageError("-o stored: a replay is in no group; -o @TIME:TIME names a window")
        self.pace = Pace(speed=speed_of(values["speed"]), longest=length_of(values["max_gap"]))
        self.target = (
            connection_of(values["to_profile"], values["to_bootstrap"], values["to_properties"])
            if self.elsewhere
            else self.connection
        )
        changes = self.target.properties.producer
        self.producer = ProducerSettings(**changes).patient("max_block" in changes)
        if values["compression"] is not None:
            codec, level = text.codec(values["compression"])
            self.producer = self.producer.replace(compression=codec, compression_level=level)


def speed_of(given: str | None) -> float:
    """`10`, `10x`, `0.5`; 0 for max. Raises UsageError."""
    if given is None:
        return 1.0
    if given == "max":
        return 0.0
    try:
        found = float(given.removesuffix("x"))
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise UsageError(f"--speed {given}: expected how many times as fast, such as 10 or 0.5, or max")
    return found


def length_of(given: str | None) -> float | None:
    """Seconds. Raises UsageError."""
    if given is None:
        return None
    found = duration(given)
    if found is None:
        raise UsageError(f"--max-gap {given}: expected a length of time, such as 10s")
    return found / 1000


def run(values: Values) -> int:
    """Replay. Returns the exit code."""
    plan = Plan(values)
    return run_loop(lambda stop: _replay(plan, stop))


async def _replay(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    async with Client(plan.connection.client()) as source:
        if not plan.elsewhere:
            return await _between(plan, source, source, stop)
        async with Client(plan.target.client()) as target:
            here = await cluster_id(source.cluster)
            if plan.source == plan.destination and here is not None and here == await cluster_id(target.cluster):
                raise UsageError("SRC and DST are one topic of one cluster: a replay goes to another one")
            return await _between(plan, source, target, stop)


async def _between(plan: Plan, source: Client, target: Client, stop: Stop) -> int:
    places = await plan.places(source.cluster)
    span = await plan.span(source.cluster, places, plan.range.start or EARLIEST, plan.range.stop or LATEST)
    if plan.values["dry_run"]:
        return _plan(plan, span)
    await _target(plan, source, target, span)
    entry = Entry(
        name=plan.values["name"] or f"replay-{plan.source}",
        command="replay",
        mode="batch",
        source=plan.source,
        destination=plan.destination,
        total=sum(end - start for start, end in span.values()),
    )
    begun = monotonic()
    with Registered(entry) as registered:
        async with plan.consumer(source) as consumer, target.producer(plan.producer) as producer:
            place = not plan.values["repartition"]
            replay = Replay(consumer, producer, plan.destination, plan.pace, place=place, now=plan.values["now"])
            problem = await _work(plan, replay, span, stop, registered)
            await producer.close(0)
        code = _verdict(plan, replay.sent, problem, stop, monotonic() - begun)
        registered.end("failed" if problem else "interrupted" if code else "done", str(problem or ""))
    return code


async def _target(plan: Plan, source: Client, target: Client, span: Span) -> None:
    """DST is there, made if that is wanted, and has the partitions. Raises KcliError."""
    from kcli.admin.topics.topics import describe_topics
    from kcli.asking.leaders import TopicMissing

    found = (await describe_topics(target.cluster, [plan.destination])).get(plan.destination)
    if plan.values["create"] and isinstance(found, TopicMissing):
        said = await make_like(source, plan.source, target, plan.destination)
        if not plan.connection.quiet:
            _say(said)
    there = len(await partitions(target.cluster, plan.destination))
    most = max((at.partition for at, (start, end) in span.items() if start < end), default=0)
    if most >= there and not plan.values["repartition"]:
        raise UsageError(
            f"{plan.destination} has no partition {most}: its partitions are 0-{there - 1}; --repartition chooses anew"
        )


async def _work(plan: Plan, replay: Replay, span: Span, stop: Stop, registered: Registered) -> KcliError | None:
    sent = replay.sent
    stop.last_words = lambda: _say(f"stopped: {sent.acked:,} of {sent.records:,} records acknowledged")
    progress = Progress("replay", registered.entry.total, hidden=plan.connection.quiet)

    def at() -> None:
        progress.at(sent.records)
        registered.tell(rows=sent.records, done=sent.records)
        if registered.asked() and not stop.asked:
            stop.interrupt()

    replay.on_progress = at
    try:
        await replay.everything(span, stop)
    except KcliError as problem:
        return problem
    finally:
        progress.close()
    return None


def _verdict(plan: Plan, sent: Sent, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    from kcli.cli.main import sentence

    if problem is not None:
        _say(sentence(problem))
    if plan.values["format"] or plan.values["json"]:
        _show(plan, sent, problem, seconds)
    quiet = plan.connection.quiet
    if sent.late >= LATE and not quiet and plan.pace.speed:
        _say(f"up to {sent.late:.1f} s late: source, target or this machine could not keep that pace")
    if stop.asked:
        if not quiet:
            reached = ", ".join(f"[{at.partition}] {offset}" for at, offset in sorted(sent.reached.items())[:6])
            _say(f"interrupted: {sent.acked:,} records replayed, up to {plan.source}{reached}")
        return INTERRUPTED
    watched = sys.stderr is not None and sys.stderr.isatty()
    if (watched or plan.connection.verbose) and not quiet and problem is None:
        _say(f"replayed {sent.acked:,} records of {plan.source} to {plan.destination} in {seconds:.1f} s")
    return 0 if problem is None else problem.exit_code


def _show(plan: Plan, sent: Sent, problem: KcliError | None, seconds: float) -> None:
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    original = max(sent.clock - sent.first, 0) / 1000
    made = Document(shape=shape("pipeline.replay"))
    made.rows["replays"] = [
        {
            "source": plan.source, "destination": plan.destination, "records": sent.records, "acked": sent.acked,
            "failed": sent.failed, "unknown": sent.unknown, "bytes": sent.bytes, "span": round(original, 3),
            "skipped": round(sent.skipped, 3), "seconds": round(seconds, 3),
            "speed": plan.pace.speed or None, "late": round(sent.late, 3) if plan.pace.speed else None,
        }
    ]  # fmt: skip
    if problem is not None:
        made.fail(problem)
    write(made, "json" if plan.values["json"] else plan.values["format"])


def _plan(plan: Plan, span: Span) -> int:
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    made = Document(shape=shape("pipeline.plan"))
    made.rows["ranges"] = [
        {
            "topic": at.topic, "partition": at.partition, "start": start, "end": end, "records": end - start,
            "bytes": None if end > start else 0, "destination": plan.destination,
        }
        for at, (start, end) in sorted(span.items())
    ]  # fmt: skip
    write(made, "json" if plan.values["json"] else plan.values["format"] or "table")
    return 0


def _say(sentence: str) -> None:
    from kcli.cli.main import complain

    complain(sentence)
