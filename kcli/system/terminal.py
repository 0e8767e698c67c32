"""The terminal: type-ahead, settings, escape sequences."""

from __future__ import annotations

import os
import sys

from kcli.system import WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def typed_ahead() -> bool:
    """Whether reading stdin, a terminal, would not block."""
    if WINDOWS:
        import msvcrt

        return bool(msvcrt.kbhit())  # type: ignore[attr-defined]
    from select import select

    return bool(select([0], [], [], 0)[0])


def settings() -> list[Any] | None:
    """Return the settings of the terminal on stdin for `restore`; None without one. The Windows console resets
    itself."""
    try:
        import termios
    except ImportError:
        return None
    return termios.tcgetattr(0) if os.isatty(0) else None


def from_background() -> None:
    """Let this thread change and write to the terminal even from a background job, where SIGTTOU would stop the
    process. Windows has no jobs."""
    if not WINDOWS:
        import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums of it: 2 ms

        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})


def restore(before: list[Any]) -> None:
    """Restore the settings of the terminal on stdin. Raises termios.error if it is gone."""
    import termios

    termios.tcsetattr(0, termios.TCSANOW, before)


def prepare() -> None:
    """Prepare the terminal at the start of a command. The Windows console interprets escape sequences only on request,
    and its pipes have neither UTF-8 nor plain newlines. Other systems need nothing."""
    if not WINDOWS:
        return
    from kcli.system import windows

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # type: ignore[union-attr]
    windows.obey_escapes()
