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

PIECE = 256 * 1024  # bytes that a thread reads at once


async def share(task: asyncio.Task[T]) -> T:
    """The task's result. Only its owner cancels it, at the end of the client: then its waiters get Closed."""
    try:
        return await shielded(task)
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if task.cancelled() and (current is None or not current.cancelling()):
            raise Closed("the client was closed") from None
        raise


async def shielded(work: asyncio.Future[T]) -> T:
    """The result of work that continues when its waiter is cancelled. `asyncio.shield` reports the error of such work
    to the loop, from Python 3.14 on, also where another waiter gets it."""
    if not work.done():
        await asyncio.wait((work,))
    return work.result()


def retrieve(task: asyncio.Task[T]) -> None:
    """A done callback that retrieves the task's error: its waiters have it; without waiters it is not needed."""
    if not task.cancelled():
        task.exception()


class ThreadReader:
    """Input that a thread reads, where the event loop cannot wait for it (stdin on Windows). `read(room)` blocks until
    there is something; `into` does not, and may be cancelled without losing what the thread reads meanwhile."""

    def __init__(self, read: Callable[[memoryview], int | None]) -> None:
        self._read = read
        self._piece = bytearray(PIECE)
        self._left = memoryview(b"")  # read, not taken yet
        self._coming: asyncio.Task[int] | None = None

    async def into(self, room: memoryview) -> int:
        """Some bytes, at most the room; 0 at the end. Raises OSError."""
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
    """`function(*args)`; raises what it raises. The result of a cancelled call is dropped."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    Thread(target=lambda: _work(loop, answer, function, args), name=name, daemon=True).start()
    return await answer


class DaemonThread:
    """A thread that does one piece of work after another until `stop`; up to `most` of them where one has too much to
    do. Unlike an executor of the standard library it costs no import of `logging`, and the process may end without
    it."""

    def __init__(self, name: str, most: int = 1) -> None:
        from queue import SimpleQueue

        self._pieces: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._name = name
        self._most = most
        self._threads = 0
        self._under_way = 0

    def do(self, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """What becomes of `function(*args)`. It is not begun where the future is cancelled first. Raises RuntimeError
        where the system has no thread for it."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if self._threads < min(self._under_way + 1, self._most):
            self._start()
        answer.add_done_callback(self._ended)
        self._under_way += 1
        self._pieces.put((loop, answer, function, args))
        return answer

    def _start(self) -> None:
        """Start one thread more. Raises RuntimeError where the system has none and this object has none yet."""
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
        """End after the work that was given; does not wait."""
        for _ in range(self._threads):
            self._pieces.put(None)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            if not piece[1].cancelled():
                _work(*piece)
            del piece  # while it waits, the thread keeps nothing alive


def _work(
    loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], function: Callable[..., T], args: tuple[Any, ...]
) -> None:
    """In the thread: call the function, and have the loop take over the result, or the error."""
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
        return  # the loop is closed: it has no waiter any more
