"""An event loop in a thread of its own: heartbeats and lingering batches continue while the program works."""

from __future__ import annotations

import asyncio
import threading

from kcli.errors import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeVar

    T = TypeVar("T")

PATIENCE = 10.0  # seconds for the loop's last tasks


class LoopThread:
    """Runs coroutines on its loop. It may be used from any thread but its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kcli-sync", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result; raises what it raises, and Closed after the end. What interrupts the wait, such as
        Ctrl-C, cancels it."""
        if self._loop.is_closed():
            work.close()
            raise Closed("the client was closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[[], T]) -> T:
        """A function's result, called in the loop's thread."""

        async def work() -> T:
            return function()

        return self.run(work())

    def close(self) -> None:
        """Cancel what still runs, and end the thread. Again: nothing."""
        if not self._loop.is_closed():
            self.run(_cancel_all())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
