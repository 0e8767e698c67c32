"""`kcli copy SRC DST`: what the line says, who is connected, what is said at the end."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from time import monotonic
from typing import TYPE_CHECKING

from kcli.cli.commands.consume.selection import (
    EARLIEST,
    LATEST,
    Selection,
    given_filters,
    held_back,
    partitions,
)
from kcli.cli.output import text
from kcli.cli.output.failure import with_document
from kcli.cli.output.progress import Progress
from kcli.cli.parsing.command import Legacy
from kcli.cli.runtime.connection import connection_of
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.client import Client
from kcli.copying.copier import Copier, CopySettings
from kcli.copying.positions import Positions
from kcli.copying.rate import Rate
from kcli.copying.tally import Tally
from kcli.errors import BrokerError, DeadlineExceeded, KcliError, UnknownOutcome, UsageError
from kcli.grammar.bound import Bound
from kcli.model import Cluster, TopicPartition
from kcli.producer.producer import Producer
from kcli.settings import ProducerSettings

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

Span = dict[TopicPartition, tuple[int, int]]

PATIENCE = 0.5  # seconds of silence after Ctrl-C
FLUSH_AFTER_INTERRUPT = 10.0  # seconds
UNITS = {"": 0, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KIB": 1024, "MIB": 1024**2, "GIB": 1024**3, "B": 1}


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        words = values["words"] or []
        if len(words) != 2:
            raise UsageError("copy what, and where to? kcli copy SRC DST")
        values = Legacy({**values, "isolation": values["isolation"] or "read_committed"})
        super().__init__(values, "copy", words[:1], filters=values)
        self.values = values
        (self.source,), self.destination = self.topics, words[1]
        self.elsewhere = bool(values["to_profile"] or values["to_bootstrap"])
        if not self.elsewhere and self.source == self.destination:
            raise UsageError("SRC and DST are one topic: the copy would read what it writes, without end")
        if self.range.start is not None and self.range.start.kind == "stored":
            raise UsageError("-o stored: a copy goes on by itself where it was; --restart begins anew")
        self.follow: bool = values["follow"]
        if self.follow and (self.range.stop is not None or values["dry_run"]):
            raise UsageError(f"--follow has no end; {'--dry-run' if values['dry_run'] else 'the range'} has one")
        self.limit: int | None = values["count"]
        self.rate = rate_of(values["rate"])
        self.exactly_once: bool = values["exactly_once"]
        self.every = (values["store_every"] or 5000) / 1000
        self.resume: bool = not values["no_resume"]
        self.group: str = values["group"] or f"kcli-copy.{self.source}.{self.destination}"  # named fully by `name_for`
        if self.exactly_once and self.elsewhere:
            raise UsageError("--exactly-once: a transaction reaches no further than one cluster")
        if self.exactly_once and not self.resume:
            raise UsageError("--exactly-once keeps its positions with the records; --no-resume keeps none")
        if values["transactional_id"] and not self.exactly_once:
            raise UsageError("--transactional-id goes with --exactly-once")
        self.target = (
            connection_of(values["to_profile"], values["to_bootstrap"], values["to_properties"])
            if self.elsewhere
            else self.connection
        )
        self.producer = self._producer(values)

    def _producer(self, values: Values) -> ProducerSettings:
        changes = self.target.properties.producer
        settings = ProducerSettings(**changes).patient("max_block" in changes)
        if not self.elsewhere and values["to_properties"]:
            raise UsageError("--to-X is about DST's cluster: --to-profile or --to-bootstrap names it")
        if self.keep is None and not values["repartition"] and values["compression"] is None:
            self.settings = self.settings.replace(decompress=False)  # batches go on as they came
        if values["compression"] is not None:
            codec, level = text.codec(values["compression"])
            settings = settings.replace(compression=codec, compression_level=level)
        if self.exactly_once:
            settings = settings.replace(transactional_id=values["transactional_id"] or self.group)
            if self.every >= settings.transaction_timeout:
                raise UsageError("--commit-interval-ms: a transaction would take longer than transaction.timeout.ms")
        elif settings.transactional_id is not None:
            raise UsageError("transactional.id: use --exactly-once")
        return settings

    def name_for(self, cluster: str | None, topic: bytes) -> None:
        """Without --group the positions are of this copy alone: another cluster, another DST though of the same name,
        another range or filter is another copy."""
        if self.values["group"]:
            return
        from hashlib import sha256

        named = [self.values[name] for name in ("offset", "isolation", "repartition")]
        what = [cluster or "", topic.hex(), *map(str, [*named, *given_filters(self.values).values()])]
        self.group += f".{sha256(chr(0).join(what).encode()).hexdigest()[:8]}"
        if self.exactly_once and not self.values["transactional_id"]:
            self.producer = self.producer.replace(transactional_id=self.group)

    @property
    def moves(self) -> bool:
        """Whether the start is counted from the end (`-o -5`): once a copy is whole, the next one is another."""
        return self.range.start is not None and self.range.start.kind == "relative" and not self.follow

    @property
    def talkative(self) -> bool:
        """Whether success is worth a word: to somebody who looks on, or who asked for it."""
        watched = sys.stderr is not None and sys.stderr.isatty()
        return not self.connection.quiet and (self.connection.verbose or watched)


def rate_of(given: str | None) -> Rate | None:
    """`500`, `500/s`, `10MB`, `10MiB/s` as a Rate. Raises UsageError."""
    if given is None:
        return None
    word = given.strip().removesuffix("/s")
    digits = word.rstrip("kmgibKMGIB")
    unit = word[len(digits) :].upper()
    try:
        number = float(digits)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e18 or unit not in UNITS:
        raise UsageError(f"--rate {given}: expected records or bytes a second, such as 500 or 10MB")
    return Rate(number * UNITS[unit], of_bytes=True) if UNITS[unit] else Rate(number)


def run(values: Values) -> int:
    """Copy. Returns the exit code."""
    plan = Plan(values)
    format = "json" if values["json"] else values["format"]
    shape = "copy.plan" if values["dry_run"] else "copy"
    return with_document(lambda: run_loop(lambda stop: _copy(plan, stop)), shape, format)


async def _copy(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    async with Client(plan.connection.client()) as source:
        tell_outages(source.cluster, quiet=plan.connection.quiet)
        if plan.values["dry_run"]:
            from kcli.cli.commands.copy.survey import survey

            span = await stop.unless(_span(plan, source))
            return INTERRUPTED if span is None else await survey(plan, source, span, stop)
        if not plan.elsewhere:
            return await _between(plan, source, source, stop)
        async with Client(plan.target.client()) as target:
            tell_outages(target.cluster, quiet=plan.connection.quiet)
            here, there = await stop.unless(cluster_id(source.cluster)), await stop.unless(cluster_id(target.cluster))
            if stop.asked:
                return INTERRUPTED
            if plan.source == plan.destination and here is not None and here == there:
                raise UsageError("SRC and DST are one topic of one cluster: the copy would read what it writes")
            return await _between(plan, source, target, stop)


async def cluster_id(cluster: Cluster) -> str | None:
    """What the cluster calls itself, None for one that says nothing."""
    from kcli.asking.ask import ask_anyone
    from kcli.proto.messages.metadata import MetadataRequest

    return (await ask_anyone(cluster, MetadataRequest(topics=[], allow_auto_topic_creation=False))).cluster_id


async def _span(plan: Plan, source: Client) -> Span:
    """[start, stop) of each partition, fixed now (E18), begun where the copy was the last time."""
    places = await plan.places(source.cluster)
    whole = plan.range.stop in (None, LATEST) and not plan.follow  # who names an end is told of no other
    logs = await plan.log_ends(source.cluster, places) if whole else {}
    span = await plan.span(source.cluster, places, plan.range.start or EARLIEST, plan.range.stop or LATEST)
    sentence = held_back(logs, {at: stop for at, (_, stop) in span.items()})
    if sentence is not None:
        say(sentence)
    if not plan.resume or plan.values["restart"]:
        return span
    stored = await Positions(source.cluster, plan.group).read(finished=not plan.moves)
    found = {at: (min(max(start, stored.get(at, start)), stop), stop) for at, (start, stop) in span.items()}
    moved = sum(found[at][0] - start for at, (start, _) in span.items())
    if moved and not plan.connection.quiet:
        say(f"goes on after {moved} offsets that were done, as {plan.group} says; --restart begins anew")
    return found


async def _between(plan: Plan, source: Client, target: Client, stop: Stop) -> int:
    await stop.unless(_find(plan, source, target))
    if stop.asked:
        return INTERRUPTED
    async with plan.consumer(source) as consumer, target.producer(plan.producer) as producer:
        span = await stop.unless(_begin(plan, source, target, producer))
        if span is None:
            return INTERRUPTED
        positions = Positions(source.cluster, plan.group) if plan.resume else None
        repartition, codec = plan.values["repartition"], plan.values["compression"]
        settings = CopySettings(
            keep=plan.kept if plan.keep is not None else None,
            place=not repartition,
            encode=codec is not None,
            rate=plan.rate,
            limit=plan.limit,
            positions=positions,
            transactional=plan.exactly_once,
            store_every=plan.every,
            leave_out=plan.leave_out,
        )
        copier = Copier(consumer, producer, plan.destination, settings)
        consumer.assign({at: Bound("offset", start) for at, (start, _) in span.items()})
        total = None
        if not plan.follow:
            consumer.stop_at({at: end for at, (_, end) in span.items()})
            total = sum(end - start for start, end in span.values())
        begun = monotonic()
        problem = await _work(plan, copier, total, stop)
        if plan.moves and positions is not None and problem is None and not stop.asked and plan.limit is None:
            problem = await _finish(positions, {at: end for at, (_, end) in span.items()}, stop)
        await producer.close(0)
        return _verdict(plan, copier.tally, problem, stop, monotonic() - begun)


async def _begin(plan: Plan, source: Client, target: Client, producer: Producer) -> Span:
    """Where to copy from. A copy with the same transactional id that still runs, or was killed, is ended first: what
    it was about to commit counts, and it commits nothing more."""
    if plan.exactly_once:
        await producer.initialise()
    span = await _span(plan, source)
    await _check_partitions(plan, target, span)
    return span


async def _find(plan: Plan, source: Client, target: Client) -> None:
    """DST is there, made if that is wanted, and the copy has its name."""
    from kcli.admin.topics.topics import describe_topics
    from kcli.asking.leaders import TopicMissing

    found = (await describe_topics(target.cluster, [plan.destination])).get(plan.destination)
    if isinstance(found, TopicMissing):
        await partitions(source.cluster, plan.source)
        if not plan.values["create"]:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(plan.destination, await describe_topics(target.cluster, internal=False))
            raise KcliError(
                f"{plan.destination}: this topic does not exist; --create makes it as {plan.source} is{near}"
            )
        await _create(plan, source, target)
    await partitions(target.cluster, plan.destination)
    plan.name_for(await cluster_id(target.cluster), target.cluster.topic_id(plan.destination))


async def _check_partitions(plan: Plan, target: Client, span: Span) -> None:
    """DST has the partitions that are wanted. Raises UsageError that says what would help."""
    there = len(await partitions(target.cluster, plan.destination))
    most = max((at.partition for at, (start, end) in span.items() if start < end or plan.follow), default=0)
    if most >= there and not plan.values["repartition"]:
        raise UsageError(
            f"{plan.destination} has no partition {most}: its partitions are 0-{there - 1}; --repartition chooses anew"
        )


async def _create(plan: Plan, source: Client, target: Client) -> None:
    said = await make_like(source, plan.source, target, plan.destination)
    if plan.talkative:
        say(said)


async def make_like(source: Client, topic: str, target: Client, name: str) -> str:
    """A topic of `name` with the partitions and configs of `topic`; what was made, as a sentence. Raises KcliError."""
    from kcli.admin.configs.topics import topic_configs
    from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics

    configs = (await topic_configs(source.cluster, [topic]))[topic]
    if isinstance(configs, KcliError):
        raise configs
    count = len(await source.cluster.partitions(topic))
    wanted = {key: value for key, value in configs.items() if value is not None}
    made = (await create_topics(target.cluster, [NewTopic(topic=name, partitions=count, configs=wanted)]))[name]
    if isinstance(made, KcliError):
        raise made
    await wait_for_topics(target.cluster, [name])
    shown = "".join(f", {key}={value}" for key, value in wanted.items())
    return f"made {name} with {count} partition{'s' if count != 1 else ''}{shown}"


async def _work(plan: Plan, copier: Copier, total: int | None, stop: Stop) -> KcliError | None:
    """Copy; then, whatever ended it, publish and keep what can be. What went wrong, if anything did."""
    tally = copier.tally
    stop.last_words = lambda: say(f"stopped: {summary(tally, copier.unanswered)}")
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
            f"what was on its way was not acknowledged within {FLUSH_AFTER_INTERRUPT:g} s"
        )
    return problem or copier.problem


async def _finish(positions: Positions, ends: dict[TopicPartition, int], stop: Stop) -> KcliError | None:
    """Remember that the copy is whole. What went wrong, if anything did."""
    try:
        await stop.unless(positions.finish(ends))
    except KcliError as problem:
        return problem
    return None


async def answered(work: Awaitable[None], stop: Stop) -> None:
    """Give what waits for answers some seconds more, and say so. Raises what it raises, TimeoutError when it was
    cancelled then."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        again = "Ctrl-C again" if stop.asked else "Ctrl-C twice"
        say(f"waiting for the answers to what was sent; {again} stops at once")
        done, _ = await asyncio.wait({task}, timeout=FLUSH_AFTER_INTERRUPT)
    if not done:
        task.cancel()
        await asyncio.wait({task})
        raise TimeoutError
    await task


def summary(tally: Tally, unanswered: int = 0) -> str:
    """`unanswered`: records that may be published though nobody has said so yet."""
    parts = [f"{tally.copied} copied"]
    if tally.filtered:
        parts.append(f"{tally.filtered} left out")
    parts += [f"{tally.failed} failed"] if tally.failed else []
    unknown, rest = tally.unknown + unanswered, tally.on_the_way - unanswered
    parts += [f"{unknown} unknown"] if unknown else []
    parts += [f"{rest} not sent"] if rest > 0 else []
    return f"{text.records(tally.read)} read: {', '.join(parts)}"


def _verdict(plan: Plan, tally: Tally, problem: KcliError | None, stop: Stop, seconds: float) -> int:
    from kcli.cli.main import sentence

    plan.say_skipped()
    if problem is not None:
        say(sentence(problem))
        if isinstance(problem, BrokerError | UnknownOutcome) and plan.resume:
            again = "" if plan.exactly_once else "; what was copied behind that is copied again"
            say(f"run it again to go on where {plan.group} says{again}")
    if plan.values["format"] or plan.values["json"]:
        _show(plan, tally, problem, seconds)
    if stop.asked and not plan.follow:
        say(f"interrupted: {summary(tally)}")
        return INTERRUPTED
    if problem is not None or plan.talkative:
        say(f"{summary(tally)}, in {seconds:.1f} s")
    return 0 if problem is None else problem.exit_code


def _show(plan: Plan, tally: Tally, problem: KcliError | None, seconds: float) -> None:
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    row = {
        name: getattr(tally, name) for name in ("read", "copied", "filtered", "failed", "unknown", "untouched", "bytes")
    }
    made = Document(shape=shape("copy"))
    made.rows["copies"] = [
        {"source": plan.source, "destination": plan.destination, **row, "seconds": round(seconds, 3),
         "group": plan.group if plan.resume else None}
    ]  # fmt: skip
    if problem is not None:
        made.fail(problem)
    write(made, "json" if plan.values["json"] else plan.values["format"])


def say(sentence: str) -> None:
    from kcli.cli.main import complain

    complain(sentence)
