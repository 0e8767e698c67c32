"""The pace of bulk input: it lets the loop send, and does not run far ahead of it.

Input that is read before it can be sent costs fresh memory, and nothing is sent sooner. A pace and no bound: a
partition that is stuck holds the others up for a moment only.
"""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.batches.queue import PartitionQueue

AHEAD = 3  # batches of a partition that wait behind those in flight; more of small ones:
AHEAD_BYTES, AHEAD_SMALL = 64 * 1024, 64  # as many as come to this, and no more than this
PATIENCE = 0.05  # seconds


class Pacing:
    """`compresses`: batches are sealed in threads, and small ones wait like large ones."""

    def __init__(self, *, compresses: bool) -> None:
        self._compresses = compresses
        self._unpaced = 0  # small batches since a caller last let the loop run
        self.paused: list[tuple[PartitionQueue, int, asyncio.Future[None]]] = []
        """Pauses that last: the queue, how few waiting batches end it, and the future that does."""

    def runs_ahead(self, queue: PartitionQueue) -> bool:
        """Between two batches: whether the caller has to `pause`. Not after each of some small ones: that would cost
        more than they do."""
        ahead = self._ahead(queue)
        if ahead == AHEAD:
            return True
        self._unpaced += 1
        return self._unpaced >= AHEAD_SMALL or len(queue.waiting) >= ahead

    def room(self, queue: PartitionQueue) -> int:
        """How many small batches may be queued before `runs_ahead` is asked; one at least."""
        return max(self._ahead(queue) - len(queue.waiting), 1)

    def _ahead(self, queue: PartitionQueue) -> int:
        """How many batches may wait behind those in flight while more input is read."""
        size = queue.waiting[-1].size if queue.waiting else 0
        if size >= AHEAD_BYTES // AHEAD or not size or self._compresses:
            return AHEAD
        return min(AHEAD_BYTES // size, AHEAD_SMALL)

    async def pause(self, queue: PartitionQueue) -> None:
        """Let the loop run, until enough of the batches that wait have left."""
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
        """Batches have left the queues: end the pauses that waited for it."""
        for queue, enough, over in self.paused:
            if len(queue.waiting) < enough:
                _end(over)


def _end(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
