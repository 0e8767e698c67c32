"""`kcli consume`: records to stdout; follows unless bounded.

A bounded run fixes its ends at the start and delivers every visible record before them, or says which partition it
could not finish and exits non-zero (R2). A group's offsets are committed only after the write (R4).
"""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli import codes
from kcli.cli import text
from kcli.cli.loop import INTERRUPTED, Stop
from kcli.cli.loop import run as run_loop
from kcli.cli.printer import Printer
from kcli.cli.progress import Progress
from kcli.cli.reading import EARLIEST, LATEST, Selection, finished, held_back, partitions
from kcli.cli.sink import Sink
from kcli.consumer.bounds import Bound, OffsetAndEpoch
from kcli.errors import BrokerError, DeadlineExceeded, DecodeError, KcliError, UsageError
from kcli.model import TopicPartition
from kcli.settings import GroupSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer, Fetched
    from kcli.proto.batch import Batch

FAILED_ASSERTION = 3  # exit code
COMMIT_EVERY = 5.0  # seconds
REJOIN = 10.0  # seconds that a rebalance in the way of the last commit may take
STALE = (  # the group goes on without us
    codes.REBALANCE_IN_PROGRESS, codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID,
    codes.STALE_MEMBER_EPOCH, codes.FENCED_MEMBER_EPOCH,
)  # fmt: skip
SETTLE = 1.0  # seconds to learn the positions of partitions that nothing came of


class Plan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        super().__init__(values, "consume")
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

    def _group(self, name: str | None) -> GroupSettings | None:
        changes = self.connection.properties.member()
        if name is None and not changes.get("group"):
            if self.range.start is not None and self.range.start.kind == "stored":
                raise UsageError("-o stored needs --group")
            return None
        if self.partitions is not None:
            raise UsageError("--group gives out the partitions itself; -p does not go with it")
        start = self.range.start
        if self.range.stop is not None or (start is not None and start.kind not in ("earliest", "latest", "stored")):
            raise UsageError("--group starts at its committed offsets; only -o beginning or -o end (without any) fit")
        if start is not None and start.kind != "stored":
            self.settings = self.settings.replace(reset=start.kind)
        return GroupSettings(**{**changes, "auto_commit": False}).replace(group=name or str(changes["group"]))

    @property
    def bounded(self) -> bool:
        return self.to_end or self.limit >= 0 or self.range.stop is not None


class Reading:
    """One run: what was written, and what is still to commit."""

    def __init__(self, plan: Plan, consumer: Consumer, sink: Sink) -> None:
        self.plan = plan
        self.consumer = consumer
        self.sink = sink
        self.printer = Printer(plan.values, terminal=sink.terminal)
        self.left = plan.limit
        self.written = 0
        self.passed = 0  # records that the filters looked at
        self.total: int | None = None if plan.limit < 0 else plan.limit
        self._uncommitted: dict[TopicPartition, OffsetAndEpoch] = {}
        self._ending = False
        self._gone: dict[TopicPartition, OffsetAndEpoch] = {}  # lost to the group while we ended
        self._settled: set[TopicPartition] = set()  # committed by us since they were assigned
        self._committed_at = self._heard_at = monotonic()
        self.joined = False

    async def everything(self, stop: Stop) -> None:
        """Print until the bound, the stop, or the reader is gone."""
        hidden = self.plan.connection.quiet or self.sink.terminal
        progress = Progress("consume", self.total if self.plan.bounded else None, hidden=hidden)
        try:
            while self.left != 0 and self.sink.open and not stop.asked and not self.finished:
                got = await stop.unless(self.consumer.poll(self._patience()))
                if not got:
                    if got is None or self.finished:
                        break
                    await self._commit_in_time()
                    if not self.consumer.assignment:
                        await asyncio.sleep(0.02)  # between two assignments of the group
                    if self.plan.timeout is not None and monotonic() - self._heard_at >= self.plan.timeout:
                        raise DeadlineExceeded(f"no record came for {self.plan.timeout * 1000:.0f} ms")
                    continue
                self._heard_at = monotonic()
                for fetched in got:
                    await self._print(fetched)
                await self._commit_in_time()
                progress.at(self.written if self.plan.keep is None else self.passed)
        finally:
            progress.close()

    @property
    def finished(self) -> bool:
        """All is read up to the ends; a member that was given nothing has nothing to read."""
        if self.plan.group is None:
            return self.consumer.finished
        return self.plan.to_end and self.joined and (not self.consumer.assignment or self.consumer.finished)

    def _patience(self) -> float | None:
        """How long a poll may wait. A member looks up now and then: what it owns may have changed."""
        if self.plan.group is None:
            return self.plan.timeout
        return min(0.2 if self.plan.to_end else COMMIT_EVERY, self.plan.timeout or COMMIT_EVERY)

    async def _print(self, fetched: Fetched) -> None:
        """Write one partition's batches; what is written may be committed."""
        at = TopicPartition(fetched.topic, fetched.partition)
        if self.left == 0 or not self.sink.open:
            if fetched.batches:  # handed out, and never printed: the group goes on before it
                self._uncommitted.setdefault(at, OffsetAndEpoch(fetched.batches[0].first))
            return
        position = fetched.next_offset
        if self.plan.settings.include_control:
            from kcli.serde.markers import readable

            fetched.batches = [readable(batch) for batch in fetched.batches]
        for left_out in fetched.skipped:
            self.plan.leave_out(left_out, at)
        done = 0
        if self.left < 0 and not self.plan.single and self.plan.keep is None:
            written, done = self.printer.put_many(self.sink.buffer, fetched.batches)
            self.written += written
        for given in fetched.batches[done:]:
            batch = given if self.plan.keep is None else await self._kept(given, at)
            while batch is not None and self.left != 0 and self.sink.open:
                limit = 1 if self.plan.single else self.left
                try:
                    written, following = self.printer.put(self.sink.buffer, batch, at.topic, at.partition, limit)
                except DecodeError as broken:
                    await self._broken(broken, at, batch)
                    break
                self.written += written
                self.left -= written if self.left > 0 else 0
                if self.left == 0:
                    position = following
                if not self.plan.single or not written:
                    break
                await self.sink.flush()
                batch.first = following
        if self.sink.buffer and not await self.sink.flush():
            return
        if self.plan.group is not None and at in self.consumer.assignment:  # it may have been lost meanwhile
            epoch = fetched.batches[-1].leader_epoch if fetched.batches else -1
            self._uncommitted[at] = OffsetAndEpoch(position, epoch)
        if fetched.error is not None:
            raise finished(fetched.error, at, position)

    async def _kept(self, batch: Batch, at: TopicPartition) -> Batch | None:
        """A batch of the records that the filters keep, None where there are none. The group commits all it read."""
        assert self.plan.keep is not None
        if self.left == 0 or not self.sink.open:
            return None
        try:
            self.passed += batch.visible
            return self.plan.keep.batch(batch, at.topic, at.partition)
        except DecodeError as broken:
            await self._broken(broken, at, batch)
            return None

    async def _broken(self, broken: DecodeError, at: TopicPartition, batch: Batch) -> None:
        """A batch whose frame is right and whose records are not: what was before it is written and may be committed,
        it is not. Raises KcliError without --skip-corrupt."""
        if not self.plan.settings.skip_corrupt and (not self.sink.buffer or await self.sink.flush()):
            self._uncommitted[at] = OffsetAndEpoch(batch.first)
        self.plan.leave_out(broken, at)

    async def join(self, client: Client) -> None:
        """Become a member of the group. What is given up is committed first; the next owner goes on there."""

        async def assigned(partitions: set[TopicPartition]) -> None:
            await lost(partitions)  # what we knew of them before is not where the group stands now
            if self.plan.to_end and partitions:
                logs = await self.plan.log_ends(client.cluster, partitions)
                ends = await self.plan.offsets(client.cluster, dict.fromkeys(partitions, LATEST))
                _explain(logs, ends)
                self.consumer.stop_at(ends)
            self.joined = True

        async def revoked(partitions: set[TopicPartition]) -> None:
            try:
                await self.commit(partitions)
            except BrokerError as error:
                if error.code not in STALE:
                    raise
                await lost(partitions)

        async def lost(partitions: set[TopicPartition]) -> None:
            self._settled -= partitions
            again = {at: self._uncommitted.pop(at) for at in partitions & self._uncommitted.keys()}
            if again and self._ending:
                self._gone.update(again)
            elif again:
                from kcli.cli.main import complain

                complain(f"lost to the group before they were committed: {_read_again(again)}")

        for topic in self.plan.topics:
            await partitions(client.cluster, topic)
        await self.consumer.subscribe(self.plan.topics, on_assigned=assigned, on_revoked=revoked, on_lost=lost)

    async def settle(self) -> None:
        """At a regular end: where nothing came, the group stands where it began to read, as with Kafka's own consumer;
        a partition without a commit would have no lag. Positions that nobody knows after a second stay uncommitted."""
        if self.plan.group is None:
            return
        patient_until = monotonic() + SETTLE
        while True:
            open_ = self.consumer.assignment - self._settled - self._uncommitted.keys()
            known = {at: position for at in open_ if (position := self.consumer.position(at)) is not None}
            if len(known) == len(open_) or monotonic() >= patient_until:
                break
            await asyncio.sleep(0.01)
        self._uncommitted.update({at: OffsetAndEpoch(position) for at, position in known.items()})

    async def _commit_in_time(self) -> None:
        due = self.plan.group is not None and monotonic() - self._committed_at >= COMMIT_EVERY
        if due and not await self._committed():
            self._committed_at = monotonic()  # E40: what we keep is committed next time, what we lose is told to us

    async def last_commit(self) -> None:
        """Commit. A rebalance in the way is gone through: what we still own then is committed in the new generation,
        what we lost is told. Whatever became of it, nothing is left to commit while the group is left (E40, E44)."""
        if self.plan.group is None:
            return
        until = monotonic() + REJOIN
        self._ending = True
        try:
            while not await self._committed() or self._uncommitted:  # what is not owned just now is not committed
                if monotonic() >= until:
                    self._gone.update(self._uncommitted)
                    break
                self.consumer.pause(*self.consumer.assignment)  # polled only to take part: nothing more is printed
                await self.consumer.poll(0.02)
                await asyncio.sleep(0.02)  # at its end a poll does not wait
            if self._gone:
                raise KcliError(f"the group rebalances, and the last commit was not made: {_read_again(self._gone)}")
        finally:
            self._uncommitted.clear()

    async def _committed(self) -> bool:
        """Commit; False when the group rebalances."""
        try:
            await self.commit()
        except BrokerError as error:
            if error.code not in STALE:
                raise
            return False
        return True

    async def commit(self, partitions: set[TopicPartition] | None = None) -> None:
        """Commit what was written since the last time, of all that is owned or of some (R4)."""
        if self.plan.group is None:
            return
        owned = self.consumer.assignment if partitions is None else partitions
        offsets = {at: self._uncommitted[at] for at in owned if at in self._uncommitted}
        if offsets:
            await self.consumer.commit(offsets)
            self._settled.update(offsets)
            for at, offset in offsets.items():
                if self._uncommitted.get(at) is offset:  # more may have been written meanwhile
                    del self._uncommitted[at]
        self._committed_at = monotonic()


def _read_again(offsets: dict[TopicPartition, OffsetAndEpoch]) -> str:
    """Which records the group reads again."""
    places = ", ".join(f"{at.topic}[{at.partition}] before offset {to.offset}" for at, to in sorted(offsets.items()))
    return f"{places}: records that were written since the last commit will be read again"


def run(values: Values) -> int:
    """Consume. Returns the exit code."""
    plan = Plan(values)
    return run_loop(lambda stop: _consume(plan, stop))


async def _consume(plan: Plan, stop: Stop) -> int:
    from kcli.client import Client

    sink = Sink(stop=stop)
    try:
        async with Client(plan.connection.client()) as client:
            consumer = plan.consumer(client, plan.group)
            reading = Reading(plan, consumer, sink)
            async with consumer:
                await stop.unless(_begin(plan, client, reading))
                try:
                    await reading.everything(stop)
                    await stop.unless(reading.settle())
                finally:
                    await reading.last_commit()
    finally:
        sink.close()
    return _verdict(plan, reading, stop)


async def _begin(plan: Plan, client: Client, reading: Reading) -> None:
    """Assign or join. The ends are fixed here, before anything is read (E18)."""
    if plan.group is not None:
        await reading.join(client)
        return
    places = await plan.places(client.cluster)
    start = plan.range.start or EARLIEST
    end = plan.range.stop or (LATEST if plan.to_end else None)
    if end is None and start.kind != "offset":
        reading.consumer.assign(dict.fromkeys(places, start))
        return
    logs = await plan.log_ends(client.cluster, places) if end is LATEST else {}
    span = await plan.span(client.cluster, places, start, end or LATEST)
    _explain(logs, {at: stop for at, (_, stop) in span.items()})
    reading.consumer.assign({at: Bound("offset", first) for at, (first, _) in span.items()})
    if end is not None:
        reading.consumer.stop_at({at: stop for at, (_, stop) in span.items()})
        if reading.total is None:
            reading.total = sum(stop - first for first, stop in span.values())


def _explain(logs: dict[TopicPartition, int], ends: dict[TopicPartition, int]) -> None:
    sentence = held_back(logs, ends)
    if sentence is not None:
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
