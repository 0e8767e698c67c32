"""Which signals end a process: Ctrl-C, a request, and a terminal that closes.

Windows has no SIGHUP; a console that is closed, and Ctrl-Break, are SIGBREAK there.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums of it: 2 ms

HANGUP: int = getattr(signal, "SIGHUP", 0)
"""The signal of a terminal that closes; 0 on Windows."""
ENDING: tuple[int, ...] = (
    (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    if HANGUP
    else (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGBREAK", signal.SIGTERM))
)
REQUESTS = tuple(number for number in ENDING if number != signal.SIGINT)
"""Those that another process sends: the exit code is the signal's own, 128 and its number."""


def heeded() -> list[int]:
    """The signals of `ENDING` that this process takes: nohup has it ignore the terminal's end."""
    return [number for number in ENDING if number != HANGUP or signal.getsignal(number) is not signal.SIG_IGN]
