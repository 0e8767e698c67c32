"""Where a transactional producer stands: every way there is, and every call in every state (D34)."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.producer.transactions.state import CALLS, FROM, AbortRequired, State, TransactionStatus
from tests.each import each
from tests.producer.transacting import TransactionWorld, transacting
from tests.producer.world import play, producing

S = State
# written out anew, from KIP-98 and Java's TransactionManager: the table under test is not asked
WAYS = {
    (S.UNINITIALIZED, S.INITIALIZING), (S.INITIALIZING, S.UNINITIALIZED), (S.INITIALIZING, S.READY),
    (S.READY, S.IN_TRANSACTION), (S.IN_TRANSACTION, S.COMMITTING), (S.IN_TRANSACTION, S.ABORTING),
    (S.IN_TRANSACTION, S.ABORTABLE_ERROR), (S.COMMITTING, S.READY), (S.COMMITTING, S.ABORTABLE_ERROR),
    (S.ABORTING, S.READY), (S.ABORTING, S.ABORTABLE_ERROR), (S.ABORTABLE_ERROR, S.ABORTING),
    # committing may fail before EndTxn was sent; aborting may be tried again
    *((state, S.FATAL_ERROR) for state in S),
}  # fmt: skip
MAY = {
    S.UNINITIALIZED: set(), S.INITIALIZING: set(), S.READY: {"begin"},
    S.IN_TRANSACTION: {"send", "send_offsets", "commit", "abort"}, S.COMMITTING: set(), S.ABORTING: set(),
    S.ABORTABLE_ERROR: {"abort"}, S.FATAL_ERROR: set(),
}  # fmt: skip


def standing(state: State) -> TransactionStatus:
    made = TransactionStatus()
    made.state = state
    made.error = KcliError("it broke") if state in (S.ABORTABLE_ERROR, S.FATAL_ERROR) else None
    return made


@each("before", State)
@each("after", State)
def test_D34_every_way_between_two_states_is_allowed_or_refused(before: State, after: State) -> None:
    made = standing(before)
    if (before, after) in WAYS:
        made.go(after)
        assert made.state is after
    else:
        with pytest.raises(AssertionError):
            made.go(after)
        assert made.state is before
    assert set(FROM) == set(State)


@each("state", State)
@each("call", sorted(CALLS))
def test_D34_every_call_in_every_state_is_allowed_or_raises_and_changes_nothing(state: State, call: str) -> None:
    made = standing(state)
    if call in MAY[state]:
        made.check(call)
    else:
        expected = {S.ABORTABLE_ERROR: AbortRequired, S.FATAL_ERROR: KcliError}.get(state, UsageError)
        with pytest.raises(expected) as raised:
            made.check(call)
        assert type(raised.value) is expected
    assert made.state is state


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("fatal", [True, False])
def test_D34_the_first_error_is_kept_and_a_fatal_one_is_final(state: State, fatal: bool) -> None:
    made, error = standing(state), BrokerError(codes.PRODUCER_FENCED)
    made.fail(error, fatal=fatal)
    if state is S.FATAL_ERROR:
        assert str(made.error) == "it broke"
    elif fatal:
        assert (made.state, made.error) == (S.FATAL_ERROR, error)
    elif state in (S.IN_TRANSACTION, S.COMMITTING):
        assert (made.state, made.error) == (S.ABORTABLE_ERROR, error)
    else:
        assert made.state is state


def test_D34_a_producer_refuses_what_makes_no_sense_and_goes_on() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        async with transacting(world) as producer:
            for call in (producer.commit, producer.abort, lambda: producer.send("t", b"early")):
                with pytest.raises(UsageError):
                    await call()
            await producer.begin()
            with pytest.raises(UsageError, match="end the transaction first"):
                await producer.begin()
            await producer.send("t", b"v")
            await producer.commit()
            with pytest.raises(UsageError, match="nothing to abort"):
                await producer.abort()
            with pytest.raises(UsageError, match="begin a transaction first"):
                await producer.send_records("t", [(0, None, None, b"late", ())])
            assert producer.counts.accepted == 1
        assert world.committed() == [b"v"]

    play(scene())


def test_D34_without_a_transactional_id_there_are_no_transactions() -> None:
    async def scene() -> None:
        async with producing(TransactionWorld()) as producer:
            with pytest.raises(UsageError, match="transactional"):
                await producer.begin()

    play(scene())
