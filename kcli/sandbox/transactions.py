"""The transaction coordinator: every step of a transaction is written to the journal before it is executed, so that
after a crash a decided transaction is completed and an open one times out (KIP-98, 360, 447, 890)."""

from __future__ import annotations

import asyncio
import time
from asyncio import TimerHandle
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any, Protocol

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.quorum import Features
from kcli.sandbox.cluster.topics import Partition, Topics
from kcli.sandbox.log.batches import CHECKED_FROM, CONTROL, LAYOUT, SIZE, TRANSACTIONAL, Header, checksum
from kcli.sandbox.log.recovery import State

# The state of a transactional id at its coordinator: its producer, and the progress of its transaction.
#
# Empty → Ongoing → PrepareCommit or PrepareAbort (decided, markers being written) → CompleteCommit or CompleteAbort →
# Ongoing … (KIP-98). These functions only decide; `Transactions` writes to the journal and acts.


EMPTY, ONGOING = "Empty", "Ongoing"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"
DECIDED = (PREPARE_COMMIT, PREPARE_ABORT)
STATES = (EMPTY, ONGOING, *DECIDED, COMPLETE_COMMIT, COMPLETE_ABORT)
KNOWN_TO_KAFKA = (*STATES, "Dead", "PrepareEpochFence")  # names a filter may use
LAST_EPOCH = 32766  # the next one only ever fences; then a new producer id is due
_KEPT = ("producer_id", "previous_id", "next_id", "epoch", "last_epoch", "timeout_ms", "state", "started", "bumps")
ABORT, COMMIT = 0, 1
COORDINATOR_EPOCH = 0  # one process: no older coordinator can be left over
_RECORD = Struct(">bbbbbhhbhib")  # lengths and deltas are varints of one byte; key (version, type), value, no headers
_MARKER_SIZE = SIZE + _RECORD.size


class Transaction:
    """Times are in ms. `partitions` and `groups` are those that the open transaction writes to."""

    def __init__(self, name: str, producer_id: int, timeout_ms: int) -> None:
        self.id = name
        self.producer_id = producer_id
        self.previous_id = -1  # before the id was exhausted
        self.next_id = -1  # to be used after the markers are written
        self.epoch = -1
        self.last_epoch = -1  # an epoch that a retry may still have
        self.timeout_ms = timeout_ms
        self.state = EMPTY
        self.started = -1
        self.bumps = False  # ended with an epoch bump: protocol v2 (KIP-890)
        self.partitions: dict[tuple[str, int], None] = {}
        self.groups: dict[str, None] = {}
        self.timer: TimerHandle | None = None

    @classmethod
    def restored(cls, facts: dict[str, Any]) -> Transaction:
        transaction = cls(facts["id"], facts["producer_id"], facts["timeout_ms"])
        transaction.take(facts)
        return transaction

    def take(self, facts: dict[str, Any]) -> None:
        """Restore the state from the journal's `facts`."""
        for name in _KEPT:
            setattr(self, name, facts[name])
        self.partitions = dict.fromkeys((topic, index) for topic, index in facts["partitions"])
        self.groups = dict.fromkeys(facts["groups"])

    def facts(self) -> dict[str, Any]:
        """Return the state for the journal."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in _KEPT}
        return {"id": self.id, **kept, "partitions": list(self.partitions), "groups": list(self.groups)}

    def stop_timer(self) -> None:
        """Stop the timer of the transaction's timeout, or of the next attempt to complete it."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    @property
    def exhausted(self) -> bool:
        return self.epoch >= LAST_EPOCH

    # -- the producer that may write--------------------------------------------------------------------------------

    def check_instance(self, producer_id: int, epoch: int) -> None:
        """Check the former identity in an InitProducerId (KIP-360). Raises BrokerError PRODUCER_FENCED."""
        retried_last = producer_id == self.previous_id and epoch >= LAST_EPOCH
        if self.epoch >= 0 and producer_id != self.producer_id and not retried_last:
            raise BrokerError(codes.PRODUCER_FENCED)

    def renew(self, expected: int | None, timeout_ms: int, fresh_id: int | None) -> None:
        """Set the next epoch, or `fresh_id` with epoch 0 if this id is exhausted.

        `expected` is the producer's previous epoch; if that is the one before the current, the response was lost and is
        repeated. Raises BrokerError PRODUCER_FENCED.
        """
        if fresh_id is not None:
            self.previous_id, self.producer_id = self.producer_id, fresh_id
            self.last_epoch, self.epoch = self.epoch if expected is not None else -1, 0
        elif expected is None or self.epoch < 0 or expected == self.epoch:
            self.last_epoch, self.epoch = self.epoch if expected is not None else -1, self.epoch + 1
        elif expected != self.last_epoch:
            raise BrokerError(codes.PRODUCER_FENCED)
        self.timeout_ms, self.state, self.started = timeout_ms, EMPTY, -1

    def check_writer(self, producer_id: int, epoch: int) -> None:
        """Raises BrokerError INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS."""
        if producer_id != self.producer_id:
            raise BrokerError(codes.INVALID_PRODUCER_ID_MAPPING)
        if epoch != self.epoch:
            raise BrokerError(codes.PRODUCER_FENCED, message=f"epoch {epoch}, current is {self.epoch}")
        if self.state in DECIDED:
            raise BrokerError(codes.CONCURRENT_TRANSACTIONS)

    def add(self, partitions: list[tuple[str, int]], groups: list[str], now: int) -> None:
        """Add partitions or groups, which starts the transaction if it was not ongoing."""
        if self.state != ONGOING:
            self.state, self.started = ONGOING, now
        self.partitions.update(dict.fromkeys(partitions))
        self.groups.update(dict.fromkeys(groups))

    # -- the end ----------------------------------------------------------------------------------------------------

    def may_end(self, producer_id: int, epoch: int, *, commit: bool, bump: bool) -> bool:
        """Whether EndTxn has something to do; False for a retry of a finished one. Raises BrokerError
        INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE."""
        bumped = bump and self.bumps and epoch + 1 == self.epoch and producer_id == self.producer_id
        overflowed = bump and self.bumps and producer_id == self.previous_id and epoch == LAST_EPOCH and self.epoch == 0
        if producer_id != self.producer_id and not overflowed:
            raise BrokerError(codes.INVALID_PRODUCER_ID_MAPPING)
        retried = self.state in (*DECIDED, COMPLETE_COMMIT, COMPLETE_ABORT) and (bumped or overflowed)
        if epoch != self.epoch and not retried:
            raise BrokerError(codes.PRODUCER_FENCED, message=f"epoch {epoch}, current is {self.epoch}")
        if self.state == ONGOING:
            return True
        if self.state in DECIDED:
            if commit == (self.state == PREPARE_COMMIT):
                raise BrokerError(codes.CONCURRENT_TRANSACTIONS)
        elif (retried or not bump) and self.state == (COMPLETE_COMMIT if commit else COMPLETE_ABORT):
            return False
        elif bump and not retried and not commit:
            return True  # nothing was added, and an abort still gives a new epoch
        raise BrokerError(codes.INVALID_TXN_STATE, message=f"the transaction is {self.state}")

    def decide(self, *, commit: bool, bump: bool, next_id: int, now: int, fence: bool = False) -> None:
        """Decide the outcome; it is final, also after a crash. With `bump` (KIP-890) and with `fence` (ended by another
        client than the producer) the markers carry the next epoch, and the old one is invalid."""
        if self.state != ONGOING:
            self.started = now
        self.state = PREPARE_COMMIT if commit else PREPARE_ABORT
        self.bumps, self.next_id = bump, next_id
        if bump or fence:
            self.last_epoch, self.epoch = self.epoch, self.epoch + 1

    def complete(self) -> None:
        """All markers are written."""
        self.state = COMPLETE_COMMIT if self.state == PREPARE_COMMIT else COMPLETE_ABORT
        self.partitions, self.groups = {}, {}
        if self.next_id >= 0:
            self.previous_id, self.producer_id, self.next_id = self.producer_id, self.next_id, -1
            self.last_epoch, self.epoch = self.epoch, 0

    @property
    def identity(self) -> tuple[int, int]:
        """Return the (producer id, epoch) after this transaction, for the response to EndTxn."""
        return (self.next_id, 0) if self.next_id >= 0 else (self.producer_id, self.epoch)


def marker(producer_id: int, epoch: int, *, commit: bool, now: int) -> bytes:
    """Return the control batch; `now` in ms. The log sets its offset and leader epoch."""
    body = _RECORD.pack(2 * 16, 0, 0, 0, 2 * 4, 0, COMMIT if commit else ABORT, 2 * 6, 0, COORDINATOR_EPOCH, 0)
    head = LAYOUT.pack(0, _MARKER_SIZE - 12, -1, 2, 0, CONTROL | TRANSACTIONAL, 0, now, now, producer_id, epoch, -1, 1)
    header = Header(head)
    header.crc = checksum(body, checksum(head[CHECKED_FROM:]))
    return header.pack() + body


def end_in(partition: Partition, producer_id: int, epoch: int, *, commit: bool) -> None:
    """Write the marker. From then on older epochs of the producer are rejected in this partition, and readers see the
    outcome. Raises BrokerError KAFKA_STORAGE_ERROR."""
    data = marker(producer_id, epoch, commit=commit, now=int(time.time() * 1000))
    header = Header(data)
    partition.log.append(header, data, partition.leader_epoch, None)
    partition.producers.ended(header)
    partition.wake()


Note = Callable[[str, dict[str, Any]], None]

LONGEST_TIMEOUT_MS = 900_000  # transaction.max.timeout.ms
RETRY = 0.05  # seconds until an attempt is repeated after a disk error
FIRST = 1000


# The completion of a decided transaction: the markers in the partitions, then the positions of groups, then the final
# state. It starts again after a crash, and retries while a partition has no leader or the disk fails.
class Settle(Protocol):
    def __call__(self, producer_id: int, group: str, *, commit: bool) -> None: ...


RETRY = 0.05  # seconds until a failed write is repeated


class Completion:
    """`settle` stores or drops the offsets that a producer committed for a group; `step` changes a transaction and
    writes it to the journal."""

    def __init__(
        self,
        brokers: Brokers,
        topics: Topics,
        settle: Settle,
        step: Callable[[Transaction, Callable[[], None]], None],
    ) -> None:
        self._brokers = brokers
        self._topics = topics
        self._settle = settle
        self._step = step
        self._held: list[Transaction] | None = None

    def hold(self) -> None:
        """Keep decided transactions in PrepareCommit and PrepareAbort until `release`: a client that continues too
        early gets CONCURRENT_TRANSACTIONS."""
        self._held = self._held or []

    def release(self) -> None:
        """Complete the held transactions."""
        held, self._held = self._held or [], None
        for transaction in held:
            self.finish(transaction)

    def finish(self, transaction: Transaction) -> None:
        """Write the missing markers, retrying those that cannot be written now."""
        transaction.stop_timer()
        if self._held is not None:
            self._held.append(transaction)
            return
        commit = transaction.state == PREPARE_COMMIT
        living = {broker.node_id for broker in self._brokers.living()} or set(self._brokers.node_ids)
        transaction.partitions = dict.fromkeys(
            (name, index)
            for name, index in transaction.partitions
            if not self._marked(transaction, name, index, living, commit)
        )
        if transaction.partitions or not self._settled(transaction, commit):
            transaction.timer = asyncio.get_running_loop().call_later(RETRY, self.finish, transaction)

    def _marked(self, transaction: Transaction, name: str, index: int, living: set[int], commit: bool) -> bool:
        topic = self._topics.by_name.get(name)
        if topic is None or index >= len(topic.partitions):
            return True  # deleted meanwhile
        partition = topic.partitions[index]
        if partition.leader not in living:
            return False
        try:
            end_in(partition, transaction.producer_id, transaction.epoch, commit=commit)
        except BrokerError:  # the disk refused; it is tried again
            return False
        return True

    def _settled(self, transaction: Transaction, commit: bool) -> bool:
        try:
            for group in transaction.groups:
                self._settle(transaction.producer_id, group, commit=commit)
            self._step(transaction, transaction.complete)
        except BrokerError:  # the disk refused; it is tried again
            return False
        return True


class Transactions:
    """By transactional id; ids do not expire here. Timed-out transactions are aborted to the millisecond, where Kafka
    checks every ten seconds."""

    def __init__(
        self,
        note: Note,
        producer_ids: ProducerIds,
        features: Features,
        brokers: Brokers,
        topics: Topics,
        settle: Settle,
    ) -> None:
        self._note = note
        self._producer_ids = producer_ids
        self._features = features
        self.by_id: dict[str, Transaction] = {}
        self.completion = Completion(brokers, topics, settle, self._step)

    def restore(self, state: State) -> None:
        """Restore the state of the journal. Needs a running loop."""
        for facts in state.transactions.values():
            transaction = self.by_id[facts["id"]] = Transaction.restored(facts)
            if transaction.state in DECIDED:
                self.completion.finish(transaction)
            elif transaction.state == ONGOING:
                self._watch(transaction)

    def close(self) -> None:
        for transaction in self.by_id.values():
            transaction.stop_timer()

    # -- the producer's requests --------------------------------------------------------------------------------------

    def init(self, name: str, timeout_ms: int, expected: tuple[int, int] | None) -> Transaction:
        """Return a new instance of the producer, or with `expected` (producer id, epoch) the same one starting over.

        Raises BrokerError INVALID_TRANSACTION_TIMEOUT, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS: the last also after
        the open transaction of its predecessor was aborted, as in Kafka, so that it asks again.
        """
        if not 0 < timeout_ms <= LONGEST_TIMEOUT_MS:
            raise BrokerError(codes.INVALID_TRANSACTION_TIMEOUT)
        transaction = self.by_id.get(name)
        if transaction is None:
            transaction = Transaction(name, self._producer_ids.next(), timeout_ms)
        if expected is not None:
            transaction.check_instance(*expected)
        if transaction.state == ONGOING:
            self._abort(transaction)
            raise BrokerError(codes.CONCURRENT_TRANSACTIONS)
        if transaction.state in DECIDED:
            raise BrokerError(codes.CONCURRENT_TRANSACTIONS)
        epoch = None if expected is None else expected[1]
        rotates = transaction.exhausted and epoch in (None, transaction.epoch)
        fresh_id = self._producer_ids.next() if rotates else None
        self._step(transaction, lambda: transaction.renew(epoch, timeout_ms, fresh_id))
        self.by_id[name] = transaction
        return transaction

    def writer(self, name: str, producer_id: int, epoch: int) -> Transaction:
        """Raises BrokerError INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS."""
        transaction = self._existing(name)
        transaction.check_writer(producer_id, epoch)
        return transaction

    def add(
        self, transaction: Transaction, partitions: Iterable[tuple[str, int]] = (), groups: Iterable[str] = ()
    ) -> None:
        """Add partitions and groups to the transaction, which begins with the first of them."""
        new = [key for key in partitions if key not in transaction.partitions]
        new_groups = [group for group in groups if group not in transaction.groups]
        begins = transaction.state != ONGOING
        if begins or new or new_groups:
            self._step(transaction, lambda: transaction.add(new, new_groups, _now()))
        if begins:
            self._watch(transaction)

    def end(self, name: str, producer_id: int, epoch: int, *, commit: bool, bump: bool) -> tuple[int, int]:
        """Commit or abort; return the (producer id, epoch) to continue with, new ones with `bump` (EndTxn 5). Raises
        BrokerError like `Transaction.may_end`."""
        transaction = self._existing(name)
        if transaction.may_end(producer_id, epoch, commit=commit, bump=bump):
            self._decide(transaction, commit=commit, bump=bump, rotate=bump and transaction.exhausted)
            given = transaction.identity
            self.completion.finish(transaction)
            return given
        return transaction.identity

    def _existing(self, name: str) -> Transaction:
        transaction = self.by_id.get(name)
        if transaction is None:
            raise BrokerError(codes.INVALID_PRODUCER_ID_MAPPING)
        return transaction

    # -- ending -----------------------------------------------------------------------------------------------------

    def _decide(
        self, transaction: Transaction, *, commit: bool, bump: bool, rotate: bool = False, fence: bool = False
    ) -> None:
        next_id = self._producer_ids.next() if rotate else -1
        self._step(
            transaction, lambda: transaction.decide(commit=commit, bump=bump, next_id=next_id, now=_now(), fence=fence)
        )
        transaction.stop_timer()

    def _abort(self, transaction: Transaction) -> None:
        """Abort a transaction that its producer did not end: the producer is fenced, but may return with its id and
        epoch (KIP-360)."""
        bump = self._features.level("transaction.version") >= 2
        self._decide(transaction, commit=False, bump=bump, fence=True)
        self.completion.finish(transaction)

    def _step(self, transaction: Transaction, change: Callable[[], None]) -> None:
        """Apply a change and write it to the journal, or leave the transaction unchanged. Raises the BrokerError of
        `change`, and KAFKA_STORAGE_ERROR."""
        before = transaction.facts()
        change()
        try:
            self._note("transaction", transaction.facts())
        except BrokerError:
            transaction.take(before)
            raise

    # -- time -------------------------------------------------------------------------------------------------------

    def _watch(self, transaction: Transaction) -> None:
        left = max(transaction.started + transaction.timeout_ms - _now(), 0) / 1000
        transaction.timer = asyncio.get_running_loop().call_later(left, self._time_is_up, transaction)

    def _time_is_up(self, transaction: Transaction) -> None:
        try:
            self._abort(transaction)
        except BrokerError:  # the disk refused; it is tried again
            transaction.timer = asyncio.get_running_loop().call_later(RETRY, self._time_is_up, transaction)


def _now() -> int:
    return int(time.time() * 1000)


class ProducerIds:
    """`note` records the next id in the journal."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._next = FIRST

    def restore(self, following: int) -> None:
        """Continue after the ids in the journal."""
        self._next = max(self._next, following)

    def next(self) -> int:
        """Raises BrokerError KAFKA_STORAGE_ERROR."""
        given = self._next
        self._next += 1
        self._note("producer", {"next": self._next})
        return given
