"""The engine's view of a transaction: whether a batch may be sent, in which version, and what a failure means."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError, KcliError, UnsupportedVersion
from kcli.producer.transactions.requests import FENCING, Coordination, TransactionalIdentity, plain
from kcli.producer.transactions.state import AbortRequired, State, TransactionStatus
from kcli.proto.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from kcli.codes import ErrorCode
    from kcli.model import Cluster, TopicPartition
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.ledger import Ledger
    from kcli.proto.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
    from kcli.settings import ProducerSettings

FATAL = (
    codes.CLUSTER_AUTHORIZATION_FAILED,
    codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    codes.PRODUCER_FENCED,
    codes.INVALID_PRODUCER_ID_MAPPING,
    codes.UNSUPPORTED_FOR_MESSAGE_FORMAT,
)
"""Errors after which the producer cannot continue. INVALID_PRODUCER_EPOCH on Produce is not one of them, and neither is
INVALID_TXN_STATE, as in Java."""
BY_CLIENTS = 3
"""Highest version for clients; from version 4 on the request is for brokers (KIP-890)."""


class Gate:
    """Base class of `Transactions`. `wake` wakes the engine."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ProducerSettings,
        accumulator: Accumulator,
        ledger: Ledger,
        wake: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._accumulator = accumulator
        self._ledger = ledger
        self._wake = wake
        self._coordination = Coordination(cluster, settings)
        self.identity = TransactionalIdentity(self._coordination, settings)
        self.standing = TransactionStatus()
        self._v2 = False
        self.registration = Registration(self._coordination, self.identity, self._refused, wake)
        self._on_wire: set[asyncio.Task[Any]] = set()  # Produce requests, including those whose batches were given up
        ledger.on_failure = self.failed

    # -- called by the engine ---------------------------------------------------------------------------------------

    def admits(self, at: TopicPartition) -> bool:
        """Whether a batch of the partition may be sent, which requires that the partition is part of the open
        transaction; in v2, sending the batch adds it."""
        if self.standing.state not in (State.IN_TRANSACTION, State.COMMITTING):
            return False
        return self._v2 or self.registration.has(at)

    def sent(self, at: TopicPartition) -> None:
        """Record that a batch was sent: whatever its outcome, the partition now belongs to the transaction."""
        self.registration.touched.add(at)

    def travels(self, exchange: asyncio.Task[Any]) -> None:
        """Track a Produce request. The transaction must not end before it is answered or lost."""
        self._on_wire.add(exchange)
        exchange.add_done_callback(self._came_back)

    def _came_back(self, exchange: asyncio.Task[Any]) -> None:
        self._on_wire.discard(exchange)
        self._ledger.changed.set()

    def turn(self, group: asyncio.TaskGroup) -> None:
        """Announce new partitions, once per turn of the engine. If the transaction can only be aborted, fail its
        waiting records instead."""
        if self.standing.state in (State.ABORTABLE_ERROR, State.FATAL_ERROR):
            self._ledger.fail_unsent(AbortRequired(f"not sent, the transaction failed: {self.standing.error}"))
        else:
            self.registration.announce(group)

    @property
    def produce_cap(self) -> int | None:
        """The highest version of Produce: 12 and later mean transaction protocol v2."""
        return None if self._v2 else 11

    @property
    def open(self) -> bool:
        """Whether there is a transaction that can be aborted."""
        return self.standing.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR)

    # -- errors -----------------------------------------------------------------------------------------------------

    def failed(self, error: KcliError) -> None:
        """Handle a failed record: the transaction can only be aborted, or the producer has failed."""
        code = error.code if isinstance(error, BrokerError) else None
        fatal = code in FATAL or isinstance(error, UnsupportedVersion)
        self.standing.fail(plain(error) if fatal else error, fatal=fatal)
        self._wake()

    def _refused(self, error: KcliError) -> None:
        """Handle a final error of a coordinator for a request of the transaction. Fencing errors end the producer."""
        if isinstance(error, BrokerError) and (error.code in FENCING or error.code is codes.INVALID_TXN_STATE):
            self.standing.fail(plain(error), fatal=True)
            self._wake()
        else:
            self.failed(error)

    def _raise_standing(self) -> NoReturn:
        error = self.standing.error
        assert error is not None
        if self.standing.state is State.FATAL_ERROR:
            raise error
        raise AbortRequired(f"the transaction can only be aborted: {error}") from error


class Registration:
    """Adds partitions to the transaction. `touched` are the partitions that belong to it. `failed` is called with a
    final error, `wake` when records may be sent."""

    def __init__(
        self,
        coordination: Coordination,
        identity: TransactionalIdentity,
        failed: Callable[[KcliError], None],
        wake: Callable[[], None],
    ) -> None:
        self._coordination = coordination
        self._identity = identity
        self._failed = failed
        self._wake = wake
        self.touched: set[TopicPartition] = set()
        self._known: set[TopicPartition] = set()
        self._wanted: set[TopicPartition] = set()
        self._asked: set[TopicPartition] = set()  # partitions in the request in progress
        self._task: asyncio.Task[None] | None = None

    def has(self, at: TopicPartition) -> bool:
        """Whether the partition was announced; if not, it will be."""
        if at in self._known:
            return True
        if at not in self._wanted and at not in self._asked:
            self._wanted.add(at)
            self._wake()
        return False

    async def stop(self) -> None:
        """Stop announcing. A request in progress arrives before the EndTxn that follows on the same connection, but a
        retry would open the next transaction."""
        self._wanted.clear()
        self._asked = set()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def clear(self) -> None:
        """Reset after the end of a transaction."""
        self.touched.clear()
        self._known.clear()
        self._wanted.clear()

    def announce(self, group: asyncio.TaskGroup) -> None:
        """Ask the coordinator to add all waiting partitions in one request, unless one is in progress."""
        if self._wanted and (self._task is None or self._task.done()):
            wanted, self._wanted = self._wanted, set()
            self._asked = wanted
            self.touched |= wanted
            self._task = group.create_task(self._add(wanted), name="add partitions to the transaction")

    async def _add(self, wanted: set[TopicPartition]) -> None:
        topics: dict[str, list[int]] = {}
        for name, partition in sorted(wanted):
            topics.setdefault(name, []).append(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._coordination.key.name,
            v3_and_below_producer_id=self._identity.producer_id,
            v3_and_below_producer_epoch=self._identity.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=name, partitions=some) for name, some in topics.items()],
        )
        doubt: list[KcliError] = []
        try:
            await self._coordination.ask(
                request,
                first_error,
                self._coordination.about,
                topics=topics,
                max_version=BY_CLIENTS,
                doubt=doubt,
            )
        except KcliError as problem:
            if not doubt:
                self.touched -= wanted  # certainly not part of the transaction, so there may be nothing to end
            self._failed(problem)
        else:
            self._known |= wanted
        finally:
            self._asked = set()
        # after this task has ended, the engine checks whether more is to be announced
        asyncio.get_running_loop().call_soon(self._wake)


def first_error(answer: AddPartitionsToTxnResponse) -> ErrorCode:
    """Return the first relevant error: OPERATION_NOT_ATTEMPTED only means that another partition had one."""
    errors = [
        codes.of(part.partition_error_code)
        for topic in answer.results_by_topic_v3_and_below
        for part in topic.results_by_partition
        if part.partition_error_code
    ]
    real = [code for code in errors if code is not codes.OPERATION_NOT_ATTEMPTED]
    return next(iter(real or errors), codes.NONE)
