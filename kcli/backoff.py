"""The pause before something is asked again: exponential with jitter, and never nothing (KIP-144, KIP-580).

Whatever asks again takes its pauses from here: base, doubled by each failure in a row, ±20 %, capped. No setting and
no answer of a broker makes a pause shorter than `LEAST`, so nothing spins. The loops are here too: `retry` for a
request, `repeat` for a condition. What may be retried is `KcliError.retriable`. Not `random`: importing that costs a
short-lived process 2 ms, and jitter needs no generator.
"""

from __future__ import annotations

from os import urandom

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    R = TypeVar("R")

LEAST = 0.01
"""Seconds: the shortest base, whatever was configured (retry.backoff.ms=0 is allowed)."""


def spread(part: float = 0.2) -> float:
    """A factor around 1, ±20 %, so that a hundred clients do not align."""
    return 1 + part * (urandom(1)[0] / 127.5 - 1)


def full() -> float:
    """A factor between almost nothing and 1 (full jitter): for a server that many clients ask again at once."""
    return (urandom(1)[0] + 1) / 256


def after(failures: int, base: float, maximum: float, factor: float | None = None) -> float:
    """How long to wait after one more failure, after `failures` in a row before it. All in seconds. `factor` is
    one `spread()` for several that must come back together, or `full()`."""
    pause = min(max(base, LEAST) * 2.0 ** min(failures, 32), max(maximum, LEAST))
    return pause * (spread() if factor is None else factor)


def every(interval: float) -> float:
    """The pause before a regular task runs again: the interval, ±10 %, so that clients that started together spread
    out."""
    return interval * spread(0.1)


class Floor:
    """A limit for requests of one kind in a row; after these, one each `least` seconds. It is for requests that repeat
    after a good response, where no failure sets a pause: a broker that always asks for another request cannot cause a
    busy loop."""

    __slots__ = ("_ahead", "_due", "_least")

    def __init__(self, least: float = 0.05, in_a_row: int = 5) -> None:
        self._least = least
        self._ahead = least * (in_a_row - 1)
        self._due = 0.0

    def wait(self, now: float) -> float:
        """How long the next request has to wait, which is counted with this."""
        due = max(self._due, now)
        self._due = due + self._least
        return max(0.0, due - self._ahead - now)


class Backoff:
    """The waits of one sequence of failures, in seconds."""

    __slots__ = ("_base", "_failures", "_max")

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = maximum
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many in a row."""
        return self._failures

    def next(self) -> float:
        """How long to wait after one more failure."""
        wait = after(self._failures, self._base, self._max)
        self._failures += 1
        return wait

    def reset(self) -> None:
        """It worked: the next failure waits the base again."""
        self._failures = 0

    async def pause(self) -> None:
        """Wait after one more failure."""
        from asyncio import sleep

        await sleep(self.next())


async def retry(
    attempt: Callable[[], Awaitable[R]],
    pauses: Backoff,
    until: float,
    *,
    policy: Callable[[KcliError], Backoff | None] | None = None,
) -> R:
    """The result of `attempt`, repeated while its error is retriable, with `pauses` between, and not when the next
    attempt would begin after `until` (loop time); then the last error is raised. `policy` overrides this: it returns
    the pauses of an error, None for a final one."""
    from asyncio import get_running_loop, sleep

    loop = get_running_loop()
    while True:
        try:
            return await attempt()
        except KcliError as error:
            chosen = policy(error) if policy is not None else pauses if error.retriable else None
            if chosen is None:
                raise
            pause = chosen.next()
            if loop.time() + pause > until:
                raise
        await sleep(pause)


async def repeat(step: Callable[[], Awaitable[bool]], pauses: Backoff, until: float | None = None) -> bool:
    """Call `step` until it returns True. False when another step, if it took as long as the last one, would end after
    `until` (loop time): dialling into a void takes long, and would once more. None is no end."""
    from asyncio import get_running_loop, sleep

    loop = get_running_loop()
    while True:
        begun = loop.time()
        if await step():
            return True
        pause, took = pauses.next(), loop.time() - begun
        if until is not None and loop.time() + pause + took > until:
            return False
        await sleep(pause)
