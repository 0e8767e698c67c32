"""The clock of the runs against wrong answers leaps over every wait, and over nothing else."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.leaps import Leaps, leaping

SOON = 10.0  # seconds


@pytest.fixture
def leaps() -> Iterator[Leaps]:
    begun = time.perf_counter()
    with leaping() as made:
        yield made
    assert time.perf_counter() - begun < SOON, "time went by as it does elsewhere"


def test_what_two_loops_wait_out_takes_no_time(leaps: Leaps) -> None:
    order: list[str] = []

    async def sleep(seconds: float, name: str) -> None:
        await asyncio.sleep(seconds)
        order.append(name)

    async def whole(sandbox: SandboxThread) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        theirs = asyncio.run_coroutine_threadsafe(sleep(2000.0, "theirs"), sandbox._loop)
        await asyncio.gather(sleep(1000.0, "first"), sleep(3000.0, "last"))
        theirs.result()
        assert 3000.0 <= loop.time() - begun < 3000.0 + SOON

    with SandboxThread() as sandbox:
        asyncio.run(whole(sandbox))
    assert order == ["first", "theirs", "last"]


def test_time_does_not_leap_while_a_thread_or_a_broker_is_at_work(leaps: Leaps) -> None:
    async def whole(sandbox: SandboxThread) -> None:
        begun = leaps.now()
        async with asyncio.timeout(SOON):
            await asyncio.to_thread(time.sleep, 0.05)
            sandbox._loop.call_soon_threadsafe(time.sleep, 0.05)  # its loop is busy, and says then that it was
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), sandbox._loop))
        assert leaps.now() - begun < SOON

    with SandboxThread() as sandbox:
        asyncio.run(whole(sandbox))


def test_whoever_waits_for_ever_hears_the_alarm(leaps: Leaps) -> None:
    async def whole() -> float:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        begun = loop.time()

        def late(*_: Any) -> None:
            loop.call_soon_threadsafe(woken.set)

        before = signal.signal(signal.SIGALRM, late)
        try:
            leaps.ring(500.0)
            await woken.wait()
        finally:
            signal.signal(signal.SIGALRM, before)
        return loop.time() - begun

    assert 500.0 <= asyncio.run(whole()) < 500.0 + SOON


def test_afterwards_time_is_the_system_s() -> None:
    from kcli.cli.commands.consume import silence

    clock = time.monotonic
    with leaping() as leaps:
        assert time.monotonic == vars(silence)["monotonic"] == leaps.now
    assert time.monotonic is vars(silence)["monotonic"] is clock
