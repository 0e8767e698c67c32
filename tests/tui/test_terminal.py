"""The dashboard on a real terminal (tmux): start, drill down, resize; every way to end leaves the terminal clean."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread

pytestmark = pytest.mark.needs("tmux")

KCLI = f"{sys.executable} -m kcli"
LIMIT = 30.0


class Pane:
    """A shell in tmux."""

    def __init__(self, columns: int, lines: int) -> None:
        self._socket = f"kcli-test-{os.getpid()}-{time.monotonic_ns()}"
        environment = {**os.environ, "PS1": "$ ", "ENV": "", "LC_ALL": "C.UTF-8"}
        words = ["tmux", "-f", "/dev/null", "-L", self._socket, "new-session", "-d", "-x", str(columns), "-y"]
        subprocess.run([*words, str(lines), "sh"], check=True, env=environment, timeout=LIMIT)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *words], capture_output=True, text=True, timeout=LIMIT, check=True
        )
        return done.stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, lines: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    @property
    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def flag(self, name: str) -> str:
        return self._tmux("display-message", "-p", f"#{{{name}}}").strip()

    def shows(self, words: str, seconds: float = LIMIT) -> str:
        """Wait until these words are on the screen; what is on it then."""
        deadline = time.monotonic() + seconds
        while words not in (text := self.text):
            assert time.monotonic() < deadline, f"{words!r} did not come:\n{text}"
            time.sleep(0.05)
        return text

    def run(self, command: str) -> None:
        """Type a command; afterwards it says how it ended."""
        self.type(f"{command}; echo ended with $?.")
        self.press("Enter")

    def is_clean(self) -> None:
        """The terminal is as a shell wants it: one screen, a cursor, no mouse, echo, whole lines."""
        assert self.flag("alternate_on") == "0"
        assert self.flag("cursor_flag") == "1"
        assert self.flag("mouse_any_flag") == "0"
        self.press("Enter")
        self.type("clear; stty -a")
        self.press("Enter")
        settings = self.shows("icanon").replace(";", " ").split()
        assert {"echo", "icanon", "isig", "icrnl", "opost"} <= set(settings)
        self.type("echo typed $((40 + 2))")
        assert "echo typed $((40 + 2))" in self.shows("echo typed")
        self.press("Enter")
        self.shows("typed 42")

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def pane() -> Iterator[Pane]:
    one = Pane(100, 30)
    try:
        yield one
    finally:
        one.close()


def child(command: str) -> int:
    """The process id of the dashboard whose command line holds these words."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if line.startswith(sys.executable) and command in line:
                    return int(entry.name)
    raise AssertionError(f"{command} is not running")


def test_start_drill_down_resize_and_quit(pane: Pane, seeded: SandboxThread) -> None:
    pane.run(f"{KCLI} tui -b {seeded.bootstrap} --interval 1s")
    pane.shows("Groups (3)")
    assert pane.flag("alternate_on") == "1"
    pane.press("Down", "Enter")
    pane.shows("Group fraud")
    pane.shows("COMMITTED")
    pane.resize(80, 24)
    deadline = time.monotonic() + LIMIT
    while len(pane.text.rstrip("\n").split("\n")) != 24 or "space Pause" not in pane.text:
        assert time.monotonic() < deadline, pane.text
        time.sleep(0.05)
    pane.press("Enter")
    pane.shows("what fraud reads next")
    pane.resize(140, 45)
    pane.press("Escape", "Escape")
    pane.shows("Groups (3)")
    pane.press("q")
    pane.shows("ended with 0.")
    pane.is_clean()


def test_ctrl_c_and_sigterm_leave_the_terminal_clean_too(pane: Pane, seeded: SandboxThread) -> None:
    command = f"tui -b {seeded.bootstrap} --interval 1s"
    pane.run(f"{KCLI} {command}")
    pane.shows("Groups (3)")
    pane.press("C-c")
    pane.shows("ended with 0.")
    pane.is_clean()
    pane.run(f"clear; {KCLI} {command}")
    pane.shows("Groups (3)")
    os.kill(child(command), 15)
    pane.shows("ended with 143.")
    pane.is_clean()


def test_a_dead_broker_is_told_what_was_seen_stays_and_quitting_is_quick(pane: Pane) -> None:
    with SandboxThread() as own:
        bootstrap = own.bootstrap
        subprocess.run([*KCLI.split(), "topics", "create", "orders", "-b", bootstrap], check=True, timeout=LIMIT)
        subprocess.run(
            [*KCLI.split(), "produce", "orders", "-b", bootstrap], input=b"1\n2\n", check=True, timeout=LIMIT
        )
        words = [*KCLI.split(), "consume", "orders", "-g", "readers", "--from-beginning", "-c", "1", "-b", bootstrap]
        subprocess.run(words, check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
        pane.run(f"{KCLI} tui -b {bootstrap} --interval 500ms")
        pane.shows("readers")
    pane.shows("refused")
    assert "readers" in pane.text
    begun = time.monotonic()
    pane.press("q")
    pane.shows("ended with 0.")
    assert time.monotonic() - begun < 10.0
    pane.is_clean()


def test_kcli_demo_opens_the_dashboard_on_a_terminal(pane: Pane, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"line {n}\n" for n in range(2000)))
    pane.run(f"{KCLI} demo --file {lines}")
    pane.shows("billing", 60.0)
    pane.shows("◌", 60.0)  # ORPHANED; the line above the groups is of the one that came first
    pane.shows("Tour 1 of 5", 60.0)
    pane.press("q")
    text = pane.shows("ended with 0.", 60.0)
    assert "The sandbox is stopped. Everything above was checked." in text
    pane.is_clean()


BROKEN = """
import sys
from kcli.tui.screens.groups import Groups
def heading(self):
    password = "hunter2"
    raise ValueError("no heading" + " today" * bool(self))
Groups.heading = property(heading)
from kcli.cli.main import main
sys.exit(main())
"""


def test_an_error_of_ours_leaves_the_terminal_clean_and_tells_no_values(
    pane: Pane, seeded: SandboxThread, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(BROKEN)
    pane.run(f"PYTHONPATH={Path(__file__).parents[2]} {sys.executable} {broken} tui -b {seeded.bootstrap}")
    text = pane.shows("ended with 1.")
    assert "no heading today" in text
    assert "self = " not in text
    assert "password = 'hunter2'" not in text
    pane.is_clean()


def test_a_closed_window_ends_it_too(pane: Pane, seeded: SandboxThread) -> None:
    command = f"tui -b {seeded.bootstrap} --interval 1s"
    pane.run(f"{KCLI} {command}")
    pane.shows("Groups (3)")
    os.kill(child(command), signal.SIGHUP)
    pane.shows("ended with 129.")
    pane.is_clean()
