"""The dashboard ends though its terminal reads nothing any more, or is gone."""

from __future__ import annotations

import io
import re
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from, tuples
from rich.cells import get_character_cell_size
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from kcli.sandbox.thread import SandboxThread
from kcli.tui.beat.leaving import STUCK_AFTER, Mortal, TerminalDriver, compact
from tests.tui.terminal import Terminal


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
    terminal = Counted()
    driver = a_driver(terminal)
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


def a_driver(terminal: io.StringIO) -> TerminalDriver:
    driver = TerminalDriver.__new__(TerminalDriver)
    driver._writer_thread = WriterThread(terminal)
    driver._leaving, driver._is_stuck, driver._frame, driver._rows = False, False, [], {}
    driver._writer_thread.start()
    return driver


def test_a_row_that_is_there_is_not_written_again_unless_the_terminal_may_have_moved_it() -> None:
    terminal = io.StringIO()
    driver = a_driver(terminal)
    rows = "\x1b[1;1Hone\n\x1b[2;1Htwo"
    for text in (rows, rows, "\x1b[2;2Hx", rows):
        driver.write(text)
    driver.forget()
    driver.write(rows)
    driver.close()
    once = rows.replace("\n", "")
    assert terminal.getvalue() == f"{once}\x1b[2;2Hx\x1b[2;2Hw{once}"


CODES = ["", "0", "1", "1;4", "7", "38;2;1;2;3", "38;5;9;48;2;4;5;6", "1;31;44", "91;101", "39;49", "2;3;38;2;9;9;9"]


def cells(text: str) -> list[tuple[str, ...]]:
    """Each character with its ink, ground and other attributes, as a terminal keeps them."""
    found, ink, ground, rest = [], "", "", set[str]()
    split = re.split(r"\x1b\[([\d;]*)m", f"\x1b[0m{text}")[1:]
    for codes, piece in zip(split[::2], split[1::2], strict=True):
        left = codes.split(";")
        while left:
            code = left.pop(0)
            if code in ("38", "48"):
                many = 4 if left[0] == "2" else 2
                code, left = ";".join([code, *left[:many]]), left[many:]
            if code in ("", "0"):
                ink, ground, rest = "", "", set()
            elif re.match("3|9.", code) and code != "3":
                ink = "" if code == "39" else code
            elif re.match("4|10.", code) and code != "4":
                ground = "" if code == "49" else code
            else:
                rest.add(code)
        for letter in piece:
            bare = letter == " " and not rest & {"4", "7"}
            found.append((letter, "" if bare else ink, ground, *sorted(set() if bare else rest)))
    return found


@given(lists(tuples(sampled_from(CODES), sampled_from(["a", " ", "  ", "b c", "\x1b[3;4H", ""]))))
def test_fewer_bytes_show_the_same_cells(pieces: list[tuple[str, str]]) -> None:
    text = "".join(f"\x1b[{codes}m{piece}\x1b[0m" for codes, piece in pieces)
    short = compact(text)
    assert cells(short) == cells(text)
    assert len(short) <= len(text)
    assert not cells(f"{short}x") or cells(f"{short}x")[-1] == ("x", "", "")


def on_screen(text: str) -> dict[tuple[int, int], tuple[str, ...]]:
    """The cells of a terminal that got these texts, each of which begins with its place."""
    grid: dict[tuple[int, int], tuple[str, ...]] = {}
    for row, column, rest in re.findall(r"\x1b\[(\d+);(\d+)H((?:(?!\x1b\[\d+;\d+H).)*)", text, re.DOTALL):
        at = int(column)
        for letter, *style in cells(rest.removesuffix("\n")):
            for part in (letter, "")[: get_character_cell_size(letter)]:
                if not part and grid.get((int(row), at), ("", ""))[0]:
                    grid[int(row), at] = ("", *style)
                grid[int(row), at] = (part, *style)
                at += 1
    return grid


@given(
    lists(
        tuples(integers(1, 2), integers(1, 6), sampled_from(CODES), sampled_from(["a", "ab", " " * 12, "x中y", "é "]))
    )
)
def test_what_is_left_out_was_there_already(texts: list[tuple[int, int, str, str]]) -> None:
    terminal, whole = io.StringIO(), []
    driver = a_driver(terminal)
    for row, column, codes, words in texts:
        whole.append(f"\x1b[{row};{column}H\x1b[{codes}m{words}\x1b[0m")
        driver.write(whole[-1])
    driver.close()
    assert on_screen(terminal.getvalue()) == on_screen("".join(whole))
    assert len(terminal.getvalue()) <= len("".join(whole))


@pytest.mark.process
def test_help_and_pages_are_few_bytes_for_a_slow_line() -> None:
    with SandboxThread(topics={f"topic-{n}": 6 for n in range(30)}) as sandbox:
        size = ["env", "COLUMNS=120", "LINES=40"]
        terminal = Terminal([*size, sys.executable, "-m", "kcli", "tui", "-b", sandbox.bootstrap, "--interval", "1s"])
        try:
            terminal.until(lambda drawn: b"No groups yet" in drawn, 30)
            for key, words in (
                (b"?", b"Every page"),
                (b"?", b"No groups yet"),
                (b"\x14", b"topic-29"),
                (b"H", b"PARTI"),
            ):
                terminal.press(key)
                terminal.until(lambda drawn, words=words: words in drawn, 30)  # type: ignore[misc]
                terminal.rest(2.0)
                assert len(terminal.drawn) <= 30_000, (key, "several frames while a page or a dialog is made")
        finally:
            terminal.end()
