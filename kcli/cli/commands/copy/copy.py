"""`kcli copy SRC DST`: the two clients, the offsets to copy, and the run."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from kcli.cli.commands.copy.outcome import FLUSH_AFTER_INTERRUPT, SHAPE, answered, summary, verdict
from kcli.cli.commands.copy.plan import CopyOptions, Plan, Span
from kcli.cli.commands.copy.registries import REGISTER, moving
from kcli.cli.commands.copy.several import by_pattern, copy_several
from kcli.cli.commands.copy.survey import PLAN_SHAPE, survey
from kcli.cli.commands.copy.target import check_partitions, cluster_id, find_progress, find_target
from kcli.cli.output.failure import with_document
from kcli.cli.output.messages import complain
from kcli.cli.output.progress import Progress
from kcli.cli.parsing.command import command
from kcli.cli.runtime.signals import INTERRUPTED, Stop, run, tell_outages
from kcli.client import Client
from kcli.copying.copier import Copier, CopySettings
from kcli.copying.positions import Positions
from kcli.errors import DeadlineExceeded, KcliError, UsageError
from kcli.model import TopicPartition
from kcli.producer.producer import Producer

if TYPE_CHECKING:
    from kcli.copying.schemas import SchemaMoves


@command(
    "copy",
    words="SRC DST",
    examples="""
kcli copy orders orders-2
kcli copy orders orders --to-profile staging --create
kcli copy 'orders-*' '*' --to-profile staging --create    # each topic that matches, under its name
kcli copy orders fixed -o @-1d: --where 'value.total < 0' --dry-run
kcli copy orders orders-6 --repartition -z zstd --rate 10MB
kcli copy orders orders-2 --exactly-once --follow""",
)
def copy(options: CopyOptions) -> int:
    """Copy the records of SRC to DST: key, value, headers, timestamp and partition stay. kcli stops at the end offset
    seen at the start, unless --follow is given. Batches that need no change are sent unchanged, still compressed.

    Progress is saved in the source cluster after the records are acknowledged; the next run resumes there. After an
    interruption records may be copied twice, but none is lost; with --exactly-once each is copied once. -o -N counts
    from the end: a finished copy of the last N starts over when run again, an interrupted one resumes.

    SRC can be a pattern: the matching topics are copied one after another, and * in DST stands for each name.
    """
    if by_pattern(options):
        format = "json" if options.json else options.format
        shape = PLAN_SHAPE if options.dry_run else SHAPE
        return with_document(lambda: run(lambda stop: copy_several(options, _copy, stop)), shape, format)
    plan = Plan(options)
    shape = PLAN_SHAPE if options.dry_run else SHAPE
    return with_document(lambda: run(lambda stop: _copy(plan, stop)), shape, plan.format)


async def _copy(plan: Plan, stop: Stop) -> int:
    async with plan.client() as source:
        tell_outages(source.cluster, quiet=plan.connection.quiet)
        if plan.options.dry_run:
            span = await stop.unless(_planned(plan, source))
            return INTERRUPTED if span is None else await survey(plan, source, span, stop)
        if not plan.elsewhere:
            return await _between(plan, source, source, stop)
        async with Client(plan.target.client()) as target:
            tell_outages(target.cluster, quiet=plan.connection.quiet)
            here, there = await stop.unless(cluster_id(source.cluster)), await stop.unless(cluster_id(target.cluster))
            if stop.asked:
                return INTERRUPTED
            if plan.source == plan.destination and here is not None and here == there:
                raise UsageError(
                    "SRC and DST are the same topic of the same cluster: the copy would read its own records"
                )
            return await _between(plan, source, target, stop)


async def _span(plan: Plan, source: Client) -> Span:
    """[start, stop) of each partition, fixed now (E18), begun where the copy was the last time."""
    places = await plan.places(source.cluster)
    span = await plan.span(source.cluster, places, ends=not plan.follow)
    if not plan.resume or plan.options.restart:
        return span
    # a dry run ends no transaction of a copy that was killed, so it must not wait for its end
    stored = await Positions(source.cluster, plan.group).read(finished=not plan.moves, stable=not plan.options.dry_run)
    if not stored and plan.undecoded_group:
        await plan.say_start(source.cluster, plan.undecoded_group)
    left = {at: (min(max(start, stored.get(at, start)), stop), stop) for at, (start, stop) in span.items()}
    if plan.follow:
        left |= {at: (stored[at], stored[at]) for at in plan.left_out.errors if at in stored}
    moved = sum(left[at][0] - start for at, (start, _) in span.items())
    if moved and not plan.connection.quiet:
        complain(
            f"resuming after {moved} offsets already copied (group {plan.group}); --restart copies from the beginning"
        )
    return left


async def _planned(plan: Plan, source: Client) -> Span:
    """What the copy would read."""
    await find_progress(plan, source)
    return await _span(plan, source)


async def _between(plan: Plan, source: Client, target: Client, stop: Stop) -> int:
    await stop.unless(find_target(plan, source, target))
    if stop.asked:
        return INTERRUPTED
    topics = plan.source, plan.destination
    async with (
        moving(
            plan.registries, plan.connection, plan.target, topics, register=plan.options.schemas == REGISTER
        ) as moves,
        plan.consumer(source) as consumer,
        plan.waiting(source, consumer),
        target.producer(plan.producer) as producer,
    ):
        span = await stop.unless(_begin(plan, source, target, producer))
        if span is None:
            return INTERRUPTED
        positions = Positions(source.cluster, plan.group) if plan.resume else None
        settings = _settings(plan, positions, moves)
        copier = Copier(consumer, producer, plan.destination, settings)
        plan.read(consumer, span, on=plan.follow)
        total = None if plan.follow else sum(end - start for start, end in span.values())
        begun = monotonic()
        problem = await _work(plan, copier, total, stop)
        if (
            plan.moves
            and positions is not None
            and problem is None
            and not stop.asked
            and plan.limit is None
            and not plan.left_out.errors
        ):
            problem = await _finish(positions, {at: end for at, (_, end) in span.items()}, stop)
        await producer.close(0)
        return verdict(plan, copier.tally, problem, stop, monotonic() - begun)


def _settings(plan: Plan, positions: Positions | None, moves: SchemaMoves | None) -> CopySettings:
    return CopySettings(
        keep=plan.kept if plan.keep is not None else None,
        place=not plan.options.repartition,
        encode=plan.options.compression is not None,
        rate=plan.rate,
        limit=plan.limit,
        positions=positions,
        transactional=plan.exactly_once,
        store_every=plan.every,
        leave_out=plan.leave_out,
        rewrite=moves.rewriter.batch if moves is not None else None,
    )


async def _begin(plan: Plan, source: Client, target: Client, producer: Producer) -> Span:
    """Where to copy from. A copy with the same transactional id that still runs, or was killed, is ended first: what
    it was about to commit counts, and it commits nothing more."""
    if plan.exactly_once:
        await producer.initialise()
    span = await _span(plan, source)
    await check_partitions(plan, target, span)
    return span


async def _work(plan: Plan, copier: Copier, total: int | None, stop: Stop) -> KcliError | None:
    """Copy; then, whatever ended it, publish and keep what can be. What went wrong, if anything did."""
    tally = copier.tally
    stop.last_words = lambda: complain(f"stopped: {summary(tally, copier.unanswered)}")
    progress = Progress("copy", total, hidden=plan.connection.quiet)
    problem: KcliError | None = None
    copier.on_progress = lambda: progress.at(tally.read)
    try:
        await copier.everything(stop)
    except KcliError as raised:
        problem = raised
    finally:
        progress.close()
    try:
        if copier.problem is None and not stop.asked:
            await stop.unless(copier.store())
        if copier.problem is not None:
            problem = problem or copier.problem
            await answered(copier.give_up(), stop)
        elif stop.asked:
            await answered(copier.store(), stop)
    except KcliError as raised:
        problem = problem or raised
    except TimeoutError:
        await copier.abandon()
        problem = problem or DeadlineExceeded(
            f"records in flight were not acknowledged within {FLUSH_AFTER_INTERRUPT:g} s"
        )
    return problem or copier.problem


async def _finish(positions: Positions, ends: dict[TopicPartition, int], stop: Stop) -> KcliError | None:
    """Remember that the copy is whole. What went wrong, if anything did."""
    try:
        await stop.unless(positions.finish(ends))
    except KcliError as problem:
        return problem
    return None
