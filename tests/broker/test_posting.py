"""`post`: requests that are written without waiting, and what is called behind their answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli.errors import ConnectError
from tests.fakes.scripted import Step

from .peers import answer, pair, question


class Replies:
    """`n` replies, and what was told of them."""

    def __init__(self, n: int) -> None:
        self.futures: list[asyncio.Future[Any]] = [asyncio.get_running_loop().create_future() for _ in range(n)]
        self.seen: list[int] = []  # how many were there at each call of `after`

    @property
    def posted(self) -> list[tuple[Any, Any, None]]:
        return [(question(n), future, None) for n, future in enumerate(self.futures)]

    def after(self) -> None:
        self.seen.append(sum(future.done() for future in self.futures))


async def test_after_is_called_once_behind_all_answers_of_a_read() -> None:
    async with pair() as (far, near):
        assert await answer(near, "opens") == "opens"
        replies, gate = Replies(3), asyncio.Event()
        far.script["FindCoordinator"].append(Step(until=gate))
        (connection,) = near._lanes.open.values()
        read, came = connection.buffer_updated, bytearray()

        def hold_back(nbytes: int) -> None:
            """All three answers are one read."""
            came.extend(connection._reader.buffer()[:nbytes])
            if frames_in(came) == 3:
                connection._reader.buffer()[: len(came)] = came
                read(len(came))

        connection.buffer_updated = hold_back  # type: ignore[method-assign]
        assert near.post(replies.posted, timeout=5, after=replies.after) == 3
        gate.set()
        await asyncio.wait_for(asyncio.gather(*replies.futures), 10)
        assert replies.seen == [3]


def frames_in(data: bytearray) -> int:
    """Whole frames in what was received."""
    at = found = 0
    while at + 4 <= len(data):
        at += 4 + int.from_bytes(data[at : at + 4], "big")
        found += at <= len(data)
    return found


async def test_after_may_post_again_and_that_is_written_in_the_same_step() -> None:
    async with pair() as (_, near):
        await answer(near, "opens")
        first, second = Replies(1), Replies(1)
        written: list[int] = []
        near.post(first.posted, timeout=5, after=lambda: written.append(near.post(second.posted, timeout=5)))
        await asyncio.wait_for(second.futures[0], 10)
        assert written == [1]


async def test_after_is_called_when_the_connection_ends() -> None:
    async with pair() as (far, near):
        await answer(near, "opens")
        far.script["FindCoordinator"].append(Step(reset=True))
        replies = Replies(2)
        near.post(replies.posted, timeout=5, after=replies.after)
        results = await asyncio.wait_for(asyncio.gather(*replies.futures, return_exceptions=True), 10)
        assert [type(result) for result in results] == [ConnectError, ConnectError]
        assert replies.seen == [2]


async def test_an_answer_that_nobody_wants_any_more_calls_nothing() -> None:
    async with pair() as (_, near):
        await answer(near, "opens")
        replies = Replies(1)
        near.post(replies.posted, timeout=5, after=replies.after)
        replies.futures[0].cancel()
        assert await answer(near, "next") == "next"
        assert replies.seen == []


async def test_responses_of_use_together_are_read_so_and_the_last_ones_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of five posted ones three are enough to go on: two that are left afterwards are read one by one."""
    monkeypatch.setattr("kcli.broker.connection.wakes.PATIENCE", 30.0)
    async with pair() as (_, near):
        await answer(near, 0)
        (connection,) = near._lanes.open.values()
        told: list[int] = []
        expect = connection._wakes.expect_together

        def expects(size: int) -> None:
            told.append(size)
            expect(size)

        monkeypatch.setattr(connection._wakes, "expect_together", expects)
        replies = Replies(5)
        assert near.post(replies.posted, timeout=5, after=replies.after, enough=3) == 5
        await asyncio.wait_for(asyncio.gather(*replies.futures), 10)
        assert replies.seen[0] >= 3
        assert told == [3 * connection._usual, 1]


async def test_no_more_responses_are_expected_together_than_requests_are_on_the_wire(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with pair() as (_, near):
        await answer(near, 0)
        (connection,) = near._lanes.open.values()
        told: list[int] = []
        monkeypatch.setattr(connection._wakes, "expect_together", told.append)
        replies = Replies(2)
        near.post(replies.posted, timeout=5, enough=3)
        await asyncio.wait_for(asyncio.gather(*replies.futures), 10)
        assert told[0] == 2 * connection._usual


async def test_no_timer_is_left_of_a_connection_that_ended() -> None:
    async with pair() as (far, near):
        await answer(near, "opens")
        (connection,) = near._lanes.open.values()
        far.script["FindCoordinator"].append(Step(reset=True))
        replies = Replies(2)
        near.post(replies.posted, timeout=5, after=replies.after, enough=2)
        assert connection._wakes._alarm is not None
        await asyncio.wait_for(asyncio.gather(*replies.futures, return_exceptions=True), 10)
        assert connection._wakes._alarm is None
