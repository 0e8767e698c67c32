"""Ctrl-C in three steps: drain, stop, kill Spark and us."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from kcli import watchdog
from kcli.system.signals import ENDING, HANGUP, heeded

if TYPE_CHECKING:
    from kcli.pipeline.session.connect import ConnectSession
    from kcli.pipeline.session.session import Session


class Signals:
    """Counts the signals that ask the job to end. The third one ends everything."""

    def __init__(self) -> None:
        self.asked = 0
        self.by = 0  # the first signal
        self.session: Session | ConnectSession | None = None
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> Self:
        return self

    def listen(self) -> None:
        """From now on; PySpark put a handler of its own while the session started."""
        known = [number for number, _ in self._before]
        self._before += [(number, signal.getsignal(number)) for number in ENDING if number not in known]
        for number in heeded():
            signal.signal(number, self._heard)
        watchdog.heed(3)
        if watchdog.interrupted():
            self._heard(signal.SIGINT, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before:
            signal.signal(number, handler or signal.SIG_DFL)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        watchdog.turned()
        if number == HANGUP and self.asked:
            return  # a terminal that closes sends it twice
        self.by = self.by or number
        self.asked += 1
        if self.asked >= 3:
            if self.session is not None:
                self.session.kill()
            os._exit(128 + number)
