"""A loop of its own in a thread: where the client lives, so that no refresh and no fetch ever delays a key.

The screens' side awaits `run`; to cancel there cancels here. Events here are posted as messages. What is done here has
a context of its own: a time-out here would else keep the page that asked, with all its rows, until it has passed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

from kcli.errors import KcliError

T = TypeVar("T")


class ClientThread:
    """Started by `start`, ended by `stop`, which cancels what still runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name="kcli-client", daemon=True)
        self._ended = False

    def start(self) -> None:
        """Begin to turn."""
        self._thread.start()

    def _turn(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, awaited over there. Raises KcliError after `stop`: no loop would ever run it."""
        if self._ended:
            work.close()
            raise KcliError("the session is closed")
        return await asyncio.wrap_future(Context().run(asyncio.run_coroutine_threadsafe, work, self._loop))

    def call(self, what: Callable[[], object]) -> None:
        """Have `what` done over there, soon."""
        if not self._ended:
            Context().run(self._loop.call_soon_threadsafe, what)

    async def stop(self) -> None:
        """End the loop; its tasks are cancelled first."""
        if self._thread.is_alive() and not self._ended:
            self._ended = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join, 10.0)
        elif not self._ended:
            self._ended = True
            self._loop.close()  # it never turned
