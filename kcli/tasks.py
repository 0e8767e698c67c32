"""A task that several await: cancelling one waiter does not end it for the others (B29). Blocking work in a thread that
the process does not wait for: a resolver, a token endpoint or a KDC may take half a minute, and the loop's own threads
are joined before the process may end (B30)."""

from __future__ import annotations

import asyncio
from threading import Thread

from kcli.errors import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

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


async def in_daemon_thread(name: str, function: Callable[..., T], *args: Any) -> T:
    """`function(*args)`; raises what it raises. The result of a cancelled call is dropped."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, problem: BaseException | None) -> None:
        if answer.done():
            return
        if problem is not None:
            answer.set_exception(problem)
        else:
            answer.set_result(result)

    def work() -> None:
        result, problem = None, None
        try:
            result = function(*args)
        except BaseException as failed:  # noqa: BLE001 it is raised where it is awaited
            problem = failed
        try:
            loop.call_soon_threadsafe(settle, result, problem)
        except RuntimeError:
            return  # the loop is closed: it has no waiter any more

    Thread(target=work, name=name, daemon=True).start()
    return await answer
