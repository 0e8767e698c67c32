"""`kcli redrive DLQ`: what the line says, who is connected, the plan, and what is said at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any

from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, finished, given_filters
from kcli.cli.commands.copy.command import answered, rate_of, say
from kcli.cli.output import text
from kcli.cli.output.failure import with_document
from kcli.cli.output.progress import Progress
from kcli.cli.parsing.command import Legacy
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.copying.positions import Positions
from kcli.copying.redrive import Account, Redriver, Rules, Targets
from kcli.errors import DecodeError, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.producer.producer import Producer
from kcli.proto.batch import Batch
from kcli.serde.origin import Origins
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

Span = dict[TopicPartition, tuple[int, int]]

LAST_ABORT = 2.0  # seconds for a transaction that Ctrl-C left open


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        words = values["words"] or []
        if len(words) != 1:
            raise UsageError("redrive which dead-letter topic? kcli redrive DLQ")
        values = Legacy({**values, "isolation": values["isolation"] or "read_committed"})
        super().__init__(values, "redrive", words, filters=values)
        self.values = values
        (self.dlq,) = self.topics
        self.execute: bool = values["execute"] and not values["dry_run"]
        self.limit: int = -1 if values["count"] is None else values["count"]
        self.rate = rate_of(values["rate"])
        self.resume: bool = not values["no_resume"]
        self.format: str = "json" if values["json"] else values["format"] or "table"
        self.exactly_once: bool = values["exactly_once"]
        if values["to"] == self.dlq:
            raise UsageError(f"--to {self.dlq}: that is the dead-letter topic itself")
        if self.range.start is not None and self.range.start.kind == "stored":
            raise UsageError("-o stored: it goes on by itself where it was; --restart begins anew")
        if self.exactly_once and (not self.resume or values["on_error"] == "skip"):
            raise UsageError("--exactly-once keeps positions with the records: not with --no-resume or --on-error skip")
        if values["transactional_id"] and not self.exactly_once:
            raise UsageError("--transactional-id goes with --exactly-once")
        self.group: str = values["group"] or self._name(values)
        self.rules = Rules(
            dlq=self.dlq, origins=Origins(values["topic_headers"], values["partition_headers"]), to=values["to"],
            skip_missing=values["missing"] == "skip", keep_headers=values["keep_headers"],
            max_attempts=values["max_attempts"] or 3, repartition=values["repartition"], now=values["now"],
            skip=values["on_error"] == "skip",
        )  # fmt: skip
        changes = self.connection.properties.producer
        settings = ProducerSettings(**changes).patient("max_block" in changes)
        if self.exactly_once:
            settings = settings.replace(transactional_id=values["transactional_id"] or self.group)
        self.producer = settings

    def _name(self, values: Values) -> str:
        """Filters and beginnings have a progress of their own: what one left out, another one has still to do."""
        name = f"kcli-redrive.{self.dlq}"
        filters = [(option, given) for option, given in given_filters(values).items() if given]
        if self.range.start not in (None, EARLIEST):
            filters.append(("offset", values["offset"]))
        if not filters:
            return name
        from zlib import crc32

        return f"{name}.{crc32(repr(filters).encode('utf-8', 'surrogateescape')):08x}"


def run(values: Values) -> int:
    """Redrive. Returns the exit code."""
    plan = Plan(values)
    return with_document(lambda: run_loop(lambda stop: _redrive(plan, stop)), "redrive", plan.format)


async def _redrive(plan: Plan, stop: Stop) -> int:
    from contextlib import AsyncExitStack

    from kcli.client import Client

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(plan.connection.client()))
        tell_outages(client.cluster, quiet=plan.connection.quiet)
        producer = await stack.enter_async_context(client.producer(plan.producer)) if plan.execute else None
        span = await stop.unless(_begin(plan, client, producer))
        if span is None:
            return INTERRUPTED
        redriver = Redriver(
            plan.rules,
            Targets(client.cluster),
            producer,
            rate=plan.rate,
            transactional=plan.exactly_once,
            positions=Positions(client.cluster, plan.group) if plan.resume and plan.execute else None,
        )
        begun = monotonic()
        consumer = await stack.enter_async_context(plan.consumer(client))
        consumer.assign({at: Bound("offset", start) for at, (start, _) in span.items()})
        consumer.stop_at({at: end for at, (_, end) in span.items()})
        problem = await _work(plan, redriver, consumer, sum(end - start for start, end in span.values()), stop)
        if producer is not None and stop.asked:
            await producer.close(LAST_ABORT)
    return _verdict(plan, redriver.account, problem, stop, monotonic() - begun)


async def _begin(plan: Plan, client: Client, producer: Producer | None) -> Span:
    """Where to begin. One with the same transactional id that still runs, or was killed, is ended first: what it was
    about to commit counts, and it commits nothing more."""
    if producer is not None and plan.exactly_once:
        await producer.initialise()
    return await _span(plan, client)


async def _span(plan: Plan, client: Client) -> Span:
    """[start, stop) of each partition, fixed now (E18), so that what comes back is not driven again in this run."""
    places = await plan.places(client.cluster)
    span = await plan.span(client.cluster, places, plan.range.start or EARLIEST, plan.range.stop or LATEST)
    if not plan.resume or plan.values["restart"]:
        return span
    stored = await Positions(client.cluster, plan.group).read()
    found = {at: (min(max(start, stored.get(at, start)), end), end) for at, (start, end) in span.items()}
    moved = sum(found[at][0] - start for at, (start, _) in span.items())
    if moved and not plan.connection.quiet:
        say(f"goes on after {moved} offsets that were done, as {plan.group} says; --restart begins anew")
    return found


async def _work(plan: Plan, redriver: Redriver, consumer: Consumer, total: int, stop: Stop) -> KcliError | None:
    """Everything up to the ends; then, whatever ended it, the position is stored. What went wrong, if anything did."""
    progress = Progress("redrive", total, hidden=plan.connection.quiet)
    problem: KcliError | None = None
    account, planned = redriver.account, not plan.execute
    stop.last_words = lambda: say(f"stopped: {summary(account, planned=planned, unanswered=redriver.unanswered)}")
    try:
        while not consumer.finished and redriver.problem is None and plan.limit != 0 and not stop.asked:
            for fetched in await stop.unless(consumer.poll(1.0)) or ():
                await _heard(_take(plan, redriver, fetched, stop), redriver, stop)
                progress.at(redriver.account.read)
                if stop.asked or plan.limit == 0:
                    break  # what follows in this partition must not be taken for done
    except KcliError as raised:
        problem = raised
    finally:
        progress.close()
    try:
        await _heard(redriver.store(), redriver, stop)
    except KcliError as raised:
        problem = problem or raised
    return problem or redriver.problem


async def _heard(work: Coroutine[Any, Any, None], redriver: Redriver, stop: Stop) -> None:
    """Do it. After Ctrl-C it has some seconds more for the answers to what was sent, none if it only keeps a rate."""
    task = asyncio.ensure_future(work)
    await stop.until(task)
    if not task.done() and redriver.resting:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        with contextlib.suppress(TimeoutError):
            await answered(task, stop)


async def _take(plan: Plan, redriver: Redriver, fetched: Fetched, stop: Stop) -> None:
    at = TopicPartition(fetched.topic, fetched.partition)
    for left_out in fetched.skipped:
        plan.leave_out(left_out, at)
    for batch in fetched.batches:
        if not await _batch(plan, redriver, batch, at, stop):
            return
    redriver.passed(at, fetched.next_offset)
    if fetched.error is not None:
        raise finished(fetched.error, at, fetched.next_offset)


async def _batch(plan: Plan, redriver: Redriver, batch: Batch, at: TopicPartition, stop: Stop) -> bool:
    """Redrive a batch in slices. False when the work ends within it."""
    try:
        kept = plan.kept(batch, at)
        records = [] if kept is None else list(kept)
    except DecodeError as broken:
        plan.leave_out(broken, at)
        return True
    seen = batch.visible
    redriver.account.read += seen
    redriver.account.filtered += seen - len(records)
    for begin in range(0, len(records), redriver.slice):
        some = records[begin : begin + redriver.slice]
        if plan.limit >= 0:
            some = some[: plan.limit]
        if not some or stop.asked or redriver.problem is not None:
            return False
        await redriver.take(at, some)
        plan.limit -= len(some) if plan.limit > 0 else 0
        if plan.limit == 0 and (begin + len(some) < len(records)):
            return False
    if redriver.problem is not None:
        return False
    redriver.passed(at, min(batch.stop, batch.last_offset + 1))
    return plan.limit != 0


def summary(account: Account, *, planned: bool, unanswered: int = 0) -> str:
    """`12 records read: 9 redriven, 2 skipped, 1 left out`. `unanswered`: records on their way
    that no account tells of."""
    counts = [(account.total("records") if planned else account.total("redriven"), "redriven")]
    names = ("skipped", "failed") if planned else ("skipped", "failed", "unknown")
    others = [(account.total(name) + unanswered * (name == "unknown"), name) for name in names]
    if planned:
        counts = [(counts[0][0] - sum(n for n, _ in others), "to be redriven")]
    rest = account.read - account.filtered - sum(n for n, _ in counts + others)
    others += [(account.filtered, "left out"), (rest, "not tried")]
    parts = [f"{n} {name}" for n, name in counts] + [f"{n} {name}" for n, name in others if n]
    return f"{text.records(account.read)} read: {', '.join(parts)}"


def _verdict(plan: Plan, account: Account, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    from kcli.cli.main import sentence

    plan.say_skipped()
    _show(plan, account, problem)
    if problem is not None:
        say(sentence(problem))
    if stop.asked:
        say(f"interrupted: {summary(account, planned=not plan.execute)}")
        return INTERRUPTED
    if problem is not None or not plan.connection.quiet:
        took = f", in {seconds:.1f} s" if plan.execute else ""
        say(f"{summary(account, planned=not plan.execute)}{took}")
        if not plan.execute and not plan.values["dry_run"]:
            say("nothing was published: this is the plan; --execute does it")
    if problem is not None:
        return problem.exit_code
    return 1 if account.total("failed") or account.total("unknown") else 0


def _show(plan: Plan, account: Account, problem: KcliError | None) -> None:
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    made = Document(shape=shape("redrive"))
    made.rows["targets"] = [
        {
            "topic": topic,
            "records": line.records,
            **{name: getattr(line, name) for name in ("redriven", "skipped", "failed", "unknown")},
            "note": line.note or None,
        }
        for (topic, _), line in sorted(account.lines.items(), key=lambda one: (one[0][0] is None, str(one[0])))
    ]
    made.rows["totals"] = [{"topic": plan.dlq, "read": account.read, "filtered": account.filtered, "group": plan.group}]
    if problem is not None:
        made.fail(problem)
    write(made, plan.format)
