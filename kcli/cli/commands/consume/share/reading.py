"""One run of `kcli consume --share-group`: a range at a time to stdout, then its acknowledgement."""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli.cli.commands.consume.selection import finished
from kcli.cli.commands.consume.silence import Silence
from kcli.cli.output.progress import Progress
from kcli.cli.output.records.printer import Printer
from kcli.errors import DecodeError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.share.plan import SharePlan
    from kcli.cli.commands.consume.sink import Sink
    from kcli.cli.runtime.signals import Stop
    from kcli.consumer.share.chunk import Acquired
    from kcli.consumer.share.consumer import ShareConsumer
    from kcli.consumer.share.ranges import Outcome
    from kcli.proto.batch import Batch
    from kcli.serde.payload_time import Decode

GIVEN_NOTHING = 12.0  # seconds; a share group's members hear every 5 s what they are given
LOOK_UP = 0.2


class ShareReading:
    """One run: what was written, and what became of the acknowledgements."""

    def __init__(self, plan: SharePlan, consumer: ShareConsumer, sink: Sink) -> None:
        self.plan = plan
        self.consumer = consumer
        self.sink = sink
        self.printer = Printer(plan.options, terminal=sink.terminal, several=plan.several, decoding=plan.decoding)
        self.decode: Decode | None = None
        self.left = plan.limit
        self.written = 0
        self.expired = 0  # offsets whose lock ran out before they were written
        self.refused: list[Outcome] = []
        self._began = monotonic()
        self._silence = Silence(plan.timeout)
        consumer.on_outcome = self._outcomes

    async def everything(self, stop: Stop) -> None:
        """Print until the bound, the stop, or the reader of the output is gone."""
        plan, consumer = self.plan, self.consumer
        total = plan.limit if plan.limit >= 0 else None
        progress = Progress("consume", total, hidden=plan.connection.quiet or self.sink.watched)
        try:
            while self.left != 0 and self.sink.open and not stop.asked:
                most = min(self.left, 2000) if self.left > 0 else None
                got = await stop.unless(consumer.poll(self._patience(), most), self.sink.left)
                if got is None or (not got and self._at_end()):
                    break
                if got:
                    self._silence.broken()
                for acquired in got:
                    await self._print(acquired)
                progress.at(self.written)
            if plan.kind != "release" and not stop.asked:
                await stop.unless(consumer.commit())
        finally:
            progress.close()

    def _patience(self) -> float | None:
        if self.plan.to_end:
            return LOOK_UP
        return self._silence.left

    def _at_end(self) -> bool:
        """Nothing came. Raises DeadlineExceeded when that is all that was waited for."""
        self._silence.check()
        if not self.plan.to_end:
            return False
        if self.consumer.drained:
            return True
        return not self.consumer.assignment and monotonic() - self._began >= GIVEN_NOTHING

    # -- one range --------------------------------------------------------------------------------------------------

    async def _print(self, acquired: Acquired) -> None:
        """Write a range and acknowledge what of it was written; the rest goes back."""
        at = TopicPartition(acquired.topic, acquired.partition)
        if self.left == 0 or not self.sink.open:
            self._give_back(acquired, acquired.first)
            return
        if asyncio.get_running_loop().time() >= acquired.deadline:
            self.expired += acquired.last - acquired.first + 1
            self._give_back(acquired, acquired.first)
            return
        following = acquired.last + 1
        for batch in acquired.batches:
            following = await self._batch(acquired, batch, at)
            if self.left == 0 or not self.sink.open:
                break
        else:
            following = acquired.last + 1
        if self.sink.buffer and not await self._flush(acquired):
            self._give_back(acquired, acquired.first)  # how much of it was read is unknown
            return
        self._acknowledge(acquired, following - 1)
        if acquired.error is not None:
            if not self.plan.settings.skip_corrupt:
                raise finished(acquired.error, at, following)
            self.plan.leave_out(acquired.error, at)

    async def _batch(self, acquired: Acquired, given: Batch, at: TopicPartition) -> int:
        """One batch; returns the next offset."""
        last = given.stop
        batch: Batch | None = given
        try:
            batch = given if self.decode is None else await self.decode(given, at.topic, at.partition)
            batch = self.plan.kept(batch, at)
            while batch is not None and self.left != 0 and self.sink.open:
                limit = 1 if self.plan.single else self.left
                written, following = self.printer.put(self.sink.buffer, batch, at.topic, at.partition, limit)
                self.written += written
                self.left -= written if self.left > 0 else 0
                if self.left == 0:
                    return following
                if not self.plan.single or not written:
                    break
                if not await self._flush(acquired):
                    return given.first
                self._acknowledge(acquired, following - 1)
                batch.first = following
        except DecodeError as broken:
            if not self.plan.settings.skip_corrupt:
                if self.sink.buffer and await self._flush(acquired) and given.first > acquired.first:
                    self._acknowledge(acquired, given.first - 1)
            else:
                self._decide(acquired, given.first, last - 1, "reject")
            self.plan.leave_out(broken, at)
        return last

    async def _flush(self, acquired: Acquired) -> bool:
        """Write, and keep the lock meanwhile. False when the reader of the output left."""
        loop = asyncio.get_running_loop()
        writing = asyncio.ensure_future(self.sink.flush())
        try:
            while True:
                half = max((acquired.deadline - loop.time()) / 2, 0.05)
                await asyncio.wait({writing}, timeout=half)
                if writing.done():
                    return writing.result()
                if not await self.consumer.renew([acquired]):
                    return await writing
        finally:
            if not writing.done():
                writing.cancel()
                await asyncio.wait({writing})

    # -- acknowledgements -------------------------------------------------------------------------------------------

    def _acknowledge(self, acquired: Acquired, last: int) -> None:
        """All up to `last` was written; what follows goes back."""
        for first, end in acquired.undecided.ranges():
            if first <= last:
                self._decide(acquired, first, min(end, last), self.plan.kind)
        if last < acquired.last and (self.left == 0 or not self.sink.open or not self.plan.single):
            self._give_back(acquired, last + 1)
        if self.plan.kind == "release":
            self.consumer.hold(acquired)

    def _give_back(self, acquired: Acquired, first: int) -> None:
        for low, high in acquired.undecided.ranges():
            if high >= first:
                self._decide(acquired, max(low, first), high, "release")

    def _decide(self, acquired: Acquired, first: int, last: int, kind: str) -> None:
        """Released records would come again at once, so they stay ours until the end; closing frees them."""
        if kind == "release" and self.plan.kind == "release":
            self.consumer.hold(acquired)
            return
        for low, high in acquired.undecided.ranges():
            if low <= last and high >= first:
                self.consumer.acknowledge(acquired, kind, max(low, first), min(high, last))

    def _outcomes(self, outcomes: list[Outcome]) -> None:
        """What a broker did not take, or may not have."""
        self.refused += [
            outcome for outcome in outcomes if outcome.error is not None and outcome.kind in ("accept", "reject")
        ]
