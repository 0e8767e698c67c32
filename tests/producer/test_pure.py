"""The producer's plain parts, as tables: verdicts, the memory budget, a broken-in-two batch."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BufferFull
from kcli.producer.budget import Budget
from kcli.producer.verdict import Verdict, judge


@pytest.mark.parametrize(
    ("code", "records", "next_in_line", "verdict"),
    [
        (codes.NONE, 3, True, Verdict.DONE),
        (codes.DUPLICATE_SEQUENCE_NUMBER, 3, True, Verdict.DONE),
        (codes.MESSAGE_TOO_LARGE, 3, True, Verdict.SPLIT),
        (codes.MESSAGE_TOO_LARGE, 1, True, Verdict.FAILED),
        (codes.OUT_OF_ORDER_SEQUENCE_NUMBER, 3, True, Verdict.NEW_EPOCH),
        (codes.OUT_OF_ORDER_SEQUENCE_NUMBER, 3, False, Verdict.AGAIN),
        (codes.UNKNOWN_PRODUCER_ID, 3, True, Verdict.NEW_EPOCH),
        (codes.REQUEST_TIMED_OUT, 3, True, Verdict.AGAIN),
        (codes.TOPIC_AUTHORIZATION_FAILED, 3, True, Verdict.FAILED),
    ],
)
def test_D23_D26_D31_what_an_answer_means(code: ErrorCode, records: int, next_in_line: bool, verdict: Verdict) -> None:
    assert judge(code, records=records, next_in_line=next_in_line, idempotent=True) is verdict


async def test_D6_larger_than_the_whole_buffer_is_refused_at_once() -> None:
    with pytest.raises(BufferFull):
        await Budget(10, 10).take(11, 1, 60)


async def test_D6_a_small_waiter_does_not_overtake_a_large_one() -> None:
    budget, order = Budget(10, 100), list[str]()
    await budget.take(8, 1, 1)

    async def wait(name: str, size: int) -> None:
        await budget.take(size, 1, 1)
        order.append(name)

    waiting = [asyncio.create_task(wait("large", 9)), asyncio.create_task(wait("small", 1))]
    await asyncio.sleep(0)
    assert budget.waiting == 2
    budget.give(8, 1)
    await asyncio.gather(*waiting)
    assert order == ["large", "small"]
    assert (budget.bytes, budget.records) == (10, 2)


async def test_D6_a_cancelled_waiter_gives_its_place_back() -> None:
    budget = Budget(10, 100)
    await budget.take(10, 1, 1)
    waiter = asyncio.create_task(budget.take(5, 1, 1))
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    budget.give(10, 1)
    assert (budget.bytes, budget.records, budget.waiting) == (0, 0, 0)


async def test_D6_a_full_buffer_is_an_error_after_max_block_and_at_once_unblocked() -> None:
    budget = Budget(10, 100)
    await budget.take(10, 1, 1)
    with pytest.raises(BufferFull):
        await budget.take(1, 1, 0.01)
    with pytest.raises(BufferFull):
        await budget.take(1, 1, 60, block=False)
    assert (budget.bytes, budget.waiting) == (10, 0)
