"""`--watch`: the same question again and again, until Ctrl-C or as often as wanted."""

from __future__ import annotations

import asyncio
import sys
from math import inf
from time import monotonic, time

from kcli.backoff import every
from kcli.cli.output.failure import complain_of
from kcli.cli.output.messages import complain
from kcli.cli.output.refreshes import News, Refreshes
from kcli.cli.output.tables.render import render
from kcli.cli.output.timestamps import utc
from kcli.errors import KcliError
from kcli.grammar.durations import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
    from typing import Any, Self, TextIO, TypeVar

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.render import Made
    from kcli.cli.parsing.groups import RefreshOptions
    from kcli.cli.runtime.signals import Stop

    T = TypeVar("T")

INTERVAL = 5.0  # seconds between two refreshes
LEAST_PAUSE = 0.05  # seconds between two refreshes when the time is up
GRACE = 5.0  # seconds that the last refresh may take


def interval_of(options: RefreshOptions) -> float:
    """Seconds between two refreshes. Raises UsageError."""
    return seconds(options.interval, "--interval", INTERVAL, 1)


async def refreshes(
    once: Callable[[], Coroutine[Any, Any, T]],
    stop: Stop,
    *,
    interval: float,
    times: int | None = None,
    timeout: float | None = None,
    insists: bool = False,
    lost: Callable[[], None] = lambda: None,
) -> AsyncIterator[T]:
    """What `once` returns, again and again, until it is stopped. A refresh that fails altogether is reported
    (`lost` is called too) and tried again; the first one raises, and so does every one where the caller `insists`. With
    a timeout, the last refresh is when that is over, and one that brokers hold up is not waited for much longer."""
    seen, news = 0, News()
    until = None if timeout is None else monotonic() + timeout
    while not stop.asked:
        result: T | None = None
        try:
            async with asyncio.timeout(None if until is None else max(until - monotonic(), 0.0) + GRACE):
                result = await stop.unless(once())
        except TimeoutError:
            complain("brokers did not respond in time, so the lag is unknown")
            return
        except KcliError as problem:
            if not seen or insists:
                raise
            for sentence in news.of([str(problem)]):
                complain(sentence)
            lost()
        if result is not None:
            seen += 1
            news.of([])
            yield result
        if times is not None and seen >= times:
            return
        left = inf if until is None else until - monotonic()
        if result is None and left <= 0:
            return  # the time is up, and nothing is known
        await stop.unless(asyncio.sleep(min(every(interval), max(left, LEAST_PAUSE))))


async def watch(
    once: Callable[[], Awaitable[tuple[Document, int]]],
    stop: Stop,
    options: RefreshOptions,
    format: str,
    made: Made = render,
) -> int:
    """Show what `once` returns, a document and its exit code, again and again; the exit code of the last, or 0 after
    Ctrl-C. Remarks on stderr that the last refresh made too are not repeated."""

    async def timed() -> tuple[Document, int, float]:
        begun = monotonic()
        document, code = await once()
        return document, code, monotonic() - begun

    code = 0
    with Refreshes(format, made) as shown, _Remarks() as remarks:
        async for refresh in refreshes(timed, stop, interval=interval_of(options), times=options.refreshes):
            document, code, took = refresh
            shown.show(document, f"{utc(round(time() * 1000))}  refreshed in {took:.2f} s")
            complain_of(document)
            remarks.next()
    return 0 if stop.asked else code


class _Remarks:
    """stderr without the lines that the last refresh wrote too."""

    def __init__(self) -> None:
        self._before: set[str] = set()
        self._now: set[str] = set()
        self._real: TextIO = sys.stderr

    def __enter__(self) -> Self:
        self._real = sys.stderr
        if self._real is not None:
            sys.stderr = self
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._real

    def next(self) -> None:
        """A refresh is over."""
        self._before, self._now = self._now, set()

    def write(self, text: str) -> int:
        known = text in self._before or text in self._now
        self._now.add(text)
        return len(text) if known else self._real.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)
