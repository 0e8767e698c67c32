"""Handles responses and lost requests: settles batches through the ledger, or returns them to be sent again, as `judge`
decides."""

from __future__ import annotations

from enum import Enum

from kcli import codes
from kcli.backoff import after
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded
from kcli.producer.batches.accumulator import split
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.codes import ErrorCode
    from kcli.errors import KcliError
    from kcli.metrics.observer import ProducerObserver
    from kcli.model import Cluster
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.batch import Answer, ProducerBatch
    from kcli.producer.batches.ledger import Ledger
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.settings import ProducerSettings

LOG = Log("producer")


class Returns:
    """`on_ready` is called when something may be sent again."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        accumulator: Accumulator,
        ledger: Ledger,
        on_ready: Callable[[], None],
        observer: ProducerObserver,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._accumulator = accumulator
        self._ledger = ledger
        self._on_ready = on_ready
        self._observer = observer
        self.waited = observer.metrics.queue_time
        """Receives the seconds from the start of a batch to its first sending."""
        self.time: Callable[[], float]
        """The loop's clock, set by the engine when it starts."""

    def stored(self, queue: PartitionQueue, batch: ProducerBatch, offset: int, append_time: int, now: float) -> None:
        """Handle a stored batch."""
        if batch.settled:
            return  # the delivery timeout came first
        sealed = batch.sealed
        size, raw = (sealed.size, sealed.raw_size) if sealed is not None else (batch.size, batch.size)
        self._ledger.acknowledge(queue, batch, offset, append_time)
        self._observer.written(batch.at, batch.sent_to, (batch.count, size, raw), offset, now - batch.created)

    def answered(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer) -> None:
        """Handle a response."""
        if batch.settled:
            return  # the delivery timeout came first
        code = answer.code
        if not code:
            self.stored(queue, batch, answer.base_offset, answer.append_time, self.time())
            return
        verdict = judge(
            code,
            records=batch.count,
            next_in_line=queue.is_next_in_line(batch),
            idempotent=self._settings.idempotence,
        )
        if code.forget == "leader":
            self._forget_leader(batch, answer)
        if verdict is Verdict.DONE:
            # a duplicate: its offset is not known
            self.stored(queue, batch, -1, answer.append_time, self.time())
            return
        batch.maybe_written = batch.maybe_written or maybe_written(code, self._settings.acks)
        batch.trouble = str(BrokerError(code, "", answer.message))
        if verdict is Verdict.SPLIT:
            LOG.info("%s[%d]: %d bytes are too large for the broker; the batch is split", *batch.at, batch.size)
            self._observer.metrics.splits += 1
            self._accumulator.sizing.too_large(batch.at.topic, batch.raw, batch.size)
            self._accumulator.replace(queue, batch, split(batch, self._settings))
            self._on_ready()
        elif verdict is Verdict.FAILED:
            self._ledger.refuse(queue, batch, answer)
        elif verdict is Verdict.NEW_EPOCH and self._settings.transactional_id is not None:
            self._ledger.refuse(queue, batch, answer)  # a transaction gets a new epoch only after an abort
        elif self._settings.idempotence and (code is codes.OUT_OF_ORDER_SEQUENCE_NUMBER or code in LOST_SEQUENCE):
            self._out_of_order(queue, batch, answer, renew=verdict is Verdict.NEW_EPOCH)
        elif batch.retries >= self._settings.retries:
            self._ledger.refuse(queue, batch, answer)
        else:
            moved = (
                answer.leader_id not in (-1, batch.sent_to) and self._cluster.leader_id(batch.at) == answer.leader_id
            )
            self._again(queue, batch, wait=not moved)  # a node that names itself as leader has not caught up yet: wait

    def _out_of_order(self, queue: PartitionQueue, batch: ProducerBatch, answer: Answer, *, renew: bool) -> None:
        """Handle a gap: send the batch again after the missing one, or in a new epoch. This uses no retry."""
        if answer.code is codes.OUT_OF_ORDER_SEQUENCE_NUMBER and not batch.doubtful:
            batch.maybe_written = False  # the sequence proves that it is not in the log
        if renew and batch.maybe_written:
            # the broker forgot the producer: a retry could store the batch twice
            self._ledger.refuse(queue, batch, answer)
            return
        queue.needs_epoch = queue.needs_epoch or renew
        LOG.warning("%s[%d]: %d records are sent again: %s", *batch.at, batch.count, batch.trouble)
        self._observer.retried(batch.at, batch.retries + 1, batch.trouble)
        queue.back(batch)
        queue.hold(self.time(), self._settings.retry_backoff)
        self._on_ready()

    def lost(self, queue: PartitionQueue, batch: ProducerBatch, problem: KcliError) -> None:
        """Handle a lost request. The batch may only be retried at its old position."""
        if batch.settled:
            return
        arrived = may_have_arrived(problem)
        batch.trouble = str(problem)
        batch.maybe_written = batch.maybe_written or arrived
        self._forget_leader(batch)
        spent = batch.retries >= self._settings.retries
        if spent or not problem.retriable or (self._settings.acks == 0 and arrived):
            self._ledger.fail(queue, batch, problem)
        else:
            self._again(queue, batch, wait=True)

    def _forget_leader(self, batch: ProducerBatch, answer: Answer | None = None) -> None:
        """Discard the cached leader unless it has already changed: five batches in flight report one change."""
        if answer is not None and answer.leader_id >= 0:
            self._cluster.leader_moved(batch.at, answer.leader_id, answer.leader_epoch, answer.endpoint)
        elif self._cluster.leader_id(batch.at) == batch.sent_to:
            self._cluster.leader_moved(batch.at)

    def _again(self, queue: PartitionQueue, batch: ProducerBatch, *, wait: bool) -> None:
        now, first = self.time(), self._settings.retry_backoff
        if wait:
            batch.not_before = now + after(batch.retries, first, self._settings.retry_backoff_max)
        batch.retries += 1
        LOG.warning(
            "%s[%d]: %d records are sent again (retry %d): %s", *batch.at, batch.count, batch.retries, batch.trouble
        )
        self._observer.retried(batch.at, batch.retries, batch.trouble)
        queue.back(batch)
        queue.hold(now, first)
        self._on_ready()


def may_have_arrived(problem: KcliError) -> bool:
    """Whether the broker may have executed the request that failed with this error."""
    return isinstance(problem, ConnectError | DeadlineExceeded) and problem.sent


class Verdict(Enum):
    DONE = "done"
    AGAIN = "again"
    SPLIT = "split"
    NEW_EPOCH = "new epoch"
    FAILED = "failed"


MAYBE_WRITTEN = (
    codes.REQUEST_TIMED_OUT,
    codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.NETWORK_EXCEPTION,  # also used for batches that the response does not mention
    codes.UNKNOWN_SERVER_ERROR,
    codes.KAFKA_STORAGE_ERROR,
)
LOST_SEQUENCE = (codes.UNKNOWN_PRODUCER_ID, codes.INVALID_PRODUCER_EPOCH)


def judge(code: ErrorCode, *, records: int, next_in_line: bool, idempotent: bool) -> Verdict:
    """Decide about a batch with `records` records. A duplicate counts as success with an unknown offset."""
    if not code or code is codes.DUPLICATE_SEQUENCE_NUMBER:
        return Verdict.DONE
    if code is codes.MESSAGE_TOO_LARGE:
        return Verdict.SPLIT if records > 1 else Verdict.FAILED
    if idempotent and (code is codes.OUT_OF_ORDER_SEQUENCE_NUMBER or code in LOST_SEQUENCE):
        return Verdict.NEW_EPOCH if next_in_line else Verdict.AGAIN
    return Verdict.AGAIN if code.retriable else Verdict.FAILED


def maybe_written(code: ErrorCode, acks: int) -> bool:
    """Whether a batch may be in the log although the response is an error. A leader that was deposed while the replicas
    were still fetching answers NOT_LEADER, and its successor may have the batch."""
    return code in MAYBE_WRITTEN or (acks == -1 and code is codes.NOT_LEADER_OR_FOLLOWER)
