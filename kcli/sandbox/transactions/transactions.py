"""The transaction coordinator: every step of a transaction is written to the journal before it is acted on, so that
after a crash a decided transaction is completed and an open one runs into its timeout (KIP-98, 360, 447, 890)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.quorum import Features
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.log.recovery import State
from kcli.sandbox.transactions.transaction import DECIDED, ONGOING, PREPARE_COMMIT, Transaction, end_in

Note = Callable[[str, dict[str, Any]], None]

LONGEST_TIMEOUT_MS = 900_000  # transaction.max.timeout.ms
RETRY = 0.05  # seconds until what the disk refused is tried again
FIRST = 1000


# The completion of a decided transaction: the markers in the partitions, then the positions of groups, then the final
# state. It starts again after a crash, and retries while a partition has no leader or the disk fails.
class Settle(Protocol):
    def __call__(self, producer_id: int, group: str, *, commit: bool) -> None: ...


RETRY = 0.05  # seconds until what could not be written is tried again


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
        """Write the markers that are still missing; what cannot be written now is tried again."""
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
        """A new instance of the producer, or with `expected` (producer id, epoch) the same one that starts over.
        Raises BrokerError INVALID_TRANSACTION_TIMEOUT, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS: the last also after
        the open transaction of its predecessor was aborted, as in Kafka; it asks again."""
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
        """Make partitions and groups part of the transaction, which begins with the first of them."""
        new = [key for key in partitions if key not in transaction.partitions]
        new_groups = [group for group in groups if group not in transaction.groups]
        begins = transaction.state != ONGOING
        if begins or new or new_groups:
            self._step(transaction, lambda: transaction.add(new, new_groups, _now()))
        if begins:
            self._watch(transaction)

    def end(self, name: str, producer_id: int, epoch: int, *, commit: bool, bump: bool) -> tuple[int, int]:
        """Commit or abort; returns the (producer id, epoch) to continue with, new ones with `bump` (EndTxn 5).
        Raises BrokerError as `Transaction.may_end` does."""
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
        """End a transaction its producer did not end: its producer is fenced, but may come back with its id and
        epoch (KIP-360)."""
        bump = self._features.level("transaction.version") >= 2
        self._decide(transaction, commit=False, bump=bump, fence=True)
        self.completion.finish(transaction)

    def _step(self, transaction: Transaction, change: Callable[[], None]) -> None:
        """Change it and write that down, or leave it as it was. Raises BrokerError what `change` raises, and
        KAFKA_STORAGE_ERROR."""
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
    """`note` writes to the journal which id is next."""

    def __init__(self, note: Callable[[str, dict[str, Any]], None]) -> None:
        self._note = note
        self._next = FIRST

    def restore(self, following: int) -> None:
        """Continue after the ids of the journal."""
        self._next = max(self._next, following)

    def next(self) -> int:
        """Raises BrokerError KAFKA_STORAGE_ERROR."""
        given = self._next
        self._next += 1
        self._note("producer", {"next": self._next})
        return given
