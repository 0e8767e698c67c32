"""Waiting for a task that others wait for too: nobody's cancellation ends it for the others (B29)."""

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
    """A done callback: the waiters have the task's error; when all of them have gone, nobody needs it."""
    if not task.cancelled():
        task.exception()
