"""`kcli consume --order`: a bounded read merged exactly, then what comes, put in order as far as it comes together.

A partition that is ahead is paused until the others have caught up, so what is in memory is bounded.
"""

from __future__ import annotations

from time import monotonic

from kcli.cli.commands.consume.order.merge import FOREVER, WINDOW, Merge
from kcli.cli.commands.consume.reading import Reading
from kcli.cli.commands.consume.selection import finished
from kcli.cli.output.progress import Progress
from kcli.errors import DeadlineExceeded, DecodeError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.commands.consume.plan import Plan
    from kcli.cli.commands.consume.sink import Sink
    from kcli.cli.runtime.signals import Stop
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched
    from kcli.proto.batch import Batch

ROOM = 32 * 1024 * 1024  # bytes that may wait, over all partitions; a partition's next batch always may
LEAST, WRITE = 16 * 1024, 1 << 16


def room_of_each(partitions: int) -> int:
    """Bytes of one partition that may wait."""
    return max(ROOM // max(partitions, 1), LEAST)


class OrderedReading(Reading):
    """A run with `--order`."""

    def __init__(self, plan: Plan, consumer: Consumer, sink: Sink) -> None:
        super().__init__(plan, consumer, sink)
        self._merge = Merge(plan.leave_out)
        self._ends: dict[TopicPartition, int] = {}
        self._written: dict[TopicPartition, int] = {}
        self._room = LEAST
        self._over = False

    def expect(self, span: dict[TopicPartition, tuple[int, int]]) -> None:
        """The partitions in their order, and the range of each that is merged exactly."""
        self._merge.add(span)
        self._written = {at: start for at, (start, _) in span.items()}
        self._ends = {at: stop for at, (_, stop) in span.items()}
        self._room = room_of_each(len(span))
        for at, (start, stop) in span.items():
            self._merge.streams[at].caught_up = start >= stop

    async def everything(self, stop: Stop) -> None:
        """Print until the bound, the stop, or the reader is gone."""
        hidden = self.plan.connection.quiet or self.sink.watched
        progress = Progress("consume", self.total if self.plan.bounded else None, hidden=hidden)
        try:
            while self.left != 0 and self.sink.open and not stop.asked:
                got = await stop.unless(self.consumer.poll(self._patience(), ROOM), self.sink.left)
                if got is None:
                    break
                for fetched in got:
                    self._take(fetched)
                await self._write()
                self._hold_back()
                if self.finished:
                    break
                await (self._now_and_then(stop) if got else self._idle(stop))
                progress.at(self.written if self.plan.keep is None else self.passed)
            for at in self._merge.streams if self.left != 0 else ():
                self.plan.passed(at, FOREVER)  # records that filters dropped after the last one that was printed
        finally:
            progress.close()

    def _patience(self) -> float | None:
        patience = super()._patience()
        if self._merge.waiting:
            return WINDOW if patience is None else min(WINDOW, patience)
        return patience

    async def _idle(self, stop: Stop) -> None:
        try:
            await super()._idle(stop)
        except DeadlineExceeded:
            self._over = True
            await self._write()  # no later call writes the records that wait for their turn
            if self.left != 0:
                raise

    def _arrived(self, new: set[TopicPartition]) -> None:
        super()._arrived(new)
        self._merge.add(sorted(new), caught_up=True)

    def _take(self, fetched: Fetched) -> None:
        """What was fetched waits for its turn."""
        at = TopicPartition(fetched.topic, fetched.partition)
        stream = self._merge.streams[at]
        now = monotonic()
        self._silence.broken()
        for left_out in fetched.skipped:
            self.plan.leave_out(left_out, at)
        for batch in self._readable(fetched.batches):
            try:
                self.passed += batch.visible if self.plan.keep is not None else 0
                kept = self.plan.kept(batch, at)
            except DecodeError as broken:
                self.plan.leave_out(broken, at)
                continue
            if kept is not None:
                stream.give(kept, now)
        if fetched.error is not None:
            raise finished(fetched.error, at, self._written.get(at, 0))
        if fetched.next_offset >= self._ends.get(at, 0):
            stream.caught_up = True

    def _runs(self) -> Iterator[tuple[TopicPartition, Batch]]:
        merge = self._merge
        if self.plan.order == "offset":
            yield from merge.by_partition()
            return
        yield from merge.by_time()
        if not all(stream.caught_up for stream in merge.streams.values()):
            return
        full = any(stream.size >= self._room for stream in merge.streams.values())
        if self.consumer.finished or self._over or full:
            yield from merge.rest()
        else:
            yield from merge.late(monotonic() - WINDOW)

    async def _write(self) -> None:
        """Whatever may be written now."""
        out = self.sink.buffer
        for at, batch in self._runs():
            after = batch.stop
            while True:
                limit = 1 if self.plan.single else self.left
                try:
                    count, following = self.printer.put(out, batch, at.topic, at.partition, limit)
                except DecodeError as broken:
                    await self.sink.flush()
                    self.plan.leave_out(broken, at)
                    break
                self.written += count
                self.plan.passed(at, following)
                self.sink.holds = at, following - 1
                self.left -= count if self.left > 0 else 0
                if not self.plan.single or not count or self.left == 0:
                    break
                if not await self.sink.flush():
                    return
                batch.first = following
            self._written[at] = after
            if self.left == 0 or (len(out) >= WRITE and not await self.sink.flush()):
                break
        if out:
            await self.sink.flush()

    def _hold_back(self) -> None:
        """Pause partitions that are ahead, resume those with half of their room free again."""
        paused = self.consumer.paused
        for at, stream in self._merge.streams.items():
            if at in paused:
                if stream.size * 2 <= self._room:
                    self.consumer.resume(at)
            elif stream.size >= self._room and at in self.consumer.assignment:
                self.consumer.pause(at)
