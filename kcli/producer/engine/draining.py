"""Chooses the batches of the next request to a leader: one per partition, `max_request_size` bytes in all."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.transactions.transaction import Transactions
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]

AHEAD = 3  # waiting batches per partition beyond those in flight; of small batches
AHEAD_BYTES, AHEAD_SMALL = 64 * 1024, 64  # as many as make up AHEAD_BYTES, at most AHEAD_SMALL
PATIENCE = 0.05  # seconds


class Draining:
    """Chooses batches for one node."""

    def __init__(
        self,
        node_id: int,
        cluster: Cluster,
        accumulator: Accumulator,
        settings: ProducerSettings,
        transactions: Transactions | None,
    ) -> None:
        self.node_id = node_id
        self._cluster = cluster
        self._accumulator = accumulator
        self._settings = settings
        self._transactions = transactions
        self._ordered = settings.max_in_flight == 1

    def ready(self, now: float) -> tuple[Sent, float | None]:
        """Return the batches of the next request, or when to check again.

        The least recently served partition comes first, so all get their turn. An open batch is closed only here, when
        it is sent, so that it fills until then.
        """
        accumulator, later = self._accumulator, None
        ready: Sent = []
        size = 0
        held = accumulator.held(now)
        for queue in self.mine():
            if not queue.waiting and (held or not accumulator.ripe(queue, now)):
                continue
            queue.belongs_to(self._cluster.topic_id(queue.at.topic))
            wanted = self._wanted(queue, now)
            if wanted is None:
                if queue.rested_at() > now:
                    later = min(later or 1e18, queue.rested_at())
                continue
            if self._transactions is not None and not self._transactions.admits(queue.at):
                continue
            if ready and size + wanted.size > self._settings.max_request_size:
                break
            size += self._take(queue, wanted, now, ready)
        if ready and accumulator.lingering and not accumulator.hurried and not accumulator.rush.on(now):
            self._take_along(now, ready, size)
        return ready, later

    def alone(self) -> PartitionQueue | None:
        """The only partition with unsettled batches that the node leads; None if there are several."""
        return self._accumulator.active.only(self.node_id)

    def has_more_than(self, batches: int) -> bool:
        """Whether more than `batches` batches are unsettled, over all leaders."""
        return len(self._accumulator.incomplete) > batches

    def has_ripe(self, queue: PartitionQueue, now: float) -> bool:
        """Whether the open batch of a partition without waiting batches should be sent now."""
        accumulator = self._accumulator
        return accumulator.ripe(queue, now) and not (self._settings.linger and accumulator.held(now))

    def of_one(self, queue: PartitionQueue, now: float) -> ProducerBatch | None:
        """Like `ready`, for the only partition of the node, if it has a waiting or ripe batch: that batch is the whole
        request."""
        batch = self._wanted(queue, now)
        if batch is None or (self._transactions is not None and not self._transactions.admits(queue.at)):
            return None
        if batch is queue.open:
            sealed = self._accumulator.seal(queue)
            if not sealed or queue.waiting[0] is not batch:  # it was too large
                return queue.sendable(now, self.node_id, ordered=self._ordered)
        return batch

    def _wanted(self, queue: PartitionQueue, now: float) -> ProducerBatch | None:
        """The batch of the queue that may be sent now, even if it is open."""
        if queue.waiting:
            return queue.sendable(now, self.node_id, ordered=self._ordered)
        batch = queue.open
        if batch is None or now < queue.held_until:
            return None
        if self._accumulator.sizing.estimates and not self._accumulator.closes_at_once(batch):
            return None
        return batch if queue.may_follow(ordered=self._ordered) else None

    def _take(self, queue: PartitionQueue, batch: ProducerBatch, now: float, ready: Sent) -> int:
        """Add a batch to the ready ones, closing it if open, and return its size. A batch larger than a request fails
        or is split instead."""
        if batch is queue.open:
            self._accumulator.seal(queue)
            if queue.sendable(now, self.node_id, ordered=self._ordered) is not batch:
                return 0
        ready.append((queue, batch))
        return batch.size

    def _take_along(self, now: float, ready: Sent, size: int) -> None:
        """Add batches whose linger is not over, while there is room: linger saves requests, and this request is sent
        anyway."""
        for queue in self.mine():
            batch = queue.open
            if batch is None or not batch.builder.count or queue.waiting:
                continue
            queue.belongs_to(self._cluster.topic_id(queue.at.topic))
            if self._wanted(queue, now) is None or size + batch.size > self._settings.max_request_size:
                continue
            if self._transactions is not None and not self._transactions.admits(queue.at):
                continue
            size += self._take(queue, batch, now, ready)

    def needed(self, now: float) -> bool:
        """Whether a batch is waiting for this node."""
        held, ripe = self._accumulator.held(now), self._accumulator.ripe
        return any(queue.waiting or (not held and ripe(queue, now)) for queue in self.mine())

    def mine(self) -> list[PartitionQueue]:
        """The partitions this node leads, the next to be served first."""
        return self._accumulator.active.led_by(self.node_id)

    def sent(self, queue: PartitionQueue) -> None:
        """Move the queue's batch to the ones in flight, and the queue to the end of the order."""
        self._accumulator.active.served(queue)


# The pace of bulk input: lets the loop send, so that input does not run far ahead of it.
#
# Reading input before it can be sent takes fresh memory and sends nothing sooner. The pace is not a hard limit: a stuck
# partition delays the others only briefly.
class Pacing:
    """`compresses`: batches are sealed in threads, and small ones wait like large ones."""

    def __init__(self, *, compresses: bool) -> None:
        self._compresses = compresses
        self._unpaced = 0  # small batches since a caller last yielded to the loop
        self.paused: list[tuple[PartitionQueue, int, asyncio.Future[None]]] = []
        """Pauses in progress: the queue, the number of waiting batches that ends the pause, and the future that ends
        it."""

    def runs_ahead(self, queue: PartitionQueue) -> bool:
        """Whether the caller has to `pause` before the next batch. With small batches not after each one, because
        pausing costs more than sending them."""
        ahead = self._ahead(queue)
        if ahead == AHEAD:
            return True
        self._unpaced += 1
        return self._unpaced >= AHEAD_SMALL or len(queue.waiting) >= ahead

    def room(self, queue: PartitionQueue) -> int:
        """How many small batches may be queued before the next call of `runs_ahead`; at least one."""
        return max(self._ahead(queue) - len(queue.waiting), 1)

    def _ahead(self, queue: PartitionQueue) -> int:
        """How many batches may wait beyond those in flight while more input is read."""
        size = queue.waiting[-1].size if queue.waiting else 0
        if size >= AHEAD_BYTES // AHEAD or not size or self._compresses:
            return AHEAD
        return min(AHEAD_BYTES // size, AHEAD_SMALL)

    async def pause(self, queue: PartitionQueue) -> None:
        """Let the loop run until enough waiting batches have been sent."""
        ahead = self._ahead(queue)
        self._unpaced = 0
        if len(queue.waiting) < ahead:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        place = queue, ahead if ahead == AHEAD else ahead // 2, over
        self.paused.append(place)
        alarm = loop.call_later(PATIENCE, _end, over)
        try:
            await over
        finally:
            alarm.cancel()
            self.paused.remove(place)

    def end_pauses(self) -> None:
        """End the pauses whose queues have become short enough."""
        for queue, enough, over in self.paused:
            if len(queue.waiting) < enough:
                _end(over)


def _end(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
