"""One run of `kcli consume`: what was fetched goes to stdout, a batch at a time, until the bound or the stop."""

from __future__ import annotations

import asyncio

from kcli.cli.commands.consume.selection import EARLIEST, finished
from kcli.cli.commands.consume.silence import Silence
from kcli.cli.output.progress import Progress
from kcli.cli.output.records.printer import Printer
from kcli.consumer.fetch.states import ENDED
from kcli.errors import DecodeError
from kcli.model import OffsetAndMetadata, TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable

    from kcli.cli.commands.consume.commits import Commits
    from kcli.cli.commands.consume.order.arrivals import Arrivals
    from kcli.cli.commands.consume.plan import Plan
    from kcli.cli.commands.consume.sink import Sink
    from kcli.cli.runtime.signals import Stop
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched
    from kcli.consumer.stall import Stall
    from kcli.model import Cluster
    from kcli.proto.batch import Batch

LONG = 1e9
GIVEN_NOTHING = 6.0  # seconds; Kafka's members tell and hear every 5 s
LOOK_UP = 5.0  # seconds: how often a member that waits looks up
FULL = 1024 * 1024  # bytes of output that are written before the next batch is added


class Reading:
    """One run: how much was written, and how much is left. `commits` is None without a group."""

    def __init__(self, plan: Plan, consumer: Consumer, sink: Sink, commits: Commits | None = None) -> None:
        self.plan = plan
        self.consumer = consumer
        self.sink = sink
        self.commits = commits
        self.printer = Printer(plan.options, terminal=sink.terminal, several=plan.several, decoding=plan.decoding)
        self.left = plan.limit
        self.written = 0
        self.passed = 0  # records that the filters looked at
        self.total: int | None = None if plan.limit < 0 else plan.limit
        self.joined = False
        self.log_ends: dict[TopicPartition, int] = {}  # where the logs of what a group gave us ended then
        self._arrivals: Arrivals | None = None
        self._silence = Silence(plan.timeout)
        self._stall: Stall | None = None
        if (plan.to_end or plan.end is not None) and plan.timeout is None:
            from kcli.consumer.stall import Stall

            self._stall = Stall(consumer)

    def follow(self, cluster: Cluster, places: list[TopicPartition]) -> None:
        """Also read what appears while we read: new partitions, new topics of a pattern."""
        from kcli.cli.commands.consume.order.arrivals import Arrivals

        self._arrivals = Arrivals(self.plan, cluster, places)
        if not places and not self.plan.connection.quiet and self.plan.pattern is not None:
            from kcli.cli.output.messages import complain

            complain(f"{', '.join(self.plan.pattern.patterns)}: no topic matches yet; waiting for one")

    def expect(self, span: dict[TopicPartition, tuple[int, int]]) -> None:
        """What will be read, where that is known: [start, stop) of each partition."""

    async def begin(self, work: Awaitable[None]) -> None:
        """Do what comes before the first record. Raises DeadlineExceeded at the end of --timeout."""
        await self._silence.limit(work)

    async def everything(self, stop: Stop) -> None:
        """Print until the bound, the stop, or the reader is gone."""
        hidden = self.plan.connection.quiet or self.sink.watched
        progress = Progress("consume", self.total if self.plan.bounded else None, hidden=hidden)
        try:
            while self.left != 0 and self.sink.open and not stop.asked and not self.finished:
                got = await stop.unless(self.consumer.poll(self._patience()), self.sink.left)
                if not got:
                    if got is None or self.finished:
                        break
                    await self._idle(stop)
                    continue
                self._silence.broken()
                for fetched in got:
                    await self._print(fetched)
                await self._now_and_then(stop)
                progress.at(self.written if self.plan.keep is None else self.passed)
        finally:
            progress.close()

    async def _now_and_then(self, stop: Stop) -> None:
        if self.commits is not None and self.commits.due:
            await stop.unless(self.commits.in_time())
        if self._arrivals is not None and not self._arrivals.wait:
            new = await stop.unless(self._arrivals.new())
            if new:
                self._arrived(new)

    def _arrived(self, new: set[TopicPartition]) -> None:
        starts = {at: self.plan.range.start_of(at.partition) for at in new}
        begin = {at: start if start is not None and start.kind == "time" else EARLIEST for at, start in starts.items()}
        self.plan.select_times(self.consumer, new)
        self.consumer.incremental_assign(begin)

    async def _idle(self, stop: Stop) -> None:
        await self._now_and_then(stop)
        if not self.consumer.assignment:
            await asyncio.sleep(0.02)  # between two assignments of the group
        self._silence.check()
        if self._stall is not None:
            self._stall.check()

    @property
    def finished(self) -> bool:
        """All is read up to the ends; a member that was given nothing has nothing to read."""
        if self.commits is None:
            return self.consumer.finished
        if not self.plan.to_end or (not self.joined and not self._left_out):
            return False
        if not self.consumer.assignment:
            return True
        return self._read_up and not self._past_the_log()

    @property
    def _read_up(self) -> bool:
        """Whether every partition that has a leader was read to its end."""
        left_out = self.plan.left_out.errors
        if not left_out:
            return self.consumer.finished
        return all(each.state == ENDED or at in left_out for at, each in self.consumer.fetch_states().items())

    def _past_the_log(self) -> bool:
        """A position after the end of the log was committed in another log: that is not to have read everything."""
        owned = self.consumer.assignment
        past = [
            at
            for at, end in self.log_ends.items()
            if at in owned and (position := self.consumer.position(at)) is not None and position > end
        ]
        for at in past:
            del self.log_ends[at]
            self.consumer.validate_position(at)
        return bool(past)

    @property
    def _left_out(self) -> bool:
        """A KIP-848 group says what it gives, never that it gives nothing: others may have to let go first, or a
        pattern may not be resolved yet. After a while of membership it is taken for its answer."""
        if self.plan.group is None or self.plan.group.protocol != "consumer":
            return False
        if self.consumer.group_metadata().generation <= 0:
            self._silence.broken()
        return self._silence.seconds >= GIVEN_NOTHING

    def _patience(self) -> float | None:
        """How long a poll may wait. A member looks up now and then: what it owns may have changed."""
        left = self._silence.left
        if self._arrivals is not None:
            return min(self._arrivals.wait, LONG if left is None else left)
        if self.commits is None:
            return left if self._stall is None else self._stall.step
        return min(0.2 if self.plan.to_end else LOOK_UP, LOOK_UP if left is None else left)

    async def _print(self, fetched: Fetched) -> None:
        """Write one partition's batches; what is written may be committed."""
        at = TopicPartition(fetched.topic, fetched.partition)
        if self.left == 0 or not self.sink.open:
            self._keep_before(fetched, at)
            return
        position = fetched.next_offset
        fetched.batches = self._readable(fetched.batches)
        for left_out in fetched.skipped:
            self.plan.leave_out(left_out, at)
        done = await self._at_once(fetched.batches, at)
        if done is None:
            return
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
                    if self.plan.keep is not None and written:  # what comes after the last match was not looked for
                        position = batch.columns().offsets[written - 1] + 1
                if not self.plan.single or not written:
                    break
                self.sink.holds = at, following - 1
                await self.sink.flush()
                batch.first = following
            if len(self.sink.buffer) >= FULL:
                self.sink.holds = at, given.stop - 1
                if not await self.sink.flush():
                    return
        self.plan.passed(at, position)
        self.sink.holds = at, position - 1
        if not self.sink.buffer or await self.sink.flush():
            self._finish(fetched, at, position)

    async def _at_once(self, batches: list[Batch], at: TopicPartition) -> int | None:
        """Print the first batches together, as far as that can be done: large values are written, others are
        in the buffer. How many batches; None when the reader left."""
        if self.left >= 0 or self.plan.single or self.plan.keep is not None:
            return 0
        pieces, records, sliced = self.printer.slices(batches) if self.sink.gathers else ([], 0, 0)
        self.written += records
        if pieces:
            self.sink.holds = at, batches[sliced - 1].stop - 1
            if not await self.sink.flush(pieces):
                return None
        written, done = self.printer.put_many(self.sink.buffer, batches[sliced:])
        self.written += written
        return sliced + done

    def _keep_before(self, fetched: Fetched, at: TopicPartition) -> None:
        """Records that came and are not wanted any more: the group's offset stays before them."""
        if fetched.batches and self.commits is not None:
            self.commits.unread(at, fetched.batches[0].first)

    def _finish(self, fetched: Fetched, at: TopicPartition, position: int) -> None:
        """Records up to `position` are written. Raises the partition's error."""
        if self.commits is not None:
            epoch = fetched.batches[-1].leader_epoch if fetched.batches else -1
            self.commits.written(at, OffsetAndMetadata(position, epoch))
        fetched.batches = []  # what was decompressed is not kept until the next poll has its own
        if fetched.error is not None:
            raise finished(fetched.error, at, position)

    def _readable(self, batches: list[Batch]) -> list[Batch]:
        """The same, where control records are asked for with those in words."""
        if not self.plan.settings.include_control:
            return batches
        from kcli.serde.markers import readable

        return [readable(batch) for batch in batches]

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
        if not self.plan.settings.skip_corrupt:
            written = not self.sink.buffer or await self.sink.flush()
            if written and self.commits is not None:
                self.commits.broken(at, batch.first)
        self.plan.leave_out(broken, at)
