"""Textual's driver for terminals that go away, or read nothing while the dashboard is left.

Textual writes in a thread, behind a queue of thirty texts. The thread ends at the first error of the terminal; what is
drawn after it fills the queue, and the process waits for ever. So it does where it is left while nothing is read.
"""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from typing import TextIO

PATIENCE = 1.0
"""Seconds that a terminal which reads nothing has for the last texts of a dashboard that is being left."""


class Mortal:
    """A terminal's file. After its first error it takes everything and writes nothing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._gone = False

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def write(self, text: str) -> None:
        if not self._gone:
            try:
                self._file.write(text)
            except OSError:
                self._gone = True  # SIGHUP, or the end of its input, tells the dashboard

    def flush(self) -> None:
        if not self._gone:
            try:
                self._file.flush()
            except OSError:
                self._gone = True


class TerminalDriver(LinuxDriver):
    """The last texts of a dashboard wait PATIENCE seconds for a terminal that reads nothing, all together."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._file = Mortal(self._file)  # type: ignore[assignment, arg-type]
        self._leaving = False
        self._is_stuck = False
        self._frame: list[str] = []  # the pieces of a frame that is not complete

    def write(self, data: str) -> None:
        """The three texts of a frame go as one: each would wake the writing thread, and the next key wait for it."""
        if self._leaving:
            self._put(data)
        elif data == SYNC_START:
            self._frame = [data]
        elif not self._frame:
            super().write(data)
        else:
            self._frame.append(data)
            if data == SYNC_END:
                whole, self._frame = "".join(self._frame), []
                super().write(whole)

    def stop_application_mode(self) -> None:
        self._leaving, self._frame = True, []
        super().stop_application_mode()

    def start_application_mode(self) -> None:
        self._leaving = False
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        self._put(None)
        if self._writer_thread is not None and not self._is_stuck:
            self._writer_thread.join(PATIENCE)

    def _put(self, text: str | None) -> None:
        if self._writer_thread is None or self._is_stuck:
            return
        try:
            self._writer_thread._queue.put(text, timeout=PATIENCE)
        except queue.Full:
            self._is_stuck = True
