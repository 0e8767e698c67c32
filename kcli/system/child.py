"""Forked child processes, which Windows does not have. `forked` starts one that outlives its parent."""

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
    """Run `work` in a child without a terminal and without its parent's files, which ends after at most `seconds`
    together with all processes that it started.

    `work` gets the write end of a pipe; this returns the read end, which the caller closes.
    """
    hear, tell = os.pipe()
    if os.fork() == 0:
        os.close(hear)
        _child(work, tell, seconds)
    os.close(tell)
    return hear


def _child(work: Callable[[int], None], tell: int, seconds: int) -> NoReturn:
    """Run `work` in another child and watch it: when it is done, or its time is over, end everything that it
    started."""
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
        os.closerange(3, tell)  # readers of the parent's pipes would otherwise never see the end
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
