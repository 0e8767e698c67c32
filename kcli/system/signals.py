"""The signals that end a process: Ctrl-C, termination requests, and a closing terminal.

Windows has no SIGHUP: a closing console and Ctrl-Break send SIGBREAK there.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` makes enums of it: 2 ms

HANGUP: int = getattr(signal, "SIGHUP", 0)
"""The signal of a closing terminal; 0 on Windows."""
ENDING: tuple[int, ...] = (
    (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    if HANGUP
    else (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGBREAK", signal.SIGTERM))
)
REQUESTS = tuple(number for number in ENDING if number != signal.SIGINT)
"""Signals sent by other processes; the exit code is 128 plus the signal number."""


def heeded() -> list[int]:
    """Return the signals of `ENDING` that this process does not ignore: nohup makes it ignore SIGHUP."""
    return [number for number in ENDING if number != HANGUP or signal.getsignal(number) is not signal.SIG_IGN]
