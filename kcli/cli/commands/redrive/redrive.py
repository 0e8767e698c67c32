"""`kcli redrive DLQ`: the client, the offsets to redrive, and the run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from time import monotonic
from typing import Any

from kcli.cli.commands.consume.selection import finished
from kcli.cli.commands.copy.outcome import answered
from kcli.cli.commands.redrive.outcome import SHAPE, summary, verdict
from kcli.cli.commands.redrive.plan import Plan, RedriveOptions
from kcli.cli.output.failure import with_document
from kcli.cli.output.messages import complain
from kcli.cli.output.progress import Progress
from kcli.cli.parsing.command import command
from kcli.cli.runtime.signals import INTERRUPTED, Stop, run, tell_outages
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.consumer.stall import Stall
from kcli.copying.positions import Positions
from kcli.copying.redrive import Redriver, Targets
from kcli.copying.sent import PriorRedrives, Sent, read_sent, sent_before
from kcli.errors import DecodeError, KcliError
from kcli.model import TopicPartition
from kcli.producer.producer import Producer
from kcli.proto.batch import Batch

Span = dict[TopicPartition, tuple[int, int]]
Runs = dict[TopicPartition, Sent]

LAST_ABORT = 2.0  # seconds for a transaction that Ctrl-C left open


@command(
    "redrive",
    words="DLQ",
    examples="""
kcli redrive orders-dlq                                         # the plan, by target
kcli redrive orders-dlq --execute
kcli redrive orders-dlq --execute --where 'matches(headers["__connect.errors.exception.message"], "timeout")'
kcli redrive orders-dlq --execute --rate 100 --on-error skip
kcli redrive dead --topic-header source-topic --to unknown --execute""",
)
def redrive(options: RedriveOptions) -> int:
    """Send each record of a dead-letter topic back to the original topic named in its headers. kcli knows the headers
    of Kafka Connect, Kafka Streams, Spring, Spring Cloud Stream and SmallRye; name others with --topic-header. Without
    --execute it only shows where the records would go.

    Key, value, timestamp, the record's own headers and, where the topic still has it, the partition stay; headers about
    the error are removed. The header kcli-redrive-attempts counts how often a record was sent back; --max-attempts
    prevents endless loops.

    By default the dead letters of share groups have no copy of the record: kcli fetches it from the partition and
    offset in their headers. The headers do not include the topic id, so if the topic has been deleted and created again
    since, another record may be there.

    Progress is saved after the records are acknowledged; the next run resumes there. Each filter and each -o has its
    own progress. Records that one of them sent are counted and skipped by the others, unless --restart is given. After
    an interruption records may be sent twice, but none is lost; with --exactly-once each is sent once.
    """
    plan = Plan(options)
    return with_document(lambda: run(lambda stop: _redrive(plan, stop)), SHAPE, plan.format)


async def _redrive(plan: Plan, stop: Stop) -> int:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(plan.client())
        tell_outages(client.cluster, quiet=plan.connection.quiet)
        producer = await stack.enter_async_context(client.producer(plan.producer)) if plan.execute else None
        begin = await stop.unless(_begin(plan, client, producer))
        if begin is None:
            return INTERRUPTED
        span, own, plan.before = begin
        redriver = Redriver(
            plan.rules,
            Targets(client.cluster),
            producer,
            rate=plan.rate,
            transactional=plan.exactly_once,
            positions=Positions(client.cluster, plan.group) if plan.resume and plan.execute else None,
            sent=own,
        )
        begun = monotonic()
        consumer = await stack.enter_async_context(plan.consumer(client))
        plan.read(consumer, span)
        problem = await _work(plan, redriver, consumer, sum(end - start for start, end in span.values()), stop)
        if producer is not None and stop.asked:
            await producer.close(LAST_ABORT)
    return verdict(plan, redriver.account, problem, stop, monotonic() - begun)


async def _begin(plan: Plan, client: Client, producer: Producer | None) -> tuple[Span, Runs, Runs]:
    """Where to begin; what was sent under this name, and what is left out as it was sent before. One with the same
    transactional id that still runs, or was killed, is ended first: what it was about to commit counts, and it commits
    nothing more."""
    if producer is not None and plan.exactly_once:
        await producer.initialise()
    places = await plan.places(client.cluster)
    span = await plan.span(client.cluster, places)  # fixed now (E18): what comes back is not sent again in this run
    if not plan.resume:
        return span, {}, {}
    stored = await Positions(client.cluster, plan.group).commits()
    own = {at: read_sent(commit) for at, commit in stored.items()}
    if plan.restart:
        return span, own, {}
    if not stored and plan.undecoded_group:
        await plan.say_start(client.cluster, plan.undecoded_group)
    begins = {at: min(max(start, stored[at].offset), end) for at, (start, end) in span.items() if at in stored}
    left = {at: (begins.get(at, start), end) for at, (start, end) in span.items()}
    moved = sum(left[at][0] - start for at, (start, _) in span.items())
    if moved and not plan.connection.quiet:
        complain(f"resuming after {moved} offsets already read (group {plan.group}); --restart starts over")
    before = await sent_before(client.cluster, plan.dlq, plan.group)
    if not plan.connection.quiet:
        _say_unknown(before, left)
    for at, sent in own.items():
        before.sent.setdefault(at, Sent()).merge(sent)
    return left, own, before.sent


def _say_unknown(before: PriorRedrives, span: Span) -> None:
    """Say which records may go a second time, as nothing tells whether they were sent."""
    if before.unlisted is not None:
        complain(f"records that earlier redrives sent may be sent again: {before.unlisted}")
    for (group, at), offset in sorted(before.unknown.items()):
        if at in span and span[at][0] < min(offset, span[at][1]):
            complain(
                f"{at.topic}[{at.partition}]: it is unknown which records before offset {offset} were sent under the "
                f"name {group}; they may be sent again"
            )


async def _work(plan: Plan, redriver: Redriver, consumer: Consumer, total: int, stop: Stop) -> KcliError | None:
    """Everything up to the ends; then, whatever ended it, the position is stored. What went wrong, if anything did."""
    progress = Progress("redrive", total, hidden=plan.connection.quiet)
    problem: KcliError | None = None
    stall = Stall(consumer)
    account, planned = redriver.account, not plan.execute
    stop.last_words = lambda: complain(f"stopped: {summary(account, planned=planned, unanswered=redriver.unanswered)}")
    try:
        while not consumer.finished and redriver.problem is None and plan.limit != 0 and not stop.asked:
            got = await stop.unless(consumer.poll(1.0)) or []
            stall.check(got)
            for fetched in got:
                await _answers(_take(plan, redriver, fetched, stop), redriver, stop)
                progress.at(redriver.account.read)
                if stop.asked or plan.limit == 0:
                    break  # what follows in this partition must not be taken for done
    except KcliError as raised:
        problem = raised
    finally:
        progress.close()
    try:
        await _answers(redriver.store(), redriver, stop)
    except KcliError as raised:
        problem = problem or raised
    return problem or redriver.problem


async def _answers(work: Coroutine[Any, Any, None], redriver: Redriver, stop: Stop) -> None:
    """Do it. After Ctrl-C it has some seconds more for the answers to what was sent, none if it only keeps a rate."""
    task = asyncio.ensure_future(work)
    await stop.until(task)
    if not task.done() and redriver.resting:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        with suppress(TimeoutError):
            await answered(task, stop)


async def _take(plan: Plan, redriver: Redriver, fetched: Fetched, stop: Stop) -> None:
    at = TopicPartition(fetched.topic, fetched.partition)
    for left_out in fetched.skipped:
        plan.leave_out(left_out, at)
        redriver.gap(at)
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
        redriver.gap(at)
        return True
    seen = batch.visible
    redriver.account.read += seen
    redriver.account.filtered += seen - len(records)
    whole = seen == len(records) and plan.keep is None and plan.range.times_of(at.partition) is None
    if at in plan.before:
        there, sent = len(records), plan.before[at]
        records = [record for record in records if record.offset not in sent]
        redriver.account.sent_before += there - len(records)
    for begin in range(0, len(records), redriver.slice):
        some = records[begin : begin + redriver.slice]
        if plan.limit >= 0:
            some = some[: plan.limit]
        if not some or stop.asked or redriver.problem is not None:
            return False
        await redriver.take(at, some, whole=whole)
        plan.limit -= len(some) if plan.limit > 0 else 0
        if plan.limit == 0 and (begin + len(some) < len(records)):
            return False
    if redriver.problem is not None:
        return False
    redriver.passed(at, min(batch.stop, batch.last_offset + 1))
    return plan.limit != 0
