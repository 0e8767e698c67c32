"""The batches of one partition, in order: one open, some waiting, some in flight.

A batch that failed goes back to its place by number; while it is retried nothing else of the partition travels
(D25). Pure: time is an argument.
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
    """See above. `waiting` and `in_flight` are sorted by number. `needs_epoch`: a sequence was used up by a batch
    that may not be in the log, so what comes next needs a new epoch (D27)."""

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
        self.proven = False  # the leader has stored something of this epoch
        self.topic_id = b""
        self.leader = -1  # as last looked up
        self.leaders_version = -1  # as of then
        self.held_until = 0.0  # nothing goes before, to whomever
        self.returns: Floor | None = None  # how often batches may come back and go again at once
        self.of_before: tuple[int, ...] = ()  # the last batch that was sent to another topic of this name

    @property
    def depth(self) -> int:
        """Batches that are not settled."""
        return len(self.waiting) + len(self.in_flight) + (self.open is not None)

    def sendable(self, now: float, node_id: int, *, ordered: bool) -> ProducerBatch | None:
        """The batch that may go to that node now, or None. `ordered`: one in flight at a time."""
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
            return None  # backing off, unless another broker leads now (D30)
        return head

    def may_follow(self, *, ordered: bool) -> bool:
        """Whether the open batch, closed now, could go at once."""
        return not self.waiting and not self.needs_epoch and (not self.in_flight or self._follows(ordered=ordered))

    def _follows(self, *, ordered: bool) -> bool:
        """A batch that was never sent may go behind those in flight, of which there are some."""
        first = self.in_flight[0]
        if ordered or first.resent:
            return False
        # of a producer it has never seen a leader takes any sequence: #2 before #1, if #1 failed
        return first.stamp is None or self.proven

    def send(self, batch: ProducerBatch, node_id: int) -> None:
        """The head of the queue leaves."""
        taken = self.waiting.popleft()
        assert taken is batch
        batch.resent = batch.sent
        batch.sent, batch.sent_to = True, node_id
        self.in_flight.append(batch)

    def landed(self, batch: ProducerBatch) -> None:
        """It is settled, or split: out of the queue, wherever it was."""
        if batch in self.in_flight:
            self.in_flight.remove(batch)
        elif batch in self.waiting:
            self.waiting.remove(batch)

    def back(self, batch: ProducerBatch) -> None:
        """It has to be sent again: to its place."""
        self.in_flight.remove(batch)
        self.insert(batch)

    def hold(self, now: float, pause: float) -> None:
        """A batch came back. Some may go again at once, to another leader or in a new epoch; where that does not end
        there is `pause` between two."""
        if self.returns is None:
            self.returns = Floor(max(LEAST, pause))
        self.held_until = now + self.returns.wait(now)

    def rested_at(self) -> float:
        """When the next batch may be sent, to the broker that had it."""
        return max(self.waiting[0].not_before, self.held_until) if self.waiting else self.held_until

    def insert(self, batch: ProducerBatch) -> None:
        """Put it among the waiting by its number."""
        ordered = list(self.waiting)
        insort(ordered, batch, key=lambda batch: batch.number)
        self.waiting = deque(ordered)

    def is_next_in_line(self, batch: ProducerBatch) -> bool:
        """No earlier batch of this partition is unsettled: an out-of-order answer to it is the truth (D26)."""
        earlier = (other for other in (*self.waiting, *self.in_flight) if other is not batch)
        return all(other.number > batch.number for other in earlier)

    # -- sequences --------------------------------------------------------------------------------------------------

    def stamp(self, batch: ProducerBatch, identity: Identity) -> None:
        """Give the batch its identity and sequence when it is first sent; never again (D24, D19)."""
        assert batch.sealed is not None
        if batch.stamp is None:
            renewed = (self.producer_id, self.epoch) != (identity.producer_id, identity.epoch)
            # batches of the old epoch are still unsettled here: the old epoch continues until they are settled
            if renewed and not any(batch.stamp for batch in (*self.in_flight, *self.waiting)):
                self._begin(identity)
            batch.stamp = (self.producer_id, self.epoch, self.next_sequence)
            self.next_sequence = after(self.next_sequence, batch.count)
            batch.sealed.stamp(*batch.stamp)

    def may_begin_epoch(self) -> bool:
        """A new epoch is wanted, nothing is on the wire, and the next batch is known not to be in the log. A batch that
        may be in the log is first sent once more under its old sequence, which shows it (else it would be stored
        twice)."""
        return self.needs_epoch and not self.in_flight and not (self.waiting and self._unresolved(self.waiting[0]))

    def rewind(self, identity: Identity) -> None:
        """Begin a new epoch here: what waits gets new sequences from 0 (KIP-360)."""
        self._begin(identity)
        self.needs_epoch = False
        for batch in self.waiting:
            batch.stamp = None

    def stored(self, batch: ProducerBatch) -> None:
        """The leader has it."""
        if batch.stamp is not None and batch.stamp[:2] == (self.producer_id, self.epoch):
            self.proven = self.proven or batch.number > self.of_before

    def belongs_to(self, topic_id: bytes) -> None:
        """Note the topic id of the next batch. A topic that was created again does not know the producer (C8)."""
        if topic_id != self.topic_id:
            for batch in (*self.in_flight, *self.waiting):
                if batch.sent and self.topic_id not in (b"", NO_ID):
                    batch.doubtful = True  # what the new topic says of its sequence proves nothing about the old one
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
    """The sequence `count` records on: after 2³¹−1 comes 0."""
    return (sequence + count) & 0x7FFFFFFF


class NoProducerId(KcliError):
    """An answer with neither an id nor an error, which another broker may give."""

    retriable = True

    def __init__(self) -> None:
        super().__init__("the broker gives no producer id, and no error either; enable.idempotence=false needs none")


class Identity:
    """Id -1 until it is needed, and for a producer that is not idempotent."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._lock = asyncio.Lock()
        self.producer_id = -1
        self.epoch = -1
        self.unreachable: ConnectError | None = None  # why no broker could be asked for one, last time

    @property
    def missing(self) -> bool:
        """An idempotent producer without its id."""
        return self._settings.idempotence and self.producer_id < 0

    async def obtain(self) -> None:
        """Ask the cluster for an id; whatever passes is retried until the delivery timeout.
        Raises BrokerError (not authorised), AuthError, UnsupportedVersion, ConnectError, DeadlineExceeded,
        KcliError (an answer without an id)."""
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
        """The next epoch; after the last one a new id has to be obtained."""
        if self.epoch >= LAST_EPOCH:
            self.producer_id = self.epoch = -1
        else:
            self.epoch += 1
        LOG.info("producer id %d, epoch %d: a sequence was lost", self.producer_id, self.epoch)
