"""Running a command's coroutine, with Ctrl-C in two steps (D45).

The first SIGINT or SIGTERM asks the work to end; the second ends the process at once. Neither raises
KeyboardInterrupt inside the engine: a signal is an event like any other.
"""

from __future__ import annotations

import asyncio
import os
import signal

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, TypeVar

    from kcli.model import Cluster

    T = TypeVar("T")

INTERRUPTED = 130
PATIENCE = 3.0  # seconds: no module for outages before
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KcliError):
    """Ctrl-C ended the work before it was whole."""

    exit_code = INTERRUPTED


class Stop:
    """Whether we were asked to stop. `last_words` runs before the second signal ends the process."""

    def __init__(self) -> None:
        self.asked = False
        self.last_words: Callable[[], None] | None = None
        self._event: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def listen(self) -> None:
        """From now on the signals are ours. `add_signal_handler` would do the same and import inspect for it: 5 ms."""
        for number in SIGNALS:
            signal.signal(number, self._heard)

    def _heard(self, *_: object) -> None:
        loop = self._event.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(self.interrupt)

    def interrupt(self) -> None:
        """A signal came."""
        if self.asked:
            if self.last_words is not None:
                self.last_words()
            os._exit(INTERRUPTED)
        self.asked = True
        if not self._event.done():
            self._event.set_result(None)

    async def unless(self, work: Coroutine[Any, Any, T], left: asyncio.Future[None] | None = None) -> T | None:
        """The result of `work`; None when we were asked to stop first, or `left` came first (nobody wants the result
        any more), after `work` was cancelled and has ended."""
        task = asyncio.ensure_future(work)
        ends = (task, self._event) if left is None else (task, self._event, left)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if not task.cancelled():
            return task.result()
        return None

    async def until(self, task: asyncio.Future[Any]) -> None:
        """Wait until `task` is done or we were asked to stop; it goes on all the same."""
        await asyncio.wait((task, self._event), return_when=asyncio.FIRST_COMPLETED)


def run(command: Callable[[Stop], Awaitable[int]]) -> int:
    """Run one command to its exit code."""

    async def whole() -> int:
        stop = Stop()
        stop.listen()
        return await command(stop)

    # not Python's own handler, else asyncio puts one of its own in place
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in SIGNALS]
    try:
        return asyncio.run(whole())
    finally:
        for number, handler in before:
            signal.signal(number, handler or signal.SIG_DFL)


def tell_outages(cluster: Cluster, *, quiet: bool) -> None:
    """From a while on, say on stderr which brokers cannot be reached, as long as this loop runs."""

    def begin() -> None:
        from kcli.cli.outages import Outages

        Outages(cluster).look()

    if not quiet:
        asyncio.get_running_loop().call_later(PATIENCE, begin)
