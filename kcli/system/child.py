"""Children that are forked; Windows cannot fork, and does without. `forked` makes one that outlives its parent."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def possible() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def after_fork(function: Callable[[], object]) -> None:
    """Call a function in every child that is forked from now on."""
    if possible():
        os.register_at_fork(after_in_child=function)


def forked(work: Callable[[int], None], seconds: int) -> int:
    """Run `work` in a child that belongs to no terminal, holds none of its parent's files and ends after `seconds` at
    the latest, with all processes that it started. `work` has a pipe's writing end; this returns the reading end, which
    is the caller's to close."""
    hear, tell = os.pipe()
    if os.fork() == 0:
        os.close(hear)
        _child(work, tell, seconds)
    os.close(tell)
    return hear


def _child(work: Callable[[int], None], tell: int, seconds: int) -> NoReturn:
    """Watch over a child of its own that works: when it is done, or its time is over, all that it started ends too."""
    import signal

    worker = 0
    try:
        os.setsid()
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.alarm(seconds)
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.closerange(3, tell)  # whoever reads a pipe of the parent hears of its end
        os.closerange(tell + 1, os.sysconf("SC_OPEN_MAX"))
        if worker := os.fork():
            os.close(tell)
            os.waitpid(worker, 0)
        else:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)  # its watcher may be killed
            work(tell)
            os._exit(0)
    finally:
        if worker:
            os.killpg(0, signal.SIGKILL)
        os._exit(1)  # a child has no terminal to report to
