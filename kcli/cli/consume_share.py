"""`kcli consume --share-group`: records that are ours alone for a while, acknowledged after they were written.

What was not written is given back: by `-n`, by a reader of the output that left, by Ctrl-C. A lock that would run out
while the output stands still is renewed where the broker can; a record whose lock ran out is not written.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli.cli import text
from kcli.cli.loop import INTERRUPTED, Stop
from kcli.cli.loop import run as run_loop
from kcli.cli.printer import Printer
from kcli.cli.progress import Progress
from kcli.cli.reading import TIMES, Selection, finished, partitions
from kcli.cli.sink import Sink
from kcli.consumer.share_settings import ShareSettings
from kcli.errors import DeadlineExceeded, DecodeError, KcliError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values
    from kcli.consumer.share_chunk import Acquired
    from kcli.consumer.share_consumer import ShareConsumer
    from kcli.consumer.share_ranges import Outcome
    from kcli.proto.batch import Batch

FAILED_ASSERTION = 3  # exit code
GIVEN_NOTHING = 12.0  # seconds; a share group's members hear every 5 s what they are given
LOOK_UP = 0.2
NOT_OURS = {
    "group": "--group and --share-group are two kinds of groups; take one",
    "partitions": "--share-group gives out records of all partitions; -p does not go with it",
    "offset": "a share group keeps the state of each record and has no offsets to start at; -o does not go with it",
    "order": "--order reads all partitions at once; a share group gives records to whom it likes",
    "control": "a share group gives no control records; --print-control-records does not go with it",
    "isolation": "isolation is a setting of the share group: kcli cannot choose it here (share.isolation.level)",
}
"""What does not go with --share-group, and why."""
SENTENCES = 5


class SharePlan(Selection):
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        for name, why in NOT_OURS.items():
            if values[name] not in (None, False, []):
                raise UsageError(why)
        if any(values[name] is not None for name in TIMES):
            raise UsageError("a share group reads what it has not read, not a range of time; take --where, or no group")
        super().__init__(values, "consume")
        if self.pattern is not None:
            raise UsageError(f"{self.pattern.patterns[0]}: a share group takes names of topics, and no pattern")
        self.values = values
        self.group: str = values["share_group"]
        self.kind: str = values["share_ack"] or "accept"
        self.from_beginning: bool = values["beginning"]
        self.limit: int = -1 if values["count"] is None else values["count"]
        self.to_end: bool = values["exit_at_end"]
        self.timeout = None if values["timeout_ms"] is None else values["timeout_ms"] / 1000
        self.single: bool = values["unbuffered"]
        self.fail_if_none: bool = values["fail_if_none"]
        if self.kind == "release" and not self.bounded and self.timeout is None:
            raise UsageError("--share-ack release gives records back when it ends: say when, by -n, -e or --timeout-ms")

    @property
    def bounded(self) -> bool:
        return self.limit >= 0 or self.to_end


def run(values: Values) -> int:
    """Consume as a member of a share group. Returns the exit code."""
    plan = SharePlan(values)
    return run_loop(lambda stop: _consume(plan, stop))


async def _consume(plan: SharePlan, stop: Stop) -> int:
    from kcli.client import Client

    sink = Sink(stop=stop)
    try:
        async with Client(plan.connection.client()) as client:
            for topic in plan.topics:
                await partitions(client.cluster, topic)
            if plan.from_beginning:
                from kcli.cli.share_start import start_at_beginning

                await start_at_beginning(client.cluster, plan)
            share = ShareSettings(group=plan.group, explicit=True, exact=plan.limit >= 0)
            async with client.share_consumer(plan.settings, share) as consumer:
                reading = ShareReading(plan, consumer, sink)
                await stop.unless(consumer.subscribe(plan.topics))
                await reading.everything(stop)
    finally:
        sink.close()
    return _verdict(plan, reading, stop)


class ShareReading:
    """One run: what was written, and what became of the acknowledgements."""

    def __init__(self, plan: SharePlan, consumer: ShareConsumer, sink: Sink) -> None:
        self.plan = plan
        self.consumer = consumer
        self.sink = sink
        self.printer = Printer(plan.values, terminal=sink.terminal)
        self.left = plan.limit
        self.written = 0
        self.expired = 0  # offsets whose lock ran out before they were written
        self.refused: list[Outcome] = []
        self._began = self._heard_at = monotonic()
        consumer.on_outcome = self._outcomes

    async def everything(self, stop: Stop) -> None:
        """Print until the bound, the stop, or the reader of the output is gone."""
        plan, consumer = self.plan, self.consumer
        total = plan.limit if plan.limit >= 0 else None
        progress = Progress("consume", total, hidden=plan.connection.quiet or self.sink.terminal)
        try:
            while self.left != 0 and self.sink.open and not stop.asked:
                most = min(self.left, 2000) if self.left > 0 else None
                got = await stop.unless(consumer.poll(self._patience(), most))
                if got is None or (not got and self._at_end()):
                    break
                if got:
                    self._heard_at = monotonic()
                for one in got:
                    await self._print(one)
                progress.at(self.written)
            if plan.kind != "release" and not stop.asked:
                await stop.unless(consumer.commit())
        finally:
            progress.close()

    def _patience(self) -> float | None:
        if self.plan.to_end:
            return LOOK_UP
        return self.plan.timeout

    def _at_end(self) -> bool:
        """Nothing came. Raises DeadlineExceeded when that is all that was waited for."""
        plan, now = self.plan, monotonic()
        if plan.timeout is not None and now - self._heard_at >= plan.timeout:
            raise DeadlineExceeded(f"no record came for {plan.timeout * 1000:.0f} ms")
        if not plan.to_end:
            return False
        if self.consumer.drained:
            return True
        return not self.consumer.assignment and now - self._began >= GIVEN_NOTHING

    # -- one range --------------------------------------------------------------------------------------------------

    async def _print(self, one: Acquired) -> None:
        """Write a range and acknowledge what of it was written; the rest goes back."""
        at = TopicPartition(one.topic, one.partition)
        if self.left == 0 or not self.sink.open:
            self._give_back(one, one.first)
            return
        if asyncio.get_running_loop().time() >= one.deadline:
            self.expired += one.last - one.first + 1
            self._give_back(one, one.first)
            return
        following = one.last + 1
        for batch in one.batches:
            following = await self._batch(one, batch, at)
            if self.left == 0 or not self.sink.open:
                break
        else:
            following = one.last + 1
        if self.sink.buffer and not await self._flush(one):
            self._give_back(one, one.first)  # nobody knows how much of it was read
            return
        self._acknowledge(one, following - 1)
        if one.error is not None:
            if not self.plan.settings.skip_corrupt:
                raise finished(one.error, at, following)
            self.plan.leave_out(one.error, at)

    async def _batch(self, one: Acquired, given: Batch, at: TopicPartition) -> int:
        """One batch; returns the offset to go on from."""
        last = given.stop
        batch: Batch | None = given
        try:
            batch = self.plan.kept(given, at)
            while batch is not None and self.left != 0 and self.sink.open:
                limit = 1 if self.plan.single else self.left
                written, following = self.printer.put(self.sink.buffer, batch, at.topic, at.partition, limit)
                self.written += written
                self.left -= written if self.left > 0 else 0
                if self.left == 0:
                    return following
                if not self.plan.single or not written:
                    break
                if not await self._flush(one):
                    return given.first
                self._acknowledge(one, following - 1)
                batch.first = following
        except DecodeError as broken:
            if not self.plan.settings.skip_corrupt:
                if self.sink.buffer and await self._flush(one) and given.first > one.first:
                    self._acknowledge(one, given.first - 1)
            else:
                self._decide(one, given.first, last - 1, "reject")
            self.plan.leave_out(broken, at)
        return last

    async def _flush(self, one: Acquired) -> bool:
        """Write, and keep the lock meanwhile. False when the reader of the output left."""
        loop = asyncio.get_running_loop()
        writing = asyncio.ensure_future(self.sink.flush())
        try:
            while True:
                half = max((one.deadline - loop.time()) / 2, 0.05)
                await asyncio.wait({writing}, timeout=half)
                if writing.done():
                    return writing.result()
                if not await self.consumer.renew([one]):
                    return await writing
        finally:
            if not writing.done():
                writing.cancel()
                await asyncio.wait({writing})

    # -- what is said of it -----------------------------------------------------------------------------------------

    def _acknowledge(self, one: Acquired, last: int) -> None:
        """All up to `last` was written; what follows goes back."""
        for first, end in one.undecided.ranges():
            if first <= last:
                self._decide(one, first, min(end, last), self.plan.kind)
        if last < one.last and (self.left == 0 or not self.sink.open or not self.plan.single):
            self._give_back(one, last + 1)
        if self.plan.kind == "release":
            self.consumer.hold(one)

    def _give_back(self, one: Acquired, first: int) -> None:
        for low, high in one.undecided.ranges():
            if high >= first:
                self._decide(one, max(low, first), high, "release")

    def _decide(self, one: Acquired, first: int, last: int, kind: str) -> None:
        """Released records would come again at once, so they stay ours until the end; closing frees them."""
        if kind == "release" and self.plan.kind == "release":
            self.consumer.hold(one)
            return
        for low, high in one.undecided.ranges():
            if low <= last and high >= first:
                self.consumer.acknowledge(one, kind, max(low, first), min(high, last))

    def _outcomes(self, outcomes: list[Outcome]) -> None:
        """What a broker did not take, or may not have."""
        self.refused += [one for one in outcomes if one.error is not None and one.kind in ("accept", "reject")]


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
        f"{one.topic}[{one.partition}] offset {one.first}" + (f" to {one.last}" if one.last > one.first else "")
        + (": unknown, " if one.unknown else ": ") + str(one.error)
        for one in refused[:SENTENCES]
    ]  # fmt: skip
    if len(refused) > SENTENCES:
        places.append(f"and {len(refused) - SENTENCES} more")
    sure = [one.records for one in refused if not one.unknown]
    maybe = [one.records for one in refused if one.unknown]
    parts = [f"{text.records(sum(sure))} written and not {kind}ed, to be given again"] if sure else []
    parts += [f"{text.records(sum(maybe))} written, and nobody knows whether {kind}ed"] if maybe else []
    return f"{' and '.join(parts)}: {'; '.join(places)}"
