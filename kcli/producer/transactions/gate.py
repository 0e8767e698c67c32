"""What the engine asks of a transaction: may this batch leave, at which version, and what a failure means for it."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError, UnsupportedVersion
from kcli.producer.transactions.identity import TransactionalIdentity
from kcli.producer.transactions.registration import Registration
from kcli.producer.transactions.requests import FENCING, Coordination, plain
from kcli.producer.transactions.state import AbortRequired, Standing, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any, NoReturn

    from kcli.errors import KcliError
    from kcli.model import Cluster, TopicPartition
    from kcli.producer.batches.accumulator import Accumulator
    from kcli.producer.batches.ledger import Ledger
    from kcli.settings import ProducerSettings

FATAL = (
    codes.CLUSTER_AUTHORIZATION_FAILED,
    codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    codes.PRODUCER_FENCED,
    codes.INVALID_PRODUCER_ID_MAPPING,
    codes.UNSUPPORTED_FOR_MESSAGE_FORMAT,
)
"""Errors after which the producer cannot continue; on Produce INVALID_PRODUCER_EPOCH is not among them (D41), nor is
INVALID_TXN_STATE, as in Java."""


class Gate:
    """The base of `Transactions`. `wake` wakes the engine."""

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
        self.standing = Standing()
        self._v2 = False
        self.registration = Registration(self._coordination, self.identity, self._refused, wake)
        self._on_wire: set[asyncio.Task[Any]] = set()  # Produce requests, also those whose batches were given up
        ledger.on_failure = self.failed

    # -- what the engine asks ---------------------------------------------------------------------------------------

    def admits(self, at: TopicPartition) -> bool:
        """Whether a batch of that partition may be sent: the partition is part of the open transaction (D36); under
        v2 sending makes it so (D37)."""
        if self.standing.state not in (State.IN_TRANSACTION, State.COMMITTING):
            return False
        return self._v2 or self.registration.has(at)

    def sent(self, at: TopicPartition) -> None:
        """A batch leaves. Whatever becomes of it, the partition belongs to the transaction now (D39)."""
        self.registration.touched.add(at)

    def travels(self, exchange: asyncio.Task[Any]) -> None:
        """A Produce request leaves. Until it is answered, or the answer lost, the transaction must not end."""
        self._on_wire.add(exchange)
        exchange.add_done_callback(self._came_back)

    def _came_back(self, exchange: asyncio.Task[Any]) -> None:
        self._on_wire.discard(exchange)
        self._ledger.changed.set()

    def turn(self, group: asyncio.TaskGroup) -> None:
        """Once in each turn of the engine: announce partitions. A transaction that can only be aborted sends nothing
        more, so its waiting records fail."""
        if self.standing.state in (State.ABORTABLE_ERROR, State.FATAL_ERROR):
            self._ledger.fail_unsent(AbortRequired(f"not sent, the transaction failed: {self.standing.error}"))
        else:
            self.registration.announce(group)

    @property
    def produce_cap(self) -> int | None:
        """The highest version of Produce: from 12 on it means v2."""
        return None if self._v2 else 11

    @property
    def open(self) -> bool:
        """A transaction that can be aborted."""
        return self.standing.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR)

    # -- errors -----------------------------------------------------------------------------------------------------

    def failed(self, error: KcliError) -> None:
        """A record failed: the transaction can only be aborted, or nothing is possible any more."""
        code = error.code if isinstance(error, BrokerError) else None
        fatal = code in FATAL or isinstance(error, UnsupportedVersion)
        self.standing.fail(plain(error) if fatal else error, fatal=fatal)
        self._wake()

    def _refused(self, error: KcliError) -> None:
        """A coordinator's last word on a request of the transaction. Fencing is final from there (D41)."""
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
