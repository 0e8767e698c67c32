"""The batches of one partition, in order: one open, some waiting, some in flight.

A batch that failed goes back to its place by sequence; while it is retried nothing else of the partition travels
(D25). Pure: time is an argument.
"""

from __future__ import annotations

from bisect import insort
from collections import deque

from kcli.producer.batch import ProducerBatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import TopicPartition
    from kcli.producer.sequence import Identity


class PartitionQueue:
    """See above. `waiting` and `in_flight` are sorted by the order in which batches were made."""

    __slots__ = ("at", "epoch", "in_flight", "needs_epoch", "next_sequence", "open", "producer_id", "waiting")

    def __init__(self, at: TopicPartition) -> None:
        self.at = at
        self.open: ProducerBatch | None = None
        self.waiting: deque[ProducerBatch] = deque()
        self.in_flight: list[ProducerBatch] = []
        self.producer_id = -1
        self.epoch = -1
        self.next_sequence = 0
        self.needs_epoch = False

    @property
    def depth(self) -> int:
        """Batches that are not settled."""
        return len(self.waiting) + len(self.in_flight) + (self.open is not None)

    def sendable(self, now: float, *, ordered: bool) -> ProducerBatch | None:
        """The batch that may go now, None if there is none. `ordered`: one in flight at a time."""
        if not self.waiting:
            return None
        head = self.waiting[0]
        if head.sealed is None or head.not_before > now or self.needs_epoch:
            return None
        if self.in_flight and (head.attempts or ordered or any(batch.attempts > 1 for batch in self.in_flight)):
            return None
        return head

    def send(self, batch: ProducerBatch) -> None:
        """The head of the queue leaves."""
        taken = self.waiting.popleft()
        assert taken is batch
        batch.attempts += 1
        self.in_flight.append(batch)

    def landed(self, batch: ProducerBatch) -> None:
        """An answer settled it."""
        self.in_flight.remove(batch)

    def back(self, batch: ProducerBatch) -> None:
        """It has to be sent again: to its place."""
        self.in_flight.remove(batch)
        ordered = list(self.waiting)
        insort(ordered, batch, key=lambda one: one.number)
        self.waiting = deque(ordered)

    def is_next_in_line(self, batch: ProducerBatch) -> bool:
        """No earlier batch of this partition is unsettled: an out-of-order answer to it is the truth (D26)."""
        earlier = (one for one in (*self.waiting, *self.in_flight) if one is not batch)
        return all(one.number > batch.number for one in earlier)

    def stamp(self, batch: ProducerBatch, identity: Identity) -> None:
        """Give the batch its identity and sequence when it is first sent; never again (D24, D19)."""
        assert batch.sealed is not None
        if batch.stamp is None:
            renewed = (self.producer_id, self.epoch) != (identity.producer_id, identity.epoch)
            # batches of the old epoch are still unsettled here: the old epoch goes on until they are
            if renewed and not any(one.stamp for one in (*self.in_flight, *self.waiting)):
                self.producer_id, self.epoch, self.next_sequence = identity.producer_id, identity.epoch, 0
            batch.stamp = (self.producer_id, self.epoch, self.next_sequence)
            self.next_sequence = after(self.next_sequence, batch.count)
            batch.sealed.stamp(*batch.stamp)

    def rewind(self, identity: Identity) -> None:
        """Begin a new epoch here: what waits gets new sequences from 0 (KIP-360)."""
        self.producer_id, self.epoch, self.next_sequence = identity.producer_id, identity.epoch, 0
        self.needs_epoch = False
        for batch in self.waiting:
            batch.stamp = None


def after(sequence: int, count: int) -> int:
    """The sequence `count` records on: after 2³¹−1 comes 0."""
    return (sequence + count) & 0x7FFFFFFF
