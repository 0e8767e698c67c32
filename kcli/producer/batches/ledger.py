"""The ledger: settles every accepted record exactly once, as acknowledged, failed or unknown.

Only this module settles batches: the promises, the batch's share of the budget, the counts and the report change in one
step, so no record is counted twice or forgotten.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli import codes
from kcli.errors import BrokerError, BufferFull, ConnectError, UnknownOutcome
from kcli.producer.batches.batch import BatchOutcome
from kcli.proto.core import Counted, Taken
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.errors import KcliError
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.batch import Answer, ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.settings import ProducerSettings

LOG = Log("producer")
PRODUCE = 0


class Counts(Counted):
    """Records by outcome. `accepted` is the sum of the others and of the records without an outcome yet."""

    __slots__ = ("acked", "failed", "unknown")

    def __init__(self) -> None:
        super().__init__()
        self.acked = self.failed = self.unknown = 0

    def __repr__(self) -> str:
        return f"Counts(accepted={self.accepted}, acked={self.acked}, failed={self.failed}, unknown={self.unknown})"


class Ledger:
    """`on_settled` is called with the queue of each settled batch, after its memory was released."""

    def __init__(
        self,
        settings: ProducerSettings,
        budget: Budget,
        on_settled: Callable[[PartitionQueue], None],
    ) -> None:
        self._settings = settings
        self._budget = budget
        self._on_settled = on_settled
        self.on_batch: Callable[[BatchOutcome], None] | None = None
        """Called with each settled batch, if set by the producer."""
        self.on_failure: Callable[[KcliError], None] | None = None  # of a transactional producer
        self.accumulator: Accumulator  # the two refer to each other; the engine connects them
        self.counts = Counts()
        self.failed_batches = 0  # including unknown ones
        self.changed = asyncio.Event()  # set when a batch was settled or a sender left; flush waits for it

    def acknowledge(self, queue: PartitionQueue, batch: ProducerBatch, base_offset: int, append_time: int) -> None:
        """Settle a stored batch. `base_offset` is -1 if unknown."""
        self.counts.acked += batch.count
        if not queue.proven:
            queue.stored(batch)
        if batch.outcome is not None:
            batch.outcome.keep(base_offset, append_time)
        self._settle(queue, batch, base_offset, None)

    def refuse(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer) -> None:
        """Settle a batch with a final error of the broker."""
        about = f"{batch.at.topic}[{batch.at.partition}]"
        text = answer.message
        if answer.code is codes.MESSAGE_TOO_LARGE:
            text = f"a record of {batch.size} bytes is larger than the topic allows (max.message.bytes)"
        error = BrokerError(answer.code, about, text, api=PRODUCE, topic=batch.at.topic)
        own: dict[int, KcliError] = {}
        if answer.records:
            own = {index: BrokerError(answer.code, about, reason) for index, reason in answer.records.items()}
            error = BrokerError(answer.code, about, "it was part of a batch with invalid records")
        self.fail(queue, batch, error, own)

    def too_large(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        """Settle a single record that no request can carry, before anything is sent."""
        text = self._settings.too_large(batch.size)
        self.fail(queue, batch, BrokerError(codes.MESSAGE_TOO_LARGE, f"{batch.at.topic}[{batch.at.partition}]", text))

    def expire(self, queue: PartitionQueue, batch: ProducerBatch, unreachable: ConnectError | None = None) -> None:
        """Settle a batch whose delivery timeout is over. `unreachable` is why it could not even be sent, if known."""
        batch.maybe_written = batch.maybe_written or batch in queue.in_flight
        text = f"not acknowledged within {self._settings.delivery_timeout:g} s (delivery.timeout.ms)"
        if batch.trouble:
            text += f"; the last attempt: {batch.trouble}"
        elif unreachable is not None and batch.stamp is None:
            place = f"{batch.at.topic}[{batch.at.partition}]"
            self.fail(queue, batch, ConnectError(f"{place}: {text}; {unreachable}"))
            return
        self.fail(queue, batch, BrokerError(codes.REQUEST_TIMED_OUT, f"{batch.at.topic}[{batch.at.partition}]", text))

    def fail(
        self, queue: PartitionQueue, batch: ProducerBatch, error: KcliError, own: dict[int, KcliError] | None = None
    ) -> None:
        """Settle a batch that is given up: failed, or unknown if it may be in the log. `own` are errors of single
        records."""
        self.failed_batches += 1
        if batch.maybe_written:
            self.counts.unknown += batch.count
        else:
            self.counts.failed += batch.count
        if batch.stamp is not None:
            queue.needs_epoch = True  # its sequence is used up, and it may or may not be in the log
        if self.on_failure is not None:
            self.on_failure(error)
        if batch.outcome is not None:
            batch.outcome.fail(_unknown(error) if batch.maybe_written else error, own)
        first = next(iter(own.values()), error) if own else error
        became = "may be stored or not" if batch.maybe_written else "are not stored"
        LOG.warning("%s[%d]: %d records %s: %s", *batch.at, batch.count, became, first)
        self._settle(queue, batch, -1, first)

    def unanswered(self) -> int:
        """Number of records that would be unknown if they were given up now."""
        queues = self.accumulator.active.values()
        return sum(batch.count for queue in queues for batch in queue.in_flight) + sum(
            batch.count for queue in queues for batch in queue.waiting if batch.maybe_written
        )

    def fail_everything(self, error: KcliError, not_stored: KcliError | None = None) -> None:
        """Settle the remaining batches, in order. Those on the wire may still be stored; the others fail with
        `not_stored`, if given."""
        for queue in self._all_waiting():
            for batch in sorted((*queue.in_flight, *queue.waiting), key=lambda batch: batch.number):
                batch.maybe_written = batch.maybe_written or batch in queue.in_flight
                why = error if batch.maybe_written else not_stored or error
                if isinstance(why, BrokerError) and why.code is codes.CLUSTER_AUTHORIZATION_FAILED:
                    why = BrokerError(why.code, why.about, api=PRODUCE, topic=batch.at.topic)
                self.fail(queue, batch, why)

    def fail_unsent(self, error: KcliError) -> None:
        """Settle the batches that are not on the wire, in order."""
        for queue in self._all_waiting():
            for batch in list(queue.waiting):
                self.fail(queue, batch, error)

    def _all_waiting(self) -> list[PartitionQueue]:
        """Return every queue with unsettled batches, ending its open batch."""
        self.accumulator.end_all()
        return list(self.accumulator.active.values())

    def _settle(self, queue: PartitionQueue, batch: ProducerBatch, base_offset: int, error: KcliError | None) -> None:
        batch.settled = True
        self.accumulator.settled(queue, batch)
        self._budget.give(batch.charged, batch.count)
        self.changed.set()
        self._on_settled(queue)
        if self.on_batch is None or not batch.count:
            return
        unknown = error is not None and batch.maybe_written
        try:
            self.on_batch(BatchOutcome(*batch.at, batch.count, base_offset, error, unknown))
        except Exception as problem:  # noqa: BLE001 - the caller's mistake must not stop other records
            loop = asyncio.get_running_loop()
            loop.call_exception_handler({"message": "on_batch raised", "exception": problem})


def _unknown(error: KcliError) -> UnknownOutcome:
    """Return the error for records that may be in the log."""
    unknown = UnknownOutcome(f"{error}; the record may still have been stored")
    unknown.__cause__ = error
    return unknown


class Budget(Taken):
    """The limit for accepted and unsettled data, in bytes and in records."""

    def __init__(self, max_bytes: int, max_records: int, on_full: Callable[[], None] | None = None) -> None:
        self._on_full = on_full  # called when a sender has to wait: lingering batches must be sent now
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.bytes = 0
        self.records = 0
        self.waiters: deque[tuple[int, int, asyncio.Future[None]]] = deque()

    @property
    def waiting(self) -> int:
        """Number of callers that wait for room."""
        return len(self.waiters)

    @property
    def pressed(self) -> bool:
        """Whether more than half of the memory is taken."""
        return 2 * self.bytes > self.max_bytes or 2 * self.records > self.max_records

    def fits(self, size: int, records: int) -> bool:
        return self.bytes + size <= self.max_bytes and self.records + records <= self.max_records

    def take_now(self, size: int, records: int) -> bool:
        """Take room if there is enough and no other caller is waiting."""
        if self.waiters or self.bytes + size > self.max_bytes or self.records + records > self.max_records:
            return False
        self.bytes += size
        self.records += records
        return True

    async def take(self, size: int, records: int, timeout: float, *, block: bool = True) -> None:
        """Take room for `size` bytes, waiting up to `timeout` seconds. Raises BufferFull."""
        if size > self.max_bytes or records > self.max_records:
            raise BufferFull(
                f"{size} bytes are more than the producer's whole buffer of {self.max_bytes} (buffer.memory)"
            )
        if self.take_now(size, records):
            return
        if not block:
            raise self.full()
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (size, records, room)
        self.waiters.append(place)
        if self._on_full is not None:
            self._on_full()
        try:
            async with asyncio.timeout(timeout):
                await room
        except BaseException as problem:
            if room.done() and not room.cancelled() and room.exception() is None:
                self.give(size, records)  # the room was given at the moment of the timeout
            else:
                if place in self.waiters:
                    self.waiters.remove(place)
                self._wake()
            if isinstance(problem, TimeoutError):
                raise BufferFull(
                    f"the producer's buffer of {self.max_bytes} bytes stayed full for {timeout:g} s (max.block.ms): "
                    "the cluster does not take records as fast, or does not answer"
                ) from None
            raise

    def full(self) -> BufferFull:
        """Return the error for a caller that does not wait."""
        return BufferFull(f"the producer's buffer of {self.max_bytes} bytes is full (buffer.memory)")

    def refuse(self, error: Exception) -> None:
        """Fail each caller that waits for room with the error."""
        for _, _, room in self.waiters:
            if not room.done():
                room.set_exception(error)

    def give(self, size: int, records: int) -> None:
        """Release room, and wake the callers it is enough for, in order."""
        self.bytes -= size
        self.records -= records
        if self.waiters:
            self._wake()

    def _wake(self) -> None:
        while self.waiters:
            size, records, room = self.waiters[0]
            if not room.done() and not self.fits(size, records):
                return
            self.waiters.popleft()
            if room.done():
                continue  # cancelled, but its task has not run yet
            self.bytes += size
            self.records += records
            room.set_result(None)
