"""A question at the terminal. Ctrl-C ends the command there, also inside of a running loop."""

from __future__ import annotations

import asyncio
import signal
import sys

from kcli.cli.runtime.signals import Interrupted


def asked(question: str) -> str:
    """The line that was typed, without blanks around it; "" at the end of the input. Raises Interrupted for Ctrl-C.

    A loop's own handler only notes the signal, and `readline` goes on waiting (PEP 475); so the handler that raises
    is in place while we wait, and what the loop's handler noted before counts too.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if _noted():
            raise KeyboardInterrupt
        sys.stderr.write(question)
        sys.stderr.flush()
        return sys.stdin.readline().strip()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        raise Interrupted("interrupted: nothing was changed") from None
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _noted() -> bool:
    """Did the loop hear Ctrl-C already, and would it end the command as soon as it runs again?"""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs
        return False
    return task is not None and task.cancelling() > 0
