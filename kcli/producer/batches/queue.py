"""The batches of one partition, in order: one open, some waiting, some in flight.

A batch that failed returns to its position by number; while it is retried, no other batch of the partition is sent.
Free of I/O: time is an argument.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import deque

from kcli import codes
from kcli.backoff import LEAST, Backoff, Floor, retry
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.producer.batches.batch import ProducerBatch
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.proto.schema import NO_ID
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster, TopicPartition
    from kcli.settings import ProducerSettings

LOG = Log("producer")
LAST_EPOCH = 32767


class PartitionQueue:
    """The queue of a partition. `waiting` and `in_flight` are sorted by number. `needs_epoch`: a sequence was used by a
    batch that may not be in the log, so the next batches need a new epoch."""

    __slots__ = (
        "at",
        "epoch",
        "held_until",
        "in_flight",
        "leader",
        "leaders_version",
        "needs_epoch",
        "next_sequence",
        "of_before",
        "open",
        "producer_id",
        "proven",
        "returns",
        "topic_id",
        "waiting",
    )

    def __init__(self, at: TopicPartition) -> None:
        self.at = at
        self.open: ProducerBatch | None = None
        self.waiting: deque[ProducerBatch] = deque()
        self.in_flight: list[ProducerBatch] = []
        self.producer_id = -1
        self.epoch = -1
        self.next_sequence = 0
        self.needs_epoch = False
        self.proven = False  # the leader has stored a batch of this epoch
        self.topic_id = b""
        self.leader = -1  # cached leader
        self.leaders_version = -1  # version of the metadata it comes from
        self.held_until = 0.0  # no batch is sent before this time, to any broker
        self.returns: Floor | None = None  # limits how often returned batches are resent at once
        self.of_before: tuple[int, ...] = ()  # number of the last batch sent to a deleted topic of this name

    @property
    def depth(self) -> int:
        """Number of unsettled batches."""
        return len(self.waiting) + len(self.in_flight) + (self.open is not None)

    def sendable(self, now: float, node_id: int, *, ordered: bool) -> ProducerBatch | None:
        """Return the batch that may be sent to that node now, or None. `ordered`: only one may be in flight."""
        if not self.waiting:
            return None
        head = self.waiting[0]
        if head.sealed is None or head.sealing or (self.needs_epoch and not self._unresolved(head)):
            return None
        if self.in_flight and (head.sent or not self._follows(ordered=ordered)):
            return None
        if now < self.held_until:
            return None
        if now < head.not_before and head.sent_to == node_id:
            return None  # backing off, unless the leader has changed
        return head

    def may_follow(self, *, ordered: bool) -> bool:
        """Whether the open batch, if closed now, could be sent at once."""
        return not self.waiting and not self.needs_epoch and (not self.in_flight or self._follows(ordered=ordered))

    def _follows(self, *, ordered: bool) -> bool:
        """Whether a batch that was never sent may be sent while others are in flight."""
        first = self.in_flight[0]
        if ordered or first.resent:
            return False
        # a leader accepts any first sequence of an unknown producer: #2 before #1, if #1 failed
        return first.stamp is None or self.proven

    def send(self, batch: ProducerBatch, node_id: int) -> None:
        """Move the head of the queue to the batches in flight."""
        taken = self.waiting.popleft()
        assert taken is batch
        batch.resent = batch.sent
        batch.sent, batch.sent_to = True, node_id
        self.in_flight.append(batch)

    def landed(self, batch: ProducerBatch) -> None:
        """Remove a batch that was settled or split, wherever it is."""
        if batch in self.in_flight:
            self.in_flight.remove(batch)
        elif batch in self.waiting:
            self.waiting.remove(batch)

    def back(self, batch: ProducerBatch) -> None:
        """Return a batch to its position, to be sent again."""
        self.in_flight.remove(batch)
        self.insert(batch)

    def hold(self, now: float, pause: float) -> None:
        """Delay the queue after a batch came back. A few may be resent at once, to another leader or in a new epoch;
        after that, one per `pause`."""
        if self.returns is None:
            self.returns = Floor(max(LEAST, pause))
        self.held_until = now + self.returns.wait(now)

    def rested_at(self) -> float:
        """When the next batch may be sent to the broker that had it before."""
        return max(self.waiting[0].not_before, self.held_until) if self.waiting else self.held_until

    def insert(self, batch: ProducerBatch) -> None:
        """Insert a batch into the waiting ones by its number."""
        ordered = list(self.waiting)
        insort(ordered, batch, key=lambda batch: batch.number)
        self.waiting = deque(ordered)

    def is_next_in_line(self, batch: ProducerBatch) -> bool:
        """Whether no earlier batch of this partition is unsettled, so that an out-of-order error can be believed."""
        earlier = (other for other in (*self.waiting, *self.in_flight) if other is not batch)
        return all(other.number > batch.number for other in earlier)

    # -- sequences --------------------------------------------------------------------------------------------------

    def stamp(self, batch: ProducerBatch, identity: Identity) -> None:
        """Set the producer identity and sequence of a batch when it is first sent; later calls change nothing."""
        assert batch.sealed is not None
        if batch.stamp is None:
            renewed = (self.producer_id, self.epoch) != (identity.producer_id, identity.epoch)
            # while batches of the old epoch are unsettled, the old epoch continues
            if renewed and not any(batch.stamp for batch in (*self.in_flight, *self.waiting)):
                self._begin(identity)
            batch.stamp = (self.producer_id, self.epoch, self.next_sequence)
            self.next_sequence = after(self.next_sequence, batch.count)
            batch.sealed.stamp(*batch.stamp)

    def may_begin_epoch(self) -> bool:
        """Whether a new epoch is needed and can begin: nothing is on the wire, and the next batch is certainly not in
        the log.

        A batch that may be in the log is first sent again under its old sequence, which tells whether it is; in a new
        epoch it could be stored twice.
        """
        return self.needs_epoch and not self.in_flight and not (self.waiting and self._unresolved(self.waiting[0]))

    def rewind(self, identity: Identity) -> None:
        """Begin a new epoch: the waiting batches get new sequences from 0 (KIP-360)."""
        self._begin(identity)
        self.needs_epoch = False
        for batch in self.waiting:
            batch.stamp = None

    def stored(self, batch: ProducerBatch) -> None:
        """Record that the leader has stored a batch."""
        if batch.stamp is not None and batch.stamp[:2] == (self.producer_id, self.epoch):
            self.proven = self.proven or batch.number > self.of_before

    def belongs_to(self, topic_id: bytes) -> None:
        """Record the topic id of the next batch. A topic that was created again does not know the producer."""
        if topic_id != self.topic_id:
            for batch in (*self.in_flight, *self.waiting):
                if batch.sent and self.topic_id not in (b"", NO_ID):
                    batch.doubtful = True  # the new topic's view of its sequence proves nothing about the old topic
            self.topic_id = topic_id
            self.proven = False
            self.of_before = max((batch.number for batch in self.in_flight), default=())

    def _begin(self, identity: Identity) -> None:
        self.producer_id, self.epoch, self.next_sequence = identity.producer_id, identity.epoch, 0
        self.proven = False

    @staticmethod
    def _unresolved(batch: ProducerBatch) -> bool:
        return batch.maybe_written and batch.stamp is not None


def after(sequence: int, count: int) -> int:
    """Return the sequence number `count` records later; 2³¹−1 is followed by 0."""
    return (sequence + count) & 0x7FFFFFFF


class NoProducerId(KcliError):
    """The response has neither an id nor an error; another broker may do better."""

    retriable = True

    def __init__(self) -> None:
        super().__init__("the broker gives no producer id, and no error either; enable.idempotence=false needs none")


class Identity:
    """Producer id and epoch. The id is -1 until it is needed, and always for a producer that is not idempotent."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._lock = asyncio.Lock()
        self.producer_id = -1
        self.epoch = -1
        self.unreachable: ConnectError | None = None  # why no broker could be asked for an id the last time

    @property
    def missing(self) -> bool:
        """Whether an idempotent producer has no id yet."""
        return self._settings.idempotence and self.producer_id < 0

    async def obtain(self) -> None:
        """Request an id from the cluster, retrying temporary errors until the delivery timeout.

        Raises BrokerError (not authorised), AuthError, UnsupportedVersion, ConnectError, DeadlineExceeded, KcliError (a
        response without an id).
        """
        async with self._lock:
            if not self.missing:
                return
            settings = self._settings
            until = asyncio.get_running_loop().time() + settings.delivery_timeout
            await retry(self._ask, Backoff(settings.retry_backoff, settings.retry_backoff_max), until)

    async def _ask(self) -> None:
        try:
            broker = await self._cluster.anyone()
            answer = await broker.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
        except (ConnectError, DeadlineExceeded) as problem:
            if problem.retriable:
                self.unreachable = problem if isinstance(problem, ConnectError) else None
            raise
        code = codes.of(answer.error_code)
        if code:
            raise BrokerError(code, "producer id", api=InitProducerIdRequest.api_key)
        if answer.producer_id < 0 or answer.producer_epoch < 0:
            raise NoProducerId
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.unreachable = None
        LOG.info("producer id %d, epoch %d", self.producer_id, self.epoch)

    def bump(self) -> None:
        """Begin the next epoch; after the last one, a new id is needed."""
        if self.epoch >= LAST_EPOCH:
            self.producer_id = self.epoch = -1
        else:
            self.epoch += 1
        LOG.info("producer id %d, epoch %d: a sequence was lost", self.producer_id, self.epoch)
