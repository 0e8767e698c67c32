"""`kcli consume`: records to stdout; follows unless bounded.

A bounded run fixes its ends at the start and delivers every visible record before them, or says which partition it
could not finish and exits non-zero (R2). A group's offsets are committed only after the write (R4).
"""

from __future__ import annotations

from kcli.cli.commands.consume.selection import EARLIEST, LATEST, Selection, held_back, named_topics, partitions
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.output import text
from kcli.cli.output.failure import with_line
from kcli.cli.runtime.signals import INTERRUPTED, Stop, tell_outages
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.settings import GroupSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.commits import Commits
    from kcli.cli.commands.consume.reading import Reading
    from kcli.cli.parsing.option import Values
    from kcli.cli.runtime.topic_pattern import TopicPattern
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.model import TopicPartition

FAILED_ASSERTION = 3  # exit code
PATIENCE = 10.0  # seconds that the last commit may take after Ctrl-C
LEAVE = 5.0  # and leaving the group


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        super().__init__(values, "consume", named_topics(values), times=values, field=values, filters=values)
        self.values = values
        if values["control"]:
            self.settings = self.settings.replace(include_control=True)
        self.limit: int = -1 if values["count"] is None else values["count"]
        self.to_end: bool = values["exit_at_end"]
        self.timeout = None if values["timeout_ms"] is None else values["timeout_ms"] / 1000
        self.single: bool = values["unbuffered"]
        self.fail_if_none: bool = values["fail_if_none"]
        if values["beginning"]:
            if self.range.start is not None:
                raise UsageError("--from-beginning and -o both say where to start; take one")
            self.range.start = EARLIEST
        self.group = self._group(values["group"])
        self.order: str | None = values["order"]
        if self.order is not None and self.group is not None:
            raise UsageError("--order reads all partitions at once; a --group gives them to whom it likes")
        if self.order == "offset" and self.end is None:
            raise UsageError("--order offset reads one partition after another, so it needs an end: add -e, or -o :END")

    def _group(self, name: str | None) -> GroupSettings | None:
        changes = self.connection.properties.member()
        if name is None and not changes.get("group"):
            if self.range.start is not None and self.range.start.kind == "stored":
                raise UsageError("-o stored needs --group")
            return None
        if self.partitions is not None:
            raise UsageError("--group gives out the partitions itself; -p does not go with it")
        start = self.range.start
        if self.payload is not None:
            raise UsageError("--group starts at its committed offsets; `kcli groups reset` moves them to a time")
        if self.range.stop is not None or (start is not None and start.kind not in ("earliest", "latest", "stored")):
            raise UsageError("--group starts at its committed offsets; only -o beginning or -o end (without any) fit")
        if start is not None and start.kind != "stored":
            self.settings = self.settings.replace(reset=start.kind)
        return GroupSettings(**{**changes, "auto_commit": False}).replace(group=name or str(changes["group"]))

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.end is not None

    @property
    def end(self) -> Bound | None:
        """Where to stop; None is to follow. A range of payload times that ends is searched in the log as it is now."""
        ends = self.to_end or (self.payload is not None and self.payload.end is not None)
        return self.range.stop or (LATEST if ends else None)


def run(values: Values) -> int:
    """Consume. Returns the exit code."""
    if values["share_group"] is not None:
        from kcli.cli.commands.consume.share.command import run as run_share

        return run_share(values)
    if values["share_ack"] is not None:
        raise UsageError("--share-ack says what becomes of a share group's records; it needs --share-group")
    plan = Plan(values)
    return with_line(lambda: run_loop(lambda stop: _consume(plan, stop)), values["json"])


async def _consume(plan: Plan, stop: Stop) -> int:
    from kcli.cli.commands.consume.reading import Reading
    from kcli.client import Client

    sink = Sink(stop=stop)
    try:
        async with Client(plan.connection.client()) as client:
            tell_outages(client.cluster, quiet=plan.connection.quiet)
            if plan.order is not None:
                await _make_room(plan, client)
            consumer = plan.consumer(client, plan.group)
            commits = _commits(plan, consumer)
            reading = _ordered(plan, consumer, sink) if plan.order else Reading(plan, consumer, sink, commits)
            async with consumer:
                await stop.unless(_begin(plan, client, reading))
                try:
                    await reading.everything(stop)
                    if commits is not None:
                        await stop.unless(commits.settle())
                finally:
                    try:
                        if commits is not None:
                            await commits.last(PATIENCE if stop.asked else None)
                    finally:
                        if stop.asked:
                            await consumer.close(LEAVE)
    finally:
        sink.close()
    return _verdict(plan, reading, stop)


async def _make_room(plan: Plan, client: Client) -> None:
    """Many partitions are read a little at a time, so that what waits for its turn is bounded."""
    from kcli.cli.commands.consume.order.ordered import room_of_each

    room = room_of_each(len(await plan.places(client.cluster)))
    plan.settings = plan.settings.replace(partition_max_bytes=min(room, plan.settings.partition_max_bytes))


def _ordered(plan: Plan, consumer: Consumer, sink: Sink) -> Reading:
    from kcli.cli.commands.consume.order.ordered import OrderedReading

    return OrderedReading(plan, consumer, sink)


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
    start = plan.range.start or EARLIEST
    if end is None and start.kind != "offset" and plan.payload is None and plan.order is None:
        reading.consumer.assign(dict.fromkeys(places, start))
        return
    logs = await plan.log_ends(client.cluster, places) if end is LATEST else {}
    span = await plan.span(client.cluster, places, start, end or LATEST)
    _explain(plan, logs, {at: stop for at, (_, stop) in span.items()})
    reading.consumer.assign({at: Bound("offset", first) for at, (first, _) in span.items()})
    reading.expect(span)
    if end is not None:
        reading.consumer.stop_at({at: stop for at, (_, stop) in span.items()})
        if reading.total is None:
            reading.total = sum(stop - first for first, stop in span.values())


async def _join(plan: Plan, client: Client, reading: Reading, commits: Commits) -> None:
    """Become a member of the group."""

    async def assigned(partitions: set[TopicPartition]) -> None:
        await commits.lost(partitions)  # what we knew of them before is not where the group stands now
        if plan.to_end and partitions:
            logs = await plan.log_ends(client.cluster, partitions, told=False)
            ends = await plan.offsets(client.cluster, dict.fromkeys(partitions, LATEST))
            _explain(plan, logs, ends)
            reading.consumer.stop_at(ends)
            reading.log_ends.update(logs if plan.settings.isolation == "read_committed" else ends)
        reading.joined = True

    for topic in plan.topics:
        await partitions(client.cluster, topic)
    wanted: list[str] | str = plan.topics
    if plan.pattern is not None:
        await _look_for_any(plan, client, plan.pattern)
        wanted = plan.pattern.text
    await reading.consumer.subscribe(wanted, on_assigned=assigned, on_revoked=commits.revoked, on_lost=commits.lost)


async def _look_for_any(plan: Plan, client: Client, pattern: TopicPattern) -> None:
    """A member that reads to the end must find something to read. The pattern of a KIP-848 member is its
    coordinator's to understand, and to refuse (E62)."""
    assert plan.group is not None
    if plan.group.protocol == "consumer":
        return
    if not await plan.names(client.cluster) and plan.to_end:
        raise pattern.no_match()


def _explain(plan: Plan, logs: dict[TopicPartition, int], ends: dict[TopicPartition, int]) -> None:
    sentence = held_back(logs, ends)
    if sentence is not None and not plan.connection.quiet:
        from kcli.cli.main import complain

        complain(sentence)


def _verdict(plan: Plan, reading: Reading, stop: Stop) -> int:
    from kcli.cli.main import complain

    plan.say_skipped()
    if plan.connection.verbose:
        complain(f"{text.records(reading.written)} written")
    if stop.asked and (plan.bounded or reading.sink.buffer):
        complain(f"interrupted: {text.records(reading.written)} written")
        return INTERRUPTED
    if plan.fail_if_none and not reading.written:
        complain("no record was written, and --fail-if-none is given")
        return FAILED_ASSERTION
    return 0
