"""A question at the terminal. Ctrl-C ends the command there, also inside of a running loop."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys

from kcli.cli.runtime.signals import Interrupted
from kcli.system import WINDOWS


def can_ask() -> bool:
    """Whether a terminal can show a question and read the answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(question: str) -> str:
    """The line that was typed, without blanks around it; "" at the end of the input. Raises Interrupted for Ctrl-C.

    A loop's own handler only notes the signal, and `readline` keeps waiting (PEP 475); so the handler that raises
    is in place while we wait, and what the loop's handler noted before counts too.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if _noted():
            raise KeyboardInterrupt
        sys.stderr.write(question)
        sys.stderr.flush()
        _wait_for_a_line()
        return sys.stdin.readline().strip()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise Interrupted("interrupted: nothing was changed") from None
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _wait_for_a_line() -> None:
    """Until there is a line to read, or a signal's handler raises.

    A signal that arrives after Python last looked for one and before `read` waits would take effect only after the next
    key. The wakeup descriptor ends `select` in that case too. Windows has neither; its console ends the reading.
    """
    if WINDOWS:
        return
    try:
        keyboard = sys.stdin.fileno()
    except OSError:  # a text in memory, which a program gave in place of stdin: reading it never waits
        return
    source, sink = os.pipe()
    os.set_blocking(source, False)
    os.set_blocking(sink, False)
    before = signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    try:
        while True:
            ready, _, _ = select.select([keyboard, source], [], [])
            if keyboard in ready:
                return
            _pass_on(source, before)  # another signal than SIGINT: its handler ran, and the question stays
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        _pass_on(source, before)
        os.close(source)
        os.close(sink)


def _pass_on(source: int, sink: int) -> None:
    """The signals that came go to their former reader too, the watchdog, which counts them."""
    try:
        heard = os.read(source, 64)
    except BlockingIOError:
        return
    if sink >= 0:
        os.write(sink, heard)


def _noted() -> bool:
    """Did the loop hear Ctrl-C already, and would it end the command as soon as it runs again?"""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs
        return False
    return task is not None and task.cancelling() > 0
