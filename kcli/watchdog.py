"""End the process when the event loop cannot: a thread receives signals while the main thread runs C code.

Python runs signal handlers between two of its instructions only, and an event loop sees them at its next turn; a long
call (decompressing, matching, decoding) delays both. The system's handler always writes the signal's number to a pipe.
A thread reads it there: the second SIGINT ends the process, after a moment for its last output; after a SIGTERM or
SIGHUP that we handle the loop has a second to turn, and then all the time that it needs.

The compiled thread needs no interpreter lock. Where it was not built a Python thread does the same; that one is delayed
by a call that keeps the lock.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums of it: 2 ms
import os

from kcli.system import WINDOWS
from kcli.system.signals import REQUESTS, heeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from typing import Any

GRACE = 0.3
"""Seconds that Python has after the last SIGINT, for its last words."""
PATIENCE = 1.0
"""Seconds after SIGTERM or SIGHUP in which the event loop has to turn."""
LATE = 0.5  # seconds that we may hear of a signal later than the loop
SHOW_CURSOR = b"\x1b[?25h"


class Watch:
    """The thread in Python. `most` SIGINTs end the process; `turned_at` is when the loop last heard of a signal."""

    def __init__(self) -> None:
        self.most = 2
        self.turned_at = -1.0
        self._parting = SHOW_CURSOR
        self._before: list[Any] | None = None  # how the terminal was

    def start(self, source: int, loop: int) -> None:
        from _thread import start_new_thread

        from kcli.system.terminal import settings

        self._before = settings()
        start_new_thread(self._watch, (source, loop))

    def turned(self) -> None:
        from time import monotonic

        self.turned_at = monotonic()

    def heed(self, most: int) -> None:
        self.most = most

    def part(self, words: bytes) -> None:
        self._parting = words

    def _end(self, code: int) -> None:
        try:
            if self._before is not None:
                from kcli.system.terminal import restore

                restore(self._before)
        finally:
            end(code, self._parting)

    def _watch(self, source: int, loop: int) -> None:
        from contextlib import suppress
        from select import select
        from time import monotonic

        from kcli.system.terminal import from_background

        from_background()
        interrupts, code, since = 0, 0, 0.0
        due: float | None = None
        unless_turned = False
        while True:
            left = None if due is None else max(0.0, due - monotonic())
            ready, _, _ = select([source], [], [], left)
            if due is not None and monotonic() >= due:
                if not unless_turned or self.turned_at < since:
                    self._end(code)
                due = None
            numbers = os.read(source, 64) if ready else b""
            if numbers:
                with suppress(BlockingIOError):  # a full pipe wakes the loop as well
                    os.write(loop, numbers)
            for number in numbers:
                if number == signal.SIGINT:
                    interrupts += 1
                    if interrupts >= self.most:
                        due = monotonic() + GRACE if due is None or unless_turned else due
                        unless_turned, code = False, 128 + number
                elif number in REQUESTS and due is None:
                    now = monotonic()
                    due, unless_turned, code, since = now + PATIENCE, True, 128 + number, now - LATE


def end(code: int, parting: bytes = SHOW_CURSOR) -> None:
    """At once, with a cursor on the terminal."""
    try:
        if os.isatty(2):
            os.write(2, parting)
    finally:
        os._exit(code)


_watch: Any = None
_wake = -1
"""What the thread wakes an event loop with: a pipe that has something to read after a signal."""


_interrupted = False


def _early(number: int, frame: object) -> None:
    """Ctrl-C before the command listens. Python discards an exception in a callback, as of a lock of the import system,
    so it is noted too."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Whether Ctrl-C came before the command listened."""
    return _interrupted


def listen_plainly() -> None:
    """From now on Ctrl-C is for asyncio, or Python. Raises KeyboardInterrupt if it came before."""
    if signal.getsignal(signal.SIGINT) is _early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _interrupted:
        raise KeyboardInterrupt


def arm() -> None:
    """Start. Only for a process of kcli's own: a program that imports kcli has its own signal handling. On Windows
    asyncio's loop needs the descriptor itself, so a long call delays Ctrl-C there."""
    global _watch, _wake
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _early)
    if _watch is not None or WINDOWS:
        return
    try:
        if os.environ.get("KCLI_PURE_PYTHON"):
            raise ImportError
        import kcli._watchdog as compiled

        _watch = compiled
    except ImportError:
        _watch = Watch()
    source, sink = os.pipe()
    _wake, loop = os.pipe()
    for end_of_pipe in (sink, _wake, loop):
        os.set_blocking(end_of_pipe, False)
    signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget)
    _watch.start(source, loop)


def _forget() -> None:
    """A child's signals are not ours."""
    signal.set_wakeup_fd(-1)


def wake(loop: AbstractEventLoop) -> None:
    """Have `loop` turn after every signal, so that Python calls its handlers. `loop.add_signal_handler` does that with
    a pipe of its own, which would take the place of ours."""
    if _wake >= 0:
        loop.add_reader(_wake, os.read, _wake, 64)


def turned() -> None:
    """The event loop heard of a signal."""
    if _watch is not None:
        _watch.turned()


def heed(most: int) -> None:
    """Set the number of SIGINTs that end the process from now on."""
    if _watch is not None:
        _watch.heed(most)


def part(words: bytes) -> None:
    """Write this to the terminal, if there is one, when the process is ended."""
    if _watch is not None:
        _watch.part(words)


def listen(loop: AbstractEventLoop, heard: Callable[[int], object]) -> Callable[[], None]:
    """From now on `heard` is called in the loop with the number of every signal that ends a process, until what this
    returns is called. `add_signal_handler` would do the same and take away from the thread what it hears with."""

    def turn(number: int) -> None:
        turned()
        heard(number)

    def on_signal(number: int, _: object) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(turn, number)

    wake(loop)
    before = {number: signal.signal(number, on_signal) for number in heeded()}
    if _interrupted:
        on_signal(signal.SIGINT, None)

    def no_more() -> None:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    return no_more
