"""Pauses before retries: exponential with jitter, and never zero (KIP-144, KIP-580).

Everything that retries takes its pauses from here: the base, doubled after each consecutive failure, ±20 %, up to a
maximum. No setting and no response from a broker makes a pause shorter than `LEAST`, so nothing loops at full speed.
`retry` repeats a request, `repeat` polls a condition; `KcliError.retriable` decides what is retried. `random` is not
used: importing it costs a short-lived process 2 ms, and jitter needs no good generator.
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
"""Shortest base in seconds, whatever is configured (retry.backoff.ms=0 is allowed)."""


def spread(part: float = 0.2) -> float:
    """Return a random factor around 1 (±20 %), so that many clients do not retry at the same time."""
    return 1 + part * (urandom(1)[0] / 127.5 - 1)


def full() -> float:
    """Return a random factor between almost 0 and 1 (full jitter), for a server that many clients retry at once."""
    return (urandom(1)[0] + 1) / 256


def after(failures: int, base: float, maximum: float, factor: float | None = None) -> float:
    """Return the pause after another failure that follows `failures` consecutive ones. All times are in seconds.
    `factor` is a shared `spread()` for callers that have to retry together, or `full()`."""
    pause = min(max(base, LEAST) * 2.0 ** min(failures, 32), max(maximum, LEAST))
    return pause * (spread() if factor is None else factor)


def every(interval: float) -> float:
    """Return the pause before the next run of a periodic task: the interval ±10 %, so that clients started together
    spread out."""
    return interval * spread(0.1)


class Floor:
    """A rate limit for consecutive requests of one kind: after the first few, one every `least` seconds.

    It applies to requests that repeat after a successful response, where no failure causes a pause, so that a broker
    that always asks for another request cannot cause a busy loop.
    """

    __slots__ = ("_ahead", "_due", "_least")

    def __init__(self, least: float = 0.05, in_a_row: int = 5) -> None:
        self._least = least
        self._ahead = least * (in_a_row - 1)
        self._due = 0.0

    def wait(self, now: float) -> float:
        """Count a request, and return how long it has to wait."""
        due = max(self._due, now)
        self._due = due + self._least
        return max(0.0, due - self._ahead - now)


class Backoff:
    """The pauses of one sequence of failures, in seconds."""

    __slots__ = ("_base", "_failures", "_max")

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = maximum
        self._failures = 0

    @property
    def failures(self) -> int:
        """Number of consecutive failures."""
        return self._failures

    def next(self) -> float:
        """Return the pause after another failure."""
        wait = after(self._failures, self._base, self._max)
        self._failures += 1
        return wait

    def reset(self) -> None:
        """Record a success: the next pause is the base again."""
        self._failures = 0

    async def pause(self) -> None:
        """Wait after another failure."""
        from asyncio import sleep

        await sleep(self.next())


async def retry(
    attempt: Callable[[], Awaitable[R]],
    pauses: Backoff,
    until: float,
    *,
    policy: Callable[[KcliError], Backoff | None] | None = None,
) -> R:
    """Return the result of `attempt`, retried with `pauses` while its error is retriable.

    If the next attempt would begin after `until` (loop time), the last error is raised. `policy`, if given, decides
    instead: it returns the pauses to use for an error, or None to raise it.
    """
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
    """Call `step` until it returns True.

    Returns False if another step would end after `until` (loop time), assuming that it takes as long as the last one:
    connecting to an address that does not respond takes long each time. None means no limit.
    """
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
