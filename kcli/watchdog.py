"""Ends the process if the event loop cannot: a thread receives signals while the main thread runs C code.

Python runs signal handlers only between two of its instructions, and an event loop notices them only in its next turn,
so a long C call (decompressing, matching, decoding) delays both. The low-level handler always writes the signal number
to a pipe, and a thread reads it: the second SIGINT ends the process, after a moment for its last output. After a
SIGTERM or SIGHUP that we handle, the loop has one second to run a turn, and then as much time as it needs.

The compiled thread does not need the interpreter lock. Without it a Python thread does the same, but is delayed by
calls that hold the lock.
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
"""Seconds for Python's last output after the final SIGINT."""
PATIENCE = 1.0
"""Seconds within which the event loop must run a turn after SIGTERM or SIGHUP."""
LATE = 0.5  # seconds by which the thread may notice a signal later than the loop
SHOW_CURSOR = b"\x1b[?25h"


class Watch:
    """The thread in Python. `most` is the number of SIGINTs that end the process; `turned_at` is when the loop last
    noticed a signal."""

    def __init__(self) -> None:
        self.most = 2
        self.turned_at = -1.0
        self._parting = SHOW_CURSOR
        self._before: list[Any] | None = None  # the terminal's attributes at the start

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
                with suppress(BlockingIOError):  # a full pipe also wakes the loop
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
    """End the process at once, with the cursor visible."""
    try:
        if os.isatty(2):
            os.write(2, parting)
    finally:
        os._exit(code)


_watch: Any = None
_wake = -1
"""Pipe that wakes the event loop: it becomes readable after a signal."""


_interrupted = False


def _early(number: int, frame: object) -> None:
    """Record a Ctrl-C before the command listens. Python discards exceptions raised in callbacks (such as those of
    import locks), so raising alone would not be reliable."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Whether Ctrl-C was pressed before the command listened."""
    return _interrupted


def listen_plainly() -> None:
    """Leave Ctrl-C to asyncio or Python from now on. Raises KeyboardInterrupt if it was pressed before."""
    if signal.getsignal(signal.SIGINT) is _early:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _interrupted:
        raise KeyboardInterrupt


def arm() -> None:
    """Start the watchdog. Only for kcli's own process, because a program that imports kcli handles its own signals. On
    Windows asyncio's loop needs the wake-up descriptor itself, so a long call delays Ctrl-C there."""
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
    """Disarm in a forked child, whose signals are its own."""
    signal.set_wakeup_fd(-1)


def wake(loop: AbstractEventLoop) -> None:
    """Wake `loop` after every signal, so that Python calls its handlers. `loop.add_signal_handler` would replace our
    wake-up pipe by its own."""
    if _wake >= 0:
        loop.add_reader(_wake, os.read, _wake, 64)


def turned() -> None:
    """Record that the event loop noticed a signal."""
    if _watch is not None:
        _watch.turned()


def heed(most: int) -> None:
    """Set the number of SIGINTs that end the process from now on."""
    if _watch is not None:
        _watch.heed(most)


def part(words: bytes) -> None:
    """Set the text that is written to the terminal, if there is one, when the process is ended."""
    if _watch is not None:
        _watch.part(words)


def listen(loop: AbstractEventLoop, heard: Callable[[int], object]) -> Callable[[], None]:
    """Call `heard` in the loop with the number of every terminating signal, until the returned function is called.

    `add_signal_handler` would do the same, but take the wake-up pipe away from the watchdog.
    """

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
