"""One transactional id, as its coordinator knows it: its producer, and how far its transaction is.

Empty → Ongoing → PrepareCommit or PrepareAbort (decided, markers on their way) → CompleteCommit or CompleteAbort →
Ongoing … (KIP-98). Every step here is a decision only; `transactions.py` writes it down and acts."""

from __future__ import annotations

import time
from asyncio import TimerHandle
from struct import Struct
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.batches import CHECKED_FROM, CONTROL, LAYOUT, SIZE, TRANSACTIONAL, Header, checksum

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
    """Times in ms. `partitions` and `groups` are what the open transaction writes to."""

    def __init__(self, name: str, producer_id: int, timeout_ms: int) -> None:
        self.id = name
        self.producer_id = producer_id
        self.previous_id = -1  # before it was exhausted
        self.next_id = -1  # to be used when the markers are written
        self.epoch = -1
        self.last_epoch = -1  # the one a retry may still bring
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
        """Be as `facts` said."""
        for name in _KEPT:
            setattr(self, name, facts[name])
        self.partitions = dict.fromkeys((topic, index) for topic, index in facts["partitions"])
        self.groups = dict.fromkeys(facts["groups"])

    def facts(self) -> dict[str, Any]:
        """What the journal keeps of it."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in _KEPT}
        return {"id": self.id, **kept, "partitions": list(self.partitions), "groups": list(self.groups)}

    def stop_timer(self) -> None:
        """Of the transaction's timeout, or of the next try to complete it."""
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
        """The next epoch, or `fresh_id` with epoch 0 where this id is exhausted. `expected` is the epoch the producer
        had; if that was the one before, its answer was lost and is given again. Raises BrokerError PRODUCER_FENCED."""
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
        """Something is added: the transaction is under way from now on, if it was not."""
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
            return True  # nothing was added, and an abort still gives a new epoch (D39)
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
        """(producer id, epoch) of the transaction after this one, for the answer to EndTxn."""
        return (self.next_id, 0) if self.next_id >= 0 else (self.producer_id, self.epoch)


def marker(producer_id: int, epoch: int, *, commit: bool, now: int) -> bytes:
    """The control batch; `now` in ms. Its offset and leader epoch are put in by the log."""
    body = _RECORD.pack(2 * 16, 0, 0, 0, 2 * 4, 0, COMMIT if commit else ABORT, 2 * 6, 0, COORDINATOR_EPOCH, 0)
    head = LAYOUT.pack(0, _MARKER_SIZE - 12, -1, 2, 0, CONTROL | TRANSACTIONAL, 0, now, now, producer_id, epoch, -1, 1)
    header = Header(head)
    header.crc = checksum(body, checksum(head[CHECKED_FROM:]))
    return header.pack() + body


def end_in(partition: Partition, producer_id: int, epoch: int, *, commit: bool) -> None:
    """Write the marker. From then on older epochs of the producer are refused in this partition, and readers see the
    outcome. Raises BrokerError KAFKA_STORAGE_ERROR."""
    data = marker(producer_id, epoch, commit=commit, now=int(time.time() * 1000))
    header = Header(data)
    partition.log.append(header, data, partition.leader_epoch, None)
    partition.producers.ended(header)
    partition.wake()
