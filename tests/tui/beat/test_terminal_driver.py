"""The dashboard ends though its terminal reads nothing any more, or is gone."""

from __future__ import annotations

import io
import threading
import time

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from kcli.tui.beat.leaving import STUCK_AFTER, Mortal, TerminalDriver


class Deaf(io.StringIO):
    """A terminal that reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = threading.Event()

    def write(self, text: str) -> int:
        self.reads.wait(60)
        return len(text)


def test_a_dashboard_that_is_left_waits_no_longer_for_a_terminal_that_reads_nothing() -> None:
    driver = TerminalDriver.__new__(TerminalDriver)  # without an app, whose terminal it would take
    terminal = Deaf()
    driver._writer_thread = WriterThread(terminal)
    driver._leaving, driver._is_stuck = True, False
    driver._writer_thread.start()
    for _ in range(MAX_QUEUED_WRITES + 1):
        driver._writer_thread.write("a frame")
    begun = time.monotonic()
    for _ in range(10):
        driver.write("the last words")
    driver.close()
    assert STUCK_AFTER * 0.9 < time.monotonic() - begun < STUCK_AFTER * 5
    terminal.reads.set()
    driver._writer_thread._queue.put(None)
    driver._writer_thread.join(10)
    assert not driver._writer_thread.is_alive()


def test_a_dashboard_that_is_left_says_its_last_words_to_a_terminal_that_reads() -> None:
    driver = TerminalDriver.__new__(TerminalDriver)
    terminal = io.StringIO()
    driver._writer_thread = WriterThread(terminal)
    driver._leaving, driver._is_stuck = True, False
    driver._writer_thread.start()
    driver.write("the last words")
    driver.close()
    assert not driver._writer_thread.is_alive()
    assert terminal.getvalue() == "the last words"


class Counted(io.StringIO):
    """A terminal that counts the texts it gets."""

    texts = 0

    def write(self, text: str) -> int:
        self.texts += 1
        return super().write(text)


def test_a_frame_is_one_text_for_the_terminal_and_what_is_no_frame_goes_at_once() -> None:
    driver = TerminalDriver.__new__(TerminalDriver)
    terminal = Counted()
    driver._writer_thread = WriterThread(terminal)
    driver._leaving, driver._is_stuck, driver._frame = False, False, []
    driver._writer_thread.start()
    for text in ("a bell", SYNC_START, "a line", "the cursor", SYNC_END, "a title"):
        driver.write(text)
    driver.close()
    assert terminal.getvalue() == f"a bell{SYNC_START}a linethe cursor{SYNC_END}a title"
    assert terminal.texts == 3


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_takes_everything() -> None:
    file = Mortal(Gone())
    for _ in range(3):
        file.write("a frame")
        file.flush()
    whole = io.StringIO()
    file = Mortal(whole)
    file.write("a frame")
    file.flush()
    assert whole.getvalue() == "a frame"
