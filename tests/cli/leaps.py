"""A clock that all loops of this process share, which leaps to the next timer as soon as all of them only wait: what
kcli waits out costs no time, and no time-out comes early because the machine is busy."""

from __future__ import annotations

import asyncio
import contextlib
import math
import selectors
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, TypeVar

import pytest

from kcli import tasks as aside
from kcli.sync.loop_thread import LoopThread

T = TypeVar("T")
MAIN = threading.main_thread()
TICK = 1e-6  # seconds: a timer that may ring a tick too early rings all the same
_monotonic = time.monotonic
_select = selectors.DefaultSelector.select
_run_forever = asyncio.BaseEventLoop.run_forever
_in_executor = asyncio.BaseEventLoop.run_in_executor
_run_in_thread = LoopThread.run
_shut_down = asyncio.BaseEventLoop.shutdown_default_executor


class Leaps:
    """The clock: the system's, and what was leapt over. It leaps only while the loop of the main thread, which is
    kcli's, waits as well as every other, nothing has come for any of them, and no thread works for them."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._lock = threading.Lock()
        self._loops: dict[Any, Any] = {}  # that run, by selector
        self._waits: dict[Any, float] = {}  # until when, by selector
        self._jobs: Counter[Any] = Counter()  # of threads, by the selector of the loop that waits for them
        self._main: Any = None  # the selector of the main thread's loop
        self._alarm = math.inf

    def now(self) -> float:
        return _monotonic() + self._ahead

    def ring(self, seconds: float) -> None:
        """Have the main thread hear SIGALRM after so long, if it waits then; 0 for never."""
        self._alarm = self.now() + seconds if seconds else math.inf

    def run_forever(self, loop: Any) -> None:
        selector, main = loop._selector, threading.current_thread() is MAIN
        with self._lock:
            self._loops[selector] = loop
            self._main = selector if main else self._main
        try:
            _run_forever(loop)
        finally:
            with self._lock:
                del self._loops[selector]
                self._jobs.pop(selector, None)
                self._main = None if main else self._main

    def run_in_executor(self, loop: Any, executor: Any, function: Callable[..., Any], *words: Any) -> Any:
        """Time does not leap until the loop has heard of the end."""
        at_work = _in_executor(loop, executor, function, *words)
        with self._lock:
            self._jobs[loop._selector] += 1
        at_work.add_done_callback(lambda _: self._done(loop))
        return at_work

    async def shut_down(self, loop: Any, *timeout: float) -> None:  # the time limit is of Python 3.12 and newer
        with self._lock:
            self._jobs[loop._selector] += 1
        await _shut_down(loop, *timeout)
        self._done(loop)

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """What a loop of kcli's in another thread does while the main thread waits for it."""
        with self._lock:
            self._main = vars(asyncio.get_running_loop())["_selector"]
        try:
            return await work
        finally:
            with self._lock:
                self._main = None

    def _done(self, loop: Any) -> None:
        with self._lock:
            if self._jobs[loop._selector]:  # else it ended with a turn of its loop
                self._jobs[loop._selector] -= 1

    def select(self, selector: Any, timeout: float | None = None) -> Any:
        """As the selector's own."""
        found = _select(selector, 0)
        if found or (timeout is not None and timeout <= 0) or selector not in self._loops:
            return found if found or timeout == 0 else _select(selector, timeout)
        until = math.inf if timeout is None else self.now() + timeout
        with self._lock:
            self._waits[selector] = until
            rings = self._leap()
            left = until - self.now()
            if rings or left <= 0:
                del self._waits[selector]
        if rings:
            signal.pthread_kill(MAIN.ident or 0, signal.SIGALRM)
        if rings or left <= 0:
            return []
        try:
            return _select(selector, None if left == math.inf else left)
        finally:
            with self._lock:
                self._waits.pop(selector, None)

    def _leap(self) -> bool:
        """Go to the next timer and wake its loop, when nothing else can happen. Whether it is the alarm."""
        if self._main is None or len(self._waits) < len(self._loops) or any(self._jobs.values()):
            return False
        if any(_select(one, 0) for one in self._waits):
            return False
        to = min(self._alarm, *self._waits.values())
        if to == math.inf:
            return False
        self._ahead += max(to - self.now(), 0.0) + TICK
        if self._alarm <= to:
            self._alarm = math.inf
            return True
        for selector, until in self._waits.items():
            if until <= to:
                self._loops[selector]._write_to_self()
        return False


class AtOnce:
    """A thread whose work is done when it has started: kcli's look-ups and handshakes, which ask nobody here."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...] = (), **_: Any) -> None:
        self.start = partial(target, *args)


def do_at_once(_: Any, function: Callable[..., Any], *words: Any) -> asyncio.Future[Any]:
    """As DaemonThread.do, before it returns: time does not leap meanwhile."""
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    aside._work(asyncio.get_running_loop(), answer, function, words)
    return answer


@contextlib.contextmanager
def leaping() -> Iterator[Leaps]:
    """Every loop that this process starts meanwhile, and the clock that kcli reads, go by a clock that leaps."""
    leaps = Leaps()
    changed: dict[str, Callable[..., Any]] = {
        "run_forever": leaps.run_forever, "run_in_executor": leaps.run_in_executor,
        "shutdown_default_executor": leaps.shut_down,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selectors.DefaultSelector, "select", _method(leaps.select))
        for name, function in changed.items():
            patch.setattr(asyncio.BaseEventLoop, name, _method(function))
        patch.setattr(LoopThread, "run", lambda self, work: _run_in_thread(self, leaps.awaited(work)))
        patch.setattr(aside, "Thread", AtOnce)
        patch.setattr(aside.DaemonThread, "__init__", lambda self, name, most=1: None)
        patch.setattr(aside.DaemonThread, "do", do_at_once)
        patch.setattr(aside.DaemonThread, "stop", lambda self: None)
        patch.setattr(time, "monotonic", leaps.now)
        _exchange(_monotonic, leaps.now)
        try:
            yield leaps
        finally:
            _exchange(leaps.now, _monotonic)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *words: function(self, *words)


def _exchange(clock: Callable[[], float], other: Callable[[], float]) -> None:
    """In the modules of kcli and Textual that have one by name."""
    for module in [one for name, one in sys.modules.items() if name.startswith(("kcli.", "textual."))]:
        for name in ("monotonic", "get_time"):
            if vars(module).get(name) == clock:
                vars(module)[name] = other
