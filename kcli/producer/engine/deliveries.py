"""Callbacks of promises, called behind the responses that settle them: in the turn of the loop that reads those."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from typing import Any

    from kcli.proto.core import Promise

    Row = tuple[Callable[[Any], object], Promise, Context]


class Deliveries:
    """`loop` is that of `start`. A task that waits for a promise continues by such a callback."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop
        self._rows: list[Row] | None = None  # while responses are settled

    def add(self, function: Callable[[Any], object], promise: Promise, context: Context) -> None:
        """Have it called: behind the responses that are being settled, or soon."""
        if self._rows is not None:
            self._rows.append((function, promise, context))
        else:
            self.loop.call_soon(function, promise, context=context)

    def begin(self) -> None:
        """Responses are about to be settled. Inside a task, which no other task may interrupt, all are called soon."""
        if asyncio.current_task(self.loop) is None:
            self._rows = []

    def end(self) -> None:
        """They are settled: call what was added, in its order, as the loop does."""
        rows, self._rows = self._rows or (), None
        called = 0
        try:
            for function, promise, context in rows:
                called += 1
                try:
                    context.run(function, promise)
                except Exception as problem:  # noqa: BLE001 - as the loop's own callbacks
                    about = {"message": f"Exception in callback {function!r}", "exception": problem, "future": promise}
                    self.loop.call_exception_handler(about)
        finally:  # of KeyboardInterrupt
            for function, promise, context in rows[called:]:
                self.loop.call_soon(function, promise, context=context)
