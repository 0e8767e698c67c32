"""Transactions when something is lost or refused: never half, never reported as committed when nobody knows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BrokerError, KcliError, UnknownOutcome
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.producer.transactions.state import AbortRequired, Fenced, State
from tests.producer.transacting import ANSWER_LOST, LOST, Order, TransactionWorld, transacting
from tests.producer.world import balanced, play

POSITIONS = {TopicPartition("in", 0): OffsetAndMetadata(7, 1)}
V1_V2 = pytest.mark.parametrize("level", [1, 2])


def state(producer: Any) -> State:
    found: State = producer._engine.transactions.standing.state
    return found


async def once_more(world: TransactionWorld, producer: Any) -> None:
    """The producer is as good as new."""
    async with producer.transaction():
        await producer.send("t", b"after", partition=0)
    assert world.committed()[-1] == b"after"


@V1_V2
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("order", [LOST, ANSWER_LOST, Order(codes.UNKNOWN_SERVER_ERROR, do=True)])
def test_D38_a_lost_answer_to_EndTxn_is_asked_for_again(level: int, committed: bool, order: Order) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        world.orders["EndTxn"].append(order)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            await producer.flush()
            await (producer.commit() if committed else producer.abort())
            assert [one.committed for one, _ in world.asked_for("EndTxn")] == [committed] * 2
            assert world.committed() == ([b"v"] if committed else [])
            await once_more(world, producer)
        balanced(producer)

    play(scene())


@V1_V2
@pytest.mark.parametrize("done", [True, False])
def test_D38_a_commit_nobody_answers_is_found_out_or_unknown_and_never_a_success(level: int, done: bool) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        world.orders["EndTxn"] += [ANSWER_LOST if done else LOST] + [LOST] * 100
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            if done:
                await producer.commit()  # DescribeTransactions says so
            else:
                with pytest.raises(UnknownOutcome, match="it is unknown whether"):
                    await producer.commit()
            assert state(producer) is State.FATAL_ERROR  # which epoch comes next is not known either
            assert "DescribeTransactions" in world.kinds()
            assert {one.committed for one, _ in world.asked_for("EndTxn")} == {True}
            with pytest.raises(KcliError):
                await producer.begin()
        assert world.committed() == ([b"v"] if done else [])

    play(scene())


@V1_V2
def test_D38_a_commit_that_lost_against_the_timeout_is_not_retried_as_commit_nor_a_success(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        world.orders["EndTxn"].append(LOST)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            await producer.flush()
            committing = asyncio.create_task(producer.commit())
            await asyncio.sleep(0.05)
            assert world.kinds()[-1] == "EndTxn"
            world.books.time_out()
            with pytest.raises(Fenced if level == 2 else UnknownOutcome):  # v1's epoch does not tell whose end it was
                await committing
        assert world.committed() == []
        assert world.kinds().count("EndTxn") == 2

    play(scene())


@V1_V2
def test_D38_a_transaction_that_took_too_long_is_not_committed(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v")
            await producer.flush()
            world.books.time_out()
            with pytest.raises(Fenced, match=r"transaction\.timeout\.ms"):
                await producer.commit()
        assert world.committed() == []

    play(scene())


@V1_V2
def test_D38_a_commit_that_could_not_even_be_asked_for_can_be_aborted(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"v", partition=0)
            await producer.flush()
            world.nodes_by_id[0].up = False
            with pytest.raises(AbortRequired):
                await producer.commit()
            with pytest.raises(KcliError):
                await producer.abort()
            assert state(producer) is State.ABORTABLE_ERROR
            world.nodes_by_id[0].up = True
            await producer.abort()
            await once_more(world, producer)
        assert world.committed() == [b"after"]

    play(scene())


@V1_V2
@pytest.mark.parametrize(
    "code", [codes.TRANSACTION_ABORTABLE, codes.OUT_OF_ORDER_SEQUENCE_NUMBER, codes.INVALID_TXN_STATE,
             codes.INVALID_RECORD, codes.TOPIC_AUTHORIZATION_FAILED],
    ids=lambda code: code.name,
)  # fmt: skip
def test_D38_a_batch_that_failed_leaves_only_the_abort(level: int, code: codes.ErrorCode) -> None:
    async def scene() -> None:
        world = TransactionWorld({"t": 2}, level=level)
        world.log(1).script.append(code)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"good", partition=0)
            await producer.flush()
            bad = await producer.send("t", b"bad", partition=1)
            with pytest.raises(AbortRequired) as raised:
                await producer.commit()
            assert isinstance(raised.value.__cause__, BrokerError)
            assert raised.value.__cause__.code is code
            for call in (producer.commit(), producer.send("t", b"more"), producer.begin()):
                with pytest.raises(AbortRequired):
                    await call
            assert isinstance(bad.exception(), BrokerError)
            await producer.abort()
            assert (world.committed(0), world.committed(1)) == ([], [])
            await once_more(world, producer)
        assert "EndTxn" in world.kinds()
        assert producer.counts.acked == 2
        balanced(producer)

    play(scene())


@V1_V2
def test_D38_unacknowledged_data_at_its_timeout_leaves_only_the_abort_and_nobody_waits_for_the_rest(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld({"t": 2}, level=level)
        async with transacting(world, delivery_timeout=6.0, request_timeout=5.0) as producer:
            await producer.begin()
            await producer.send("t", b"kept", partition=0)
            await producer.flush()
            world.nodes_by_id[1].up = False
            await producer.send("t", b"lost", partition=1)
            with pytest.raises(AbortRequired, match="not acknowledged within 6 s"):
                await producer.commit()
            assert await producer.flush(1) == 0  # nothing hangs
            await producer.abort()
            world.nodes_by_id[1].up = True
            await once_more(world, producer)
        assert (producer.counts.acked, producer.counts.failed, producer.counts.unknown) == (2, 1, 0)
        assert world.committed(1) == []

    play(scene())


def test_D38_EndTxn_may_say_that_only_the_abort_is_left() -> None:
    async def scene() -> None:
        world = TransactionWorld()
        world.orders["EndTxn"].append(Order(codes.TRANSACTION_ABORTABLE))
        async with transacting(world) as producer:
            with pytest.raises(AbortRequired):
                async with producer.transaction():
                    await producer.send("t", b"v")
            assert [one.committed for one, _ in world.asked_for("EndTxn")] == [True, False]
            assert world.committed() == []
            await once_more(world, producer)

    play(scene())


@V1_V2
def test_D38_a_cancelled_flush_of_a_commit_can_be_aborted_and_a_cancelled_EndTxn_is_unknown(level: int) -> None:
    async def scene() -> None:
        world = TransactionWorld(level=level)
        async with transacting(world) as producer:
            await producer.begin()
            await producer.send("t", b"a")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.0001):
                    await producer.commit()
            assert state(producer) is State.ABORTABLE_ERROR
            await producer.abort()
            await producer.begin()
            await producer.send("t", b"b")
            await producer.flush()
            world.orders["EndTxn"].append(Order(do=True, wait=3))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await producer.commit()
            with pytest.raises(UnknownOutcome):
                await producer.begin()
        assert world.log().records.count(b"b") == 1

    play(scene())
