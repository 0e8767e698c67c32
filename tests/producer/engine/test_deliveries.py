"""Callbacks of promises are called behind the responses that settle them, as the loop calls callbacks."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

import pytest

from kcli.model import TopicPartition
from kcli.producer.engine.deliveries import Deliveries
from kcli.proto.core import Fate, Promise

WORD = contextvars.ContextVar("word", default="none")


class Desk:
    """Promises of one batch, whose callbacks note what they see."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.deliveries = Deliveries()
        self.deliveries.loop = self.loop
        self.fate = Fate(TopicPartition("t", 0), self.loop, self.deliveries.add)
        self.promises = [Promise(self.fate, index, 0) for index in range(3)]
        self.seen: list[object] = []
        for promise in self.promises:
            promise.add_done_callback(lambda done: self.seen.append(done.result().offset))

    def settle(self) -> None:
        """As a sender does it, in a callback of the loop."""
        self.deliveries.begin()
        self.fate.keep(0, -1)
        self.seen.append("settled")
        self.deliveries.end()
        self.seen.append("told")

    async def from_the_loop(self, work: Callable[[], None]) -> None:
        self.loop.call_soon(work)
        self.loop.call_soon(self.seen.append, "next")
        await asyncio.sleep(0)
        await asyncio.sleep(0)


async def test_callbacks_come_behind_the_responses_and_before_anything_else() -> None:
    desk = Desk()
    await desk.from_the_loop(desk.settle)
    assert desk.seen == ["settled", 0, 1, 2, "told", "next"]


async def test_a_task_that_waits_continues_in_the_same_turn_and_in_its_own_context() -> None:
    desk = Desk()

    async def waits() -> None:
        WORD.set("of the task")
        stored = await desk.promises[1]
        desk.seen.append((WORD.get(), stored.offset, asyncio.current_task() is task))

    task = asyncio.create_task(waits())
    await asyncio.sleep(0)
    await desk.from_the_loop(desk.settle)
    assert desk.seen == ["settled", 0, 1, ("of the task", 1, True), 2, "told", "next"]
    assert task.done()


async def test_inside_a_task_they_come_soon_because_no_other_task_may_interrupt_it() -> None:
    desk = Desk()
    waiting = asyncio.ensure_future(asyncio.gather(*desk.promises))
    desk.settle()
    assert desk.seen == ["settled", "told"]
    await waiting
    assert desk.seen == ["settled", "told", 0, 1, 2]


async def test_what_a_callback_raises_is_reported_and_the_others_are_called() -> None:
    desk = Desk()
    told: list[Any] = []
    desk.loop.set_exception_handler(lambda _, context: told.append(context))
    problem = ValueError("oops")

    def fails(_: object) -> None:
        raise problem

    desk.promises[0].add_done_callback(fails)
    await desk.from_the_loop(desk.settle)
    assert desk.seen == ["settled", 0, 1, 2, "told", "next"]
    assert [(context["exception"], context["future"]) for context in told] == [(problem, desk.promises[0])]


async def test_what_ends_the_program_takes_no_callback_away() -> None:
    desk = Desk()

    def ends(_: object) -> None:
        raise SystemExit(3)

    desk.promises[0].add_done_callback(ends)

    def settle() -> None:
        with pytest.raises(SystemExit):
            desk.settle()

    await desk.from_the_loop(settle)
    await asyncio.sleep(0)
    assert desk.seen == ["settled", 0, "next", 1, 2]
