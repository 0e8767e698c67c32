"""The end of a transaction: EndTxn, and the search for its outcome if no response shows it (D38).

A commit counts as done only when the coordinator confirms it.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError, DeadlineExceeded, KcliError, UnknownOutcome
from kcli.producer.transactions.requests import plain
from kcli.producer.transactions.state import Fenced
from kcli.proto.messages.end_txn import EndTxnRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.transactions.identity import TransactionalIdentity
    from kcli.producer.transactions.requests import Coordination

FIND_OUT = 10.0  # seconds for learning how a transaction ended whose EndTxn was lost
DECIDED = {"PrepareCommit": True, "CompleteCommit": True, "PrepareAbort": False, "CompleteAbort": False}


class Ended:
    """How it ended as asked. `renewed`: the answer gave a new epoch, sequences begin at 0 (KIP-890). `usable` is
    False when only the coordinator knows the epoch that comes next: it is done, and this producer is at its end."""

    __slots__ = ("renewed", "usable")

    def __init__(self, *, renewed: bool, usable: bool) -> None:
        self.renewed = renewed
        self.usable = usable


class Ending:
    """Ends the transactions of one producer."""

    def __init__(self, coordination: Coordination, identity: TransactionalIdentity) -> None:
        self._coordination = coordination
        self._identity = identity

    async def ask(self, *, committed: bool, v2: bool) -> Ended:
        """End it. Raises BrokerError TRANSACTION_ABORTABLE (it can only be aborted), DeadlineExceeded or ConnectError
        when it certainly was not committed (abort it, once more if it was the abort); after Fenced, UnknownOutcome
        and every other BrokerError there is no way on."""
        doubt: list[KcliError] = []
        request = EndTxnRequest(
            transactional_id=self._coordination.key.name,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            committed=committed,
        )
        try:
            # the same request again is safe: the coordinator knows its epoch, and that it has done this (KIP-890)
            answer = await self._coordination.ask(
                request,
                lambda response: codes.of(response.error_code),
                self._coordination.about,
                max_version=None if v2 else 4,
                doubt=doubt,
            )
        except KcliError as problem:
            return await self._without_answer(committed, v2, problem, doubt)
        if answer.producer_id < 0:
            return Ended(renewed=False, usable=True)
        self._identity.become(answer.producer_id, answer.producer_epoch)
        return Ended(renewed=True, usable=True)

    async def _without_answer(self, committed: bool, v2: bool, problem: KcliError, doubt: list[KcliError]) -> Ended:
        """EndTxn brought no good answer. Returns if the transaction ended as it should."""
        refused = isinstance(problem, BrokerError)
        if isinstance(problem, BrokerError) and problem.code is codes.INVALID_TXN_STATE and not committed:
            return Ended(renewed=False, usable=True)  # nothing was ever added: there is nothing to abort
        if not doubt:  # no attempt was acted on
            if isinstance(problem, BrokerError) and problem.code is codes.INVALID_TXN_STATE:
                text = "the coordinator had ended the transaction: it took longer than transaction.timeout.ms"
                raise Fenced(f"{problem.about}: {text} ({problem.code.name})") from problem
            raise plain(problem) from problem
        ended = await self._find_out(v2)
        if ended is committed:
            return Ended(renewed=False, usable=False)
        about = self._coordination.about
        if committed and ended is not None:
            raise Fenced(f"{about}: the coordinator had ended the transaction otherwise") from problem
        if committed:
            text = f"{about}: it is unknown whether the transaction was committed; the last: {problem}"
            raise UnknownOutcome(text) from problem
        if refused:
            raise plain(problem) from problem
        raise DeadlineExceeded(
            f"{about}: no answer to the abort; the coordinator aborts by itself after transaction.timeout.ms"
        ) from problem

    async def _find_out(self, v2: bool) -> bool | None:
        """Whether the transaction was committed (True) or aborted (False); None if that is unknown. Under v2 its end
        bumps the epoch. Under v1 it does not, and a later epoch there may be another producer's."""
        from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest

        try:
            answer = await self._coordination.ask(
                DescribeTransactionsRequest(transactional_ids=[self._coordination.key.name]),
                lambda response: codes.of(response.transaction_states[0].error_code),
                self._coordination.about,
                deadline=asyncio.get_running_loop().time() + FIND_OUT,
            )
        except KcliError:
            return None
        (transaction,) = answer.transaction_states
        ours = (self._identity.producer_id, self._identity.epoch + v2)
        if (transaction.producer_id, transaction.producer_epoch) != ours:
            return None  # not ended, or another producer's by now
        return DECIDED.get(transaction.transaction_state)
