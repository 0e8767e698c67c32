"""Tasks shared by several waiters, and blocking work in daemon threads.

Cancelling one waiter of a shared task does not cancel it for the others. Daemon threads are used because a resolver, a
token endpoint or a KDC may take half a minute, and the process would have to join asyncio's own threads before it ends.
"""

from __future__ import annotations

import asyncio
from threading import Thread

from kcli.errors import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

PIECE = 256 * 1024  # bytes per read in the thread


async def share(task: asyncio.Task[T]) -> T:
    """Return the task's result. Only its owner cancels it, when the client closes; waiters then get Closed."""
    try:
        return await shielded(task)
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if task.cancelled() and (current is None or not current.cancelling()):
            raise Closed("the client was closed") from None
        raise


async def shielded(work: asyncio.Future[T]) -> T:
    """Return the result of work that continues if the waiter is cancelled. Unlike this, `asyncio.shield` reports the
    work's error to the loop from Python 3.14 on, even if another waiter receives it."""
    if not work.done():
        await asyncio.wait((work,))
    return work.result()


def retrieve(task: asyncio.Task[T]) -> None:
    """Retrieve a task's error in a done callback, so that asyncio does not report it as never retrieved."""
    if not task.cancelled():
        task.exception()


class ThreadReader:
    """Input read by a thread, for platforms where the event loop cannot wait for it (stdin on Windows).

    `read(room)` blocks until there is data; `into` does not block, and can be cancelled without losing what the thread
    reads in the meantime.
    """

    def __init__(self, read: Callable[[memoryview], int | None]) -> None:
        self._read = read
        self._piece = bytearray(PIECE)
        self._left = memoryview(b"")  # read but not yet returned
        self._coming: asyncio.Task[int] | None = None

    async def into(self, room: memoryview) -> int:
        """Return at most `room` bytes; 0 at the end of input. Raises OSError."""
        if not self._left:
            if self._coming is None:
                self._coming = asyncio.ensure_future(in_daemon_thread("stdin", self._next))
            got = await shielded(self._coming)
            self._coming = None
            self._left = memoryview(self._piece)[:got]
        count = min(len(room), len(self._left))
        room[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def _next(self) -> int:
        with memoryview(self._piece) as room:
            return self._read(room) or 0


async def in_daemon_thread(name: str, function: Callable[..., T], *args: Any) -> T:
    """Run `function(*args)` in a daemon thread; its exceptions are raised here. The result of a cancelled call is
    dropped."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    Thread(target=lambda: _work(loop, answer, function, args), name=name, daemon=True).start()
    return await answer


class DaemonThread:
    """A pool of at most `most` daemon threads that run functions until `stop`.

    Unlike the standard library's executor it does not import `logging`, and the process can end without joining it.
    """

    def __init__(self, name: str, most: int = 1) -> None:
        from queue import SimpleQueue

        self._pieces: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._name = name
        self._most = most
        self._threads = 0
        self._under_way = 0

    def do(self, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Return a future for `function(*args)`, which never runs if the future is cancelled first. Raises RuntimeError
        if the system cannot start a thread."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if self._threads < min(self._under_way + 1, self._most):
            self._start()
        answer.add_done_callback(self._ended)
        self._under_way += 1
        self._pieces.put((loop, answer, function, args))
        return answer

    def _start(self) -> None:
        """Start another thread. Raises RuntimeError if the system cannot start one and this pool has none yet."""
        try:
            Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError:
            if not self._threads:
                raise
        else:
            self._threads += 1

    def _ended(self, _: asyncio.Future[T]) -> None:
        self._under_way -= 1

    def stop(self) -> None:
        """End the threads after the submitted work, without waiting."""
        for _ in range(self._threads):
            self._pieces.put(None)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            if not piece[1].cancelled():
                _work(*piece)
            del piece  # so that a waiting thread keeps nothing alive


def _work(
    loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], function: Callable[..., T], args: tuple[Any, ...]
) -> None:
    """Call the function in the thread, and pass its result or error to the loop."""
    result, problem = None, None
    try:
        result = function(*args)
    except BaseException as failed:  # noqa: BLE001 it is raised where it is awaited
        problem = failed

    def settle() -> None:
        if answer.done():
            return
        if problem is not None:
            answer.set_exception(problem)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        return  # the loop is closed: nothing waits for the result
