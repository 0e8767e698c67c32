"""Ask one of several brokers: they start one after another, and a slow one does not delay the next.

An entrant starts when the one before it has failed or has had its head start. The first answer counts; the others are
then dropped.
"""

from __future__ import annotations

import asyncio

from kcli.errors import Closed, ConnectError, DeadlineExceeded, cannot_connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeVar

    from kcli.errors import KcliError
    from kcli.model import BrokerConnection

    R = TypeVar("R")

HEAD_START = 1.0  # seconds for a broker to which there is no connection yet, less where there are many


async def first_of(
    brokers: Sequence[BrokerConnection],
    ask: Callable[[BrokerConnection], Awaitable[R]],
    reasons: dict[BrokerConnection, KcliError],
    seconds: float,
) -> tuple[R, BrokerConnection] | None:
    """The first answer and its entrant; None without an answer, with each one's error in `reasons`. A connected broker
    may take its time: no other starts meanwhile. All others have started within half of `seconds`. Raises a
    ConnectError that is not retriable, and what `ask` raises besides ConnectError, DeadlineExceeded and Closed."""
    waiting = list(reversed(brokers))
    head_start = min(HEAD_START, max(0.0, seconds) / 2 / max(1, len(waiting)))
    running: dict[asyncio.Task[R], BrokerConnection] = {}
    try:
        while waiting or running:
            patience = None
            if waiting:
                broker = waiting.pop()
                running[asyncio.ensure_future(_run(ask, broker))] = broker
                if waiting and not broker.connected:
                    patience = head_start
            done, _ = await asyncio.wait(running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                broker = running.pop(task)
                try:
                    return task.result(), broker
                except (ConnectError, DeadlineExceeded, Closed) as problem:
                    if cannot_connect(problem):
                        raise
                    reasons[broker] = problem
    finally:
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
    return None


async def _run(ask: Callable[[BrokerConnection], Awaitable[R]], broker: BrokerConnection) -> R:
    return await ask(broker)
