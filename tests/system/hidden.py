"""`python -m tests.system.hidden WORDS…`: `kcli WORDS…` on a Python that has what Windows' has, and nothing more.

Modules that Windows lacks cannot be imported, functions and flags of `os`, `signal`, `select` and `socket` are gone,
the event loop waits for no descriptor, and `os.kill` with 0 ends the process. What Windows has instead (`msvcrt`,
kernel32) is there in a small form. It shows which way kcli chooses, and that the way is whole; it is no Windows.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {"termios", "fcntl", "pwd", "grp", "resource", "tty", "pty", "curses", "readline", "syslog", "kcli._watchdog"}
OS = (
    "fork forkpty geteuid getuid getegid getgid setsid killpg memfd_create readv writev preadv pwritev pread "
    "pwrite register_at_fork set_blocking fchmod sysconf mkfifo getpgid tcgetpgrp tcsetpgrp uname statvfs O_NOFOLLOW "
    "O_CLOEXEC O_NONBLOCK O_DIRECTORY sched_getaffinity eventfd getpgrp"
).split()
SIGNALS = (
    "SIGHUP SIGALRM SIGPIPE SIGCHLD SIGWINCH SIGTSTP SIGCONT SIGTTOU SIGTTIN SIGUSR1 SIGUSR2 SIGSTOP SIGKILL SIGQUIT "
    "alarm setitimer pthread_sigmask pthread_kill sigwait pause SIG_BLOCK"
).split()


class Hides(MetaPathFinder):
    """Finds nothing of what Windows lacks."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def refused(real: Any) -> Any:
    """A method of the loop that asyncio may call and no one else, as in Windows' loop."""

    def method(*arguments: Any) -> Any:
        if not sys._getframe(1).f_globals["__name__"].startswith("asyncio."):
            raise NotImplementedError
        return real(*arguments)

    return method


def console() -> ModuleType:
    """`msvcrt`, with the locks of this system."""
    import fcntl

    made = ModuleType("msvcrt")

    def locking(fd: int, mode: int, count: int) -> None:
        assert (mode, count) == (2, 1)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    made.__dict__.update(LK_NBLCK=2, locking=locking, kbhit=lambda: True)
    return made


class Kernel32:
    """Processes of /proc by the names of Windows' library; no console."""

    class Function:
        def __init__(self, function: Any) -> None:
            self.function = function
            self.restype: Any = None

        def __call__(self, *arguments: Any) -> Any:
            return self.function(*arguments)

    def __init__(self, name: str) -> None:
        assert name == "kernel32"
        self.OpenProcess = self.Function(lambda right, inherit, pid: pid if os.path.exists(f"/proc/{pid}") else None)
        self.GetStdHandle = self.Function(lambda number: abs(number))
        self.GetCurrentProcess = self.Function(lambda: 1)

    def GetExitCodeProcess(self, handle: Any, code: Any) -> None:
        code._obj.value = 259

    def GetProcessTimes(self, handle: Any, *times: Any) -> None:
        times[0]._obj.value = 132514562000000000 + handle.value

    def CloseHandle(self, handle: Any) -> None:
        assert handle.value

    def GetConsoleMode(self, handle: Any, mode: Any) -> int:
        return 0

    def GlobalMemoryStatusEx(self, status: Any) -> None:
        assert status._obj.length == 64
        status._obj.available = 5 << 30

    def K32GetProcessMemoryInfo(self, handle: Any, counters: Any, size: int) -> None:
        assert size == 72
        counters._obj.resident = 50 << 20


def hide() -> None:
    """From now on, in this process."""
    sys.modules["msvcrt"] = console()
    ctypes.WinDLL = Kernel32  # type: ignore[attr-defined]
    kill = os.kill

    def kill_of_windows(pid: int, number: int) -> None:
        kill(pid, number or 9)  # there 0 is Ctrl-C's number, and any other but Ctrl-Break's ends the process

    os.kill = kill_of_windows
    sys.meta_path.insert(0, Hides())
    for name in MODULES & set(sys.modules):
        del sys.modules[name]
    import _signal  # type: ignore[import-not-found]

    for place, names in ((os, OS), (signal, SIGNALS), (_signal, SIGNALS), (select, ("poll", "epoll"))):
        for name in names:
            if hasattr(place, name):
                delattr(place, name)
    _signal.SIGBREAK = 21
    socket.SO_EXCLUSIVEADDRUSE = socket.SO_REUSEADDR  # type: ignore[attr-defined]
    del socket.MSG_DONTWAIT
    loop = asyncio.SelectorEventLoop
    for name in ("add_reader", "remove_reader", "add_writer", "remove_writer", "add_signal_handler"):
        setattr(loop, name, refused(getattr(loop, name)))
    import kcli.system

    kcli.system.WINDOWS = True


if __name__ == "__main__":
    hide()
    from kcli.cli.main import main

    sys.exit(main(sys.argv[1:]))
