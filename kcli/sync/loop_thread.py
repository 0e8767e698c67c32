"""An event loop in a separate thread, so that heartbeats and lingering batches continue while the program works."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

from kcli.errors import FORKED, Closed, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeVar

    T = TypeVar("T")

PATIENCE = 10.0  # seconds for the loop's last tasks


class LoopThread:
    """Runs coroutines on its loop for other threads. Inside the loop's own thread, where callbacks and hooks run, only
    `call` is allowed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kcli-sync", daemon=True)
        self._thread.start()
        self._process = os.getpid()

    @property
    def here(self) -> bool:
        """Whether the caller runs in the loop's thread."""
        return threading.get_ident() == self._thread.ident

    @property
    def forked(self) -> bool:
        """Whether this is a copy in a forked child, where the thread does not run."""
        return os.getpid() != self._process

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result.

        Raises what the coroutine raises, Closed after the end, and UsageError in the loop's thread and after a fork. An
        exception that interrupts the wait, such as Ctrl-C, cancels the coroutine.
        """
        problem = self._refusal()
        if problem is None and self.here:
            problem = UsageError(
                "this call would wait for the client's own thread, which a callback or hook is running in: make it "
                "from another thread; send and metrics can be called here"
            )
        if problem is not None:
            work.close()
            raise problem
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[[], T]) -> T:
        """Call a function in the loop's thread and return its result. Raises like `run`, but is allowed in the loop's
        thread."""
        if self.here and not self.forked:
            return function()

        async def work() -> T:
            return function()

        return self.run(work())

    def _refusal(self) -> Exception | None:
        if self.forked:
            return UsageError(FORKED)
        return Closed("the client was closed") if self._loop.is_closed() else None

    def soon(self, function: Callable[[], object]) -> None:
        """Schedule a function in the loop's thread without waiting. Safe to call from any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """Cancel running tasks and end the thread. Does nothing the second time or after a fork."""
        if not self._loop.is_closed() and not self.forked:
            self.run(_cancel_all())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()


class Unopened:
    """Stands in for a LoopThread until a `with` block is entered; `what` names the unopened object."""

    here = forked = False

    def __init__(self, what: str) -> None:
        self._problem = f"use the {what} in a with block"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Raise UsageError."""
        work.close()
        raise UsageError(self._problem)

    def call(self, function: Callable[[], T]) -> T:
        """Raise UsageError."""
        raise UsageError(self._problem)


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
