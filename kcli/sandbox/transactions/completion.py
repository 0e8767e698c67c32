"""The completion of a decided transaction: the markers in the partitions, then the positions of groups, then the final
state. It starts again after a crash, and retries while a partition has no leader or the disk fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from kcli.errors import BrokerError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.transactions.markers import end_in
from kcli.sandbox.transactions.transaction import PREPARE_COMMIT, Transaction


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
