"""Copies batches from a source to a destination.

A batch that needs no change is copied in encoded form (kcli/proto/forward.py). A batch that a range cuts, that has
gaps, or that needs another partition or codec is copied record by record. A position is stored after everything before
it was acknowledged: an interrupted copy may publish records again, and loses none. With transactions the position is
stored together with the records, so neither happens.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.consumer.stall import Stall
from kcli.copying.positions import Positions
from kcli.copying.rate import Rate
from kcli.errors import DecodeError, KcliError, UnknownOutcome
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.producer.producer import BatchOutcome, Producer
from kcli.producer.transactions.state import AbortRequired
from kcli.proto.batch import Batch
from kcli.proto.forward import why_not
from kcli.tasks import shielded
from kcli.values import Frozen, Value

if TYPE_CHECKING:
    from kcli.producer.intake.send_records import Row

    class Stop(Protocol):
        """Whether the copy was asked to end (kcli/cli/runtime/signals.py)."""

        asked: bool

        async def unless(self, work: Coroutine[Any, Any, T]) -> T | None: ...


T = TypeVar("T")
Keep = Callable[[Batch, TopicPartition], Batch | None]
Rewrite = Callable[[Batch, str, int], Coroutine[Any, Any, Batch]]
LeaveOut = Callable[[KcliError, TopicPartition], None]

STORE_EVERY = 5.0  # seconds
LAST_ABORT = 2.0  # seconds for an abort after requests without a response


class Interrupted(KcliError):
    """The copy was asked to end before a batch was complete."""


class CopySettings(Frozen):
    """What of each batch is copied, and how.

    `keep` filters records; with `place` records keep their partition, otherwise it is chosen again; `encode` compresses
    batches as the producer's settings say. `limit` is the maximum number of records to copy. Without `positions`
    nothing is stored; with `transactional` they are part of the producer's transactions, every `store_every` seconds.
    `leave_out` is called with damaged batches, and raises if they must not be skipped; without it they are raised.
    `rewrite` changes schema ids in a batch.
    """

    keep: Keep | None = None
    place: bool = True
    encode: bool = False
    rate: Rate | None = None
    limit: int | None = None
    positions: Positions | None = None
    transactional: bool = False
    store_every: float = STORE_EVERY
    leave_out: LeaveOut | None = None
    rewrite: Rewrite | None = None


class Copier:
    """Copies what `consumer` returns to `topic`."""

    def __init__(self, consumer: Consumer, producer: Producer, topic: str, settings: CopySettings) -> None:
        self._consumer = consumer
        self._producer = producer
        self._topic = topic
        self._settings = settings
        self._left = settings.limit
        self._rate, self._positions = settings.rate, settings.positions
        self._transactional = settings.transactional
        self._stop: Stop | None = None
        self._stored_at = 0.0
        self._done: dict[TopicPartition, OffsetAndMetadata] = {}
        self._open = False
        self._pending = 0  # acknowledged in the open transaction
        self._ending: asyncio.Task[None] | None = None
        self.tally = Tally()
        self.problem: KcliError | None = None
        self.on_progress: Callable[[], None] | None = None
        producer.on_batch = self._settled

    @property
    def full(self) -> bool:
        """Whether the limit is reached, a record was lost, or the copy was asked to end."""
        return self._left == 0 or self.problem is not None or (self._stop is not None and self._stop.asked)

    @property
    def unanswered(self) -> int:
        """Number of records that may be published, without an acknowledgement yet."""
        if self._transactional:
            return self._pending if self._ending is not None and not self._ending.done() else 0
        return self._producer.unanswered

    def _settled(self, outcome: BatchOutcome) -> None:
        if outcome.error is None:
            if self._transactional:
                self._pending += outcome.count
            else:
                self.tally.copied += outcome.count
            return
        if outcome.unknown and not self._transactional:
            self.tally.unknown += outcome.count
        else:
            self.tally.failed += outcome.count
        self.problem = self.problem or outcome.error

    # -- copying ----------------------------------------------------------------------------------------------------

    async def everything(self, stop: Stop) -> None:
        """Copy until the end, the limit, the stop, or an error. Records on their way at that point are not
        stored yet."""
        self._stop = stop
        await stop.unless(self._everything())

    async def _everything(self) -> None:
        """Copy everything. Can be cancelled anywhere: a destination that does not respond must not delay a signal."""
        stall = Stall(self._consumer)
        while not self.full and not self._consumer.finished:
            got = await self._consumer.poll(min(self._settings.store_every, 1.0))
            stall.check(got)
            for fetched in got:
                await self.take(fetched)
            await self._store_in_time()

    async def take(self, fetched: Fetched) -> None:
        """Copy the records returned for one partition. Raises KcliError."""
        at = TopicPartition(fetched.topic, fetched.partition)
        for damaged in fetched.skipped:
            self._without(damaged, at)
        for batch in fetched.batches:
            if self.full:
                return
            try:
                await self._batch(at, batch)
            except DecodeError as broken:
                self._without(broken, at)
        if not self.full:  # includes what was not a record: markers, aborted, compacted
            self._done[at] = OffsetAndMetadata(fetched.next_offset)
        if fetched.error is not None:
            raise fetched.error

    def _without(self, damaged: KcliError, at: TopicPartition) -> None:
        if self._settings.leave_out is None:
            raise damaged
        self._settings.leave_out(damaged, at)

    async def _batch(self, at: TopicPartition, batch: Batch) -> None:
        self.tally.bytes += batch.size
        kept = batch if self._settings.keep is None else self._settings.keep(batch, at)
        if kept is not None and self._left is not None and kept.visible > self._left:
            kept.stop = batch.stop = kept.columns().offsets[self._left]
        if kept is not None and self._settings.rewrite is not None:
            kept = await self._settings.rewrite(kept, at.topic, at.partition)
        records, wanted = batch.visible, 0 if kept is None else kept.visible
        self.tally.read += records
        self.tally.filtered += records - wanted
        following = min(batch.stop, batch.last_offset + 1)
        if kept is not None:
            if self._left is not None:
                self._left -= wanted
            rest = wanted
            try:
                for part in self._slices(kept):
                    if part.first > kept.base_offset and self.problem is not None:  # between two slices
                        self.tally.read -= rest
                        return
                    await self._slow_down(part)
                    await self._begin()
                    before = self._producer.counts.accepted
                    try:
                        await self._send(at, part)
                    finally:
                        rest -= self._taken(at, part, min(part.stop, following), before)
                    if part.stop < following:
                        await self._store_in_time()
            except asyncio.CancelledError:
                self.tally.read -= rest
                raise
        self._done[at] = OffsetAndMetadata(following)
        if self.on_progress is not None:
            self.on_progress()
        await self._store_in_time()

    def _taken(self, at: TopicPartition, part: Batch, following: int, before: int) -> int:
        """Return how many records of a part the producer accepted. If it accepted only some, none of the part may be
        committed."""
        taken, wanted = self._producer.counts.accepted - before, part.visible
        if taken >= wanted:
            self._done[at] = OffsetAndMetadata(following)
        elif taken and self._transactional:
            text = "interrupted within a batch: its transaction was not committed"
            self.problem = self.problem or Interrupted(f"{at.topic}[{at.partition}]: {text}")
        return min(taken, wanted)

    def _slices(self, batch: Batch) -> Iterator[Batch]:
        """Yield the batch, or windows of it in steps that a rate allows."""
        if self._rate is None or batch.visible <= self._rate.slice:
            yield batch
            return
        offsets, stop = batch.columns().offsets, batch.stop
        for begin in range(0, len(offsets), self._rate.slice):
            end = begin + self._rate.slice
            batch.first, batch.stop = offsets[begin], offsets[end] if end < len(offsets) else stop
            yield batch

    async def _slow_down(self, batch: Batch) -> None:
        if self._rate is not None:
            wait = self._rate.take(batch.visible, batch.size, asyncio.get_running_loop().time())
            while wait > 0:  # no transaction stays open that long
                await asyncio.sleep(min(wait, self._settings.store_every))
                wait -= self._settings.store_every
                await self._store_in_time()

    async def _send(self, at: TopicPartition, batch: Batch) -> None:
        """Send a batch. Raises CorruptBatch before anything of it is sent, and the producer's errors."""
        untouched = self._settings.place and not self._settings.encode and why_not(batch) is None
        rows = [] if untouched else self._rows(at, batch)
        try:
            if untouched:
                await self._producer.send_batch(self._topic, at.partition, batch)
                self.tally.untouched += batch.count
            else:
                await self._producer.send_records(self._topic, rows)
        except KcliError as problem:
            if self._transactional:  # records before a bad one were accepted: they must not be committed without it
                self.problem = self.problem or problem
            raise

    def _rows(self, at: TopicPartition, batch: Batch) -> list[Row]:
        partition = at.partition if self._settings.place else None
        return [(partition, _time(record.timestamp), record.key, record.value, record.headers) for record in batch]

    # -- positions --------------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        if self._transactional and not self._open:
            await self._producer.begin()
            self._open = True

    async def _store_in_time(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._stored_at == 0.0:
            self._stored_at = now
        if now - self._stored_at >= self._settings.store_every:
            await self.store()

    async def store(self) -> None:
        """Wait until everything sent is acknowledged (or its transaction committed), then store the position. Raises
        the error if that fails."""
        done, self._done = self._done, {}
        try:
            await self._producer.flush()
            if self._transactional:
                await self._commit(done)
            else:
                if self.problem is not None:
                    raise self.problem
                if self._positions is not None:
                    await self._positions.write(done)
        except asyncio.CancelledError:
            self._done = {**done, **self._done}
            raise
        self._stored_at = asyncio.get_running_loop().time()

    async def _commit(self, done: dict[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit. A commit in progress continues if this is cancelled: its outcome counts."""
        if self._ending is None or self._ending.done():
            self._ending = asyncio.ensure_future(self._end(done))
        await shielded(self._ending)

    async def _end(self, done: dict[TopicPartition, OffsetAndMetadata]) -> None:
        if not self._open:
            if self._positions is not None:  # nothing was copied since, so no transaction is needed
                await self._positions.write(done)
            return
        try:
            if self._positions is not None:
                await self._producer.send_offsets(done, GroupMetadata(self._positions.group))
            await self._producer.commit()
        except UnknownOutcome:
            self._open = False
            self.tally.unknown, self._pending = self.tally.unknown + self._pending, 0
            raise
        except AbortRequired as problem:
            await self.give_up()
            raise self.problem or problem from problem
        self._open = False
        self.tally.copied, self._pending = self.tally.copied + self._pending, 0

    async def give_up(self) -> None:
        """Abort the open transaction: nothing of it is published."""
        if self._open:
            self._open = False
            try:
                await self._producer.abort()
            finally:
                self.tally.failed, self._pending = self.tally.failed + self._pending, 0

    async def abandon(self) -> None:
        """End without waiting: the outcome of a commit in progress is unknown, and an open transaction is aborted if
        that is quick, else by its coordinator."""
        if self._ending is not None and not self._ending.done():
            self._ending.cancel()
            await asyncio.wait({self._ending})
            self._open = False
            self.tally.unknown, self._pending = self.tally.unknown + self._pending, 0
        with contextlib.suppress(KcliError, TimeoutError):
            async with asyncio.timeout(LAST_ABORT):
                await self.give_up()


def _time(timestamp: int) -> int | None:
    """Return the timestamp; None for a record in message format 0, which has none and gets the current time."""
    return timestamp if timestamp >= 0 else None


class Tally(Value):
    """`read` = `copied` + `filtered` + `failed` + `unknown` + records still on their way. `bytes` are of batches as
    fetched."""

    read: int = 0
    filtered: int = 0
    copied: int = 0
    failed: int = 0
    unknown: int = 0
    untouched: int = 0  # copied records whose batch was forwarded unchanged
    bytes: int = 0

    @property
    def on_the_way(self) -> int:
        return self.read - self.copied - self.filtered - self.failed - self.unknown
