"""Ctrl-C as an event for a part of a command's work: `with Listening() as stop`. See loop.py; the handlers that were
there come back."""

from __future__ import annotations

import signal

from kcli.cli.runtime.signals import SIGNALS, Stop


class Listening:
    """Only inside of a running loop."""

    def __init__(self) -> None:
        self._stop = Stop()
        self._before = [(number, signal.getsignal(number)) for number in SIGNALS]

    def __enter__(self) -> Stop:
        self._stop.listen()
        return self._stop

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)
