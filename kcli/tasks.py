"""Wait for a task that others await too: the cancellation of one waiter does not end it for the others (B29)."""

from __future__ import annotations

import asyncio

from kcli.errors import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


async def share(task: asyncio.Task[T]) -> T:
    """The task's result. Only its owner cancels it, at the end of the client: then its waiters get Closed."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if task.cancelled() and (current is None or not current.cancelling()):
            raise Closed("the client was closed") from None
        raise


def retrieve(task: asyncio.Task[T]) -> None:
    """A done callback that retrieves the task's error: its waiters have it; without waiters it is not needed."""
    if not task.cancelled():
        task.exception()
