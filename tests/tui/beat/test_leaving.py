"""`q` ends the dashboard within seconds, whatever it waits for, and gives the terminal back."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli import watchdog
from kcli.tui.beat import leaving
from kcli.tui.beat.leaving import PATIENCE
from tests.tui.soak_topics import BOX, many_topics
from tests.tui.terminal import Terminal

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread

pytestmark = pytest.mark.process
MARGIN = 3.0
"""Seconds more than PATIENCE that a busy machine may take to end a process."""
WAITING = {
    "a session that does not close": """
import asyncio
from kcli.tui.session import LiveSession
async def close(self):
    await asyncio.sleep(600)
LiveSession.close = close
""",
    "a thread that looks up a name": """
import asyncio, time
from kcli.tui.session import LiveSession
begin = LiveSession.open
async def open(self, post):
    await begin(self, post)
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)
LiveSession.open = open
""",
    "a client that computes": """
import time
from kcli.tui.session import LiveSession
async def _close(self):
    end = time.monotonic() + 600
    while time.monotonic() < end:
        sum(range(1000))
LiveSession._close = _close
""",
}
CHANGING = """
import asyncio
from kcli.tui.app import Dashboard
from kcli.tui.beat.leaving import CHANGES
mount = Dashboard.on_mount
async def on_mount(self):
    await mount(self)
    self.run_worker(asyncio.sleep(600), group=CHANGES)
Dashboard.on_mount = on_mount
"""
SAID = b"A change was in progress: its outcome is unknown."
RUN = "import sys\nfrom kcli.cli.main import main\nsys.exit(main())\n"


def left(board: Terminal, keys: bytes = b"q") -> tuple[int, float]:
    """The exit code after these keys, and the seconds until then."""
    begun = time.monotonic()
    return board.end(keys, 60.0), time.monotonic() - begun


@pytest.mark.long
@pytest.mark.parametrize("waits", WAITING)
def test_what_does_not_end_holds_nothing_up(
    waits: str, seeded: SandboxThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "held.py"
    program.write_text(WAITING[waits] + RUN)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    board = Terminal([sys.executable, str(program), "tui", "-b", seeded.bootstrap])
    board.until(lambda drawn: b"fraud" in drawn, 60.0)
    board.rest(0.5)
    board.drawn = b""
    code, took = left(board)
    assert code == 0
    assert took < PATIENCE + MARGIN
    assert b"\x1b[?1049l" in board.drawn, "the screen of the shell is back"
    assert b"\x1b[?25h" in board.drawn, "with its cursor"


@pytest.mark.parametrize("waits", [None, "a session that does not close"])
def test_a_change_that_is_cut_is_said_on_the_screen_of_the_shell(
    waits: str | None, seeded: SandboxThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "changing.py"
    program.write_text(CHANGING + WAITING.get(waits or "", "") + RUN)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    board = Terminal([sys.executable, str(program), "tui", "-b", seeded.bootstrap])
    board.until(lambda drawn: b"fraud" in drawn, 60.0)
    code, _ = left(board)
    assert code == 0
    _, _, after = board.drawn.rpartition(b"\x1b[?1049l")
    assert after.count(SAID) == 1


def test_a_terminal_that_went_away_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[int, bytes]] = []

    def gone(_: object) -> None:
        assert signal.SIGTTOU in signal.pthread_sigmask(signal.SIG_BLOCK, []), "another job's terminal stops nothing"
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(leaving, "settings", list)
    monkeypatch.setattr(leaving, "restore", gone)
    monkeypatch.setattr(leaving, "_aside", lambda *_: None)
    monkeypatch.setattr(watchdog, "end", lambda code, words: ended.append((code, words)))

    def end() -> None:
        with pytest.raises(OSError):
            leaving.Leaving(b"words")._end(3, "told")

    thread = threading.Thread(target=end)  # it blocks a signal in its thread
    thread.start()
    thread.join()
    assert ended == [(3, b"wordstold\r\n")]


BACKGROUND = """
import os, signal
from kcli.system.terminal import from_background, restore, settings
before = settings()
child = os.fork()
if not child:
    os.setpgid(0, 0)
    from_background()
    restore(before)
    os._exit(0)
_, status = os.waitpid(child, os.WUNTRACED)
if os.WIFSTOPPED(status):
    os.kill(child, signal.SIGKILL)
os._exit(9 if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status))
"""


def test_a_job_in_the_background_gives_the_terminal_back_and_is_not_stopped() -> None:
    assert Terminal([sys.executable, "-c", BACKGROUND]).end(b"", 60.0) == 0


@pytest.mark.long
def test_ten_thousand_topics_that_are_being_loaded_from_a_broker_that_freezes() -> None:
    with many_topics(10_000) as bootstrap:
        board = Terminal([sys.executable, "-m", "kcli", "tui", "topics", "-b", bootstrap], 140, 40)
        board.until(lambda drawn: b"Topics" in drawn, 60.0)
        (box,) = processes(BOX)
        board.rest(1.0)
        os.kill(box, signal.SIGSTOP)
        try:
            code, took = left(board)
        finally:
            os.kill(box, signal.SIGCONT)
    assert code == 0
    assert took < PATIENCE + MARGIN


def processes(program: str) -> list[int]:
    """The children of this process that run a program given by -c."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
            if program.encode() in line and parent == os.getpid():
                found.append(int(entry.name))
    return found


def test_escape_and_q_that_come_together_leave_it_too(seeded: SandboxThread) -> None:
    board = Terminal([sys.executable, "-m", "kcli", "tui", "-b", seeded.bootstrap])
    board.until(lambda drawn: b"fraud" in drawn, 60.0)
    board.rest(0.5)
    code, took = left(board, b"\x1bq")
    assert code == 0
    assert took < PATIENCE + MARGIN
