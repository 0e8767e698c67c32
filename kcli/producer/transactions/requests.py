"""Requests of a transactional producer to coordinators, with temporary errors retried until a deadline.

Errors raised here are final. `doubt` collects attempts that may have been executed although no response arrived.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.model import Transaction
from kcli.producer.batches.queue import Identity
from kcli.producer.transactions.state import Fenced
from kcli.proto.messages.init_producer_id import InitProducerIdRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from typing import Any, TypeVar

    from kcli.codes import ErrorCode
    from kcli.model import Cluster, Group
    from kcli.proto.schema import Request
    from kcli.settings import ProducerSettings

    R = TypeVar("R")
    Doubt = list[KcliError] | None

MAYBE_DONE = (codes.UNKNOWN_SERVER_ERROR, codes.REQUEST_TIMED_OUT)
FENCING = (codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH)
FIRST_WAIT = 0.02  # seconds, as in Java
TRANSACTION_VERSION = "transaction.version"


class Coordination:
    """Sends requests to the coordinator of a transactional id, and of the groups whose offsets are committed."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        assert settings.transactional_id is not None
        self.cluster = cluster
        self.key = Transaction(settings.transactional_id)
        self._settings = settings

    async def ask(
        self,
        request: Request[R],
        code_of: Callable[[R], ErrorCode],
        about: str,
        *,
        of: Group | None = None,
        topics: Collection[str] = (),
        max_version: int | None = None,
        deadline: float | None = None,
        doubt: Doubt = None,
        prepare: Callable[[], Awaitable[None]] | None = None,
    ) -> R:
        """Send a request until it succeeds, and return the response.

        `deadline` is a loop time (None: `max_block` from now). `of` selects a group's coordinator. `prepare` runs
        before each attempt and may change the request. Raises BrokerError, ConnectError, AuthError, UnsupportedVersion,
        DeadlineExceeded.
        """
        key = of or self.key
        until = asyncio.get_running_loop().time() + self._settings.max_block if deadline is None else deadline
        least, most = self._settings.retry_backoff, self._settings.retry_backoff_max
        pauses, short = Backoff(least, most), Backoff(FIRST_WAIT, least)

        async def once() -> R:
            if prepare is not None:
                await prepare()
            try:
                broker = await self.cluster.coordinator(key)
                answer = await broker.ask(request, timeout=self._patience(until), max_version=max_version)
            except (ConnectError, DeadlineExceeded) as lost:
                self._lost(lost, key, doubt)
                raise
            code = code_of(answer)
            if code:
                names = {"transactional_id": self.key.name} | ({"group": of.name} if of is not None else {})
                if len(topics) == 1:  # with several, the error code does not say which
                    names["topic"] = next(iter(topics))
                raise self._refused(BrokerError(code, about, api=type(request).api_key, **names), key, doubt)
            return answer

        def policy(problem: KcliError) -> Backoff | None:
            code = problem.code if isinstance(problem, BrokerError) else codes.NONE
            if code is codes.CONCURRENT_TRANSACTIONS:
                return short  # the markers of the previous transaction are still being written
            return pauses if problem.retriable or (doubt is not None and code in MAYBE_DONE) else None

        try:
            return await retry(once, pauses, until, policy=policy)
        except KcliError as problem:
            if policy(problem) is None:
                raise
            raise DeadlineExceeded(f"{about}: no answer that counts in time; the last: {problem}") from problem

    def _lost(self, lost: ConnectError | DeadlineExceeded, key: Group | Transaction, doubt: Doubt) -> None:
        if lost.retriable:
            self.cluster.coordinator_moved(key)
            if doubt is not None and lost.sent:
                doubt.append(lost)

    def _refused(self, problem: BrokerError, key: Group | Transaction, doubt: Doubt) -> BrokerError:
        """Return the error of an attempt, after noting that it may be in doubt and that the coordinator may
        have moved."""
        if doubt is not None and problem.code in MAYBE_DONE:
            doubt.append(problem)
        if problem.code.forget == "coordinator":
            self.cluster.coordinator_moved(key)
        return problem

    def _patience(self, until: float) -> float:
        left = until - asyncio.get_running_loop().time()
        return min(self._settings.request_timeout, max(left, 0.05))

    async def speaks_v2(self) -> bool:
        """Whether the cluster supports transaction version 2 (KIP-890 part 2), by its finalized feature and the API
        versions of the coordinator's broker. Sends an ApiVersions request."""
        from kcli.proto.messages.api_versions import versions_request

        answer = await self.ask(versions_request(), lambda response: codes.of(response.error_code), self.about)
        level = max(
            (f.max_version_level for f in answer.finalized_features if f.name == TRANSACTION_VERSION), default=0
        )
        offered: dict[int, Any] = {key.api_key: key.max_version for key in answer.api_keys}
        return level >= 2 and offered.get(0, 0) >= 12 and offered.get(28, 0) >= 5 and offered.get(26, 0) >= 5

    @property
    def about(self) -> str:
        return f"transactional id {self.key.name}"


def plain(problem: KcliError) -> KcliError:
    """Return the error in the form in which it is raised to the caller."""
    if isinstance(problem, BrokerError) and problem.code in FENCING:
        return Fenced(
            f"{problem.about}: another producer with this transactional id has taken over, "
            f"or the transaction took longer than transaction.timeout.ms ({problem.code.name})"
        )
    return problem


class TransactionalIdentity(Identity):
    """The producer id and epoch of a transactional producer. Only the coordinator bumps the epoch, between
    transactions."""

    def __init__(self, coordination: Coordination, settings: ProducerSettings) -> None:
        super().__init__(coordination.cluster, settings)
        self._coordination = coordination

    async def obtain(self) -> None:
        """Get an id unless there is one. Ends a transaction that an earlier producer with this transactional id left
        open. Raises like `Coordination.ask`."""
        async with self._lock:
            if self.missing:
                await self._initialise(-1, -1)

    async def renew(self) -> None:
        """Get the next epoch of the same id, because a sequence was lost (KIP-360). Raises like `Coordination.ask`."""
        async with self._lock:
            await self._initialise(self.producer_id, self.epoch)

    def become(self, producer_id: int, epoch: int) -> None:
        """Adopt the id and epoch that the response to EndTxn returned (KIP-890)."""
        self.producer_id, self.epoch = producer_id, epoch

    def bump(self) -> None:
        raise AssertionError("the epoch of a transactional producer is the coordinator's to bump")

    async def _initialise(self, producer_id: int, epoch: int) -> None:
        answer = await self._coordination.ask(
            InitProducerIdRequest(
                transactional_id=self._settings.transactional_id,
                transaction_timeout_ms=int(self._settings.transaction_timeout * 1000),
                producer_id=producer_id,
                producer_epoch=epoch,
            ),
            lambda response: codes.of(response.error_code),
            self._coordination.about,
        )
        if answer.producer_id < 0 or answer.producer_epoch < 0:
            raise KcliError(f"{self._coordination.about}: the coordinator returned neither a producer id nor an error")
        self.become(answer.producer_id, answer.producer_epoch)
