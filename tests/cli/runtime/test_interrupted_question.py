"""Ctrl-C at a confirmation: the command ends at once with 130 and says that nothing was changed."""

from __future__ import annotations

import os
import pty
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from kcli.cli.main import main
from kcli.cli.runtime.question import asked
from kcli.cli.runtime.signals import Interrupted
from kcli.sandbox.thread import SandboxThread
from tests.programs import KCLI
from tests.tui.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CTRL_C = b"\x03"
TOPICS = ("topics", "list", "--format", "plain")


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    """`orders` has two records; billing has committed 1."""
    with SandboxThread(topics={"orders": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        lines, offsets = tmp_path / "lines", tmp_path / "offsets"
        lines.write_text("a\nb\n")
        offsets.write_text("orders,0,1\n")
        assert main(["produce", "orders", str(lines), "-q"]) == 0
        line = ("groups", "reset", "--create", "billing", "--from-file", str(offsets), "--execute", "--no-undo", "-q")
        assert main(list(line)) == 0
        yield made


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "look", "still"),
    [
        (("topics", "delete", "orders"), TOPICS, "orders"),
        (("groups", "reset", "billing", "-t", "orders", "--to-earliest"), ("groups", "export", "billing"), ",0,1"),
        (("configs", "set", "topic", "orders", "retention.ms=5", "-J"), TOPICS, "orders"),
    ],
)  # fmt: skip
def test_ctrl_c_at_the_question_ends_the_command_and_changes_nothing(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...], look: tuple[str, ...], still: str,
) -> None:  # fmt: skip
    screen = Terminal([*KCLI, *words])
    screen.until(lambda drawn: drawn.endswith((b"to apply the plan: ", b"[y/N] ")), 60)
    screen.press(CTRL_C)
    said = 2 if "-J" in words else 1  # on stderr, and in the document
    screen.until(lambda drawn: drawn.count(b"nothing was changed") == said, 60)
    shown = screen.drawn.decode()
    assert screen.end(b"", 60) == 130
    assert "Traceback" not in shown
    assert ("RESULT" in shown) is False, "the plan is not printed once more"
    capsys.readouterr()
    assert main(list(look)) == 0
    assert still in capsys.readouterr().out


def test_a_ctrl_c_that_does_not_interrupt_the_read_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes just before `read` waits does not: no EINTR. Another thread's signal is the same, at any time."""
    keyboard, line = pty.openpty()
    done = threading.Event()

    def press() -> None:
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        if not done.wait(10):
            os.write(keyboard, b"\n")

    with open(line) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        thread = threading.Thread(target=press)
        thread.start()
        try:
            with pytest.raises(Interrupted):
                asked("? ")
            assert thread.is_alive(), "it was heard before the next key"
        finally:
            done.set()
            thread.join()
            os.close(keyboard)


def test_another_signal_leaves_the_question_and_the_watchdog_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, line = pty.openpty()
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    before = signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, lambda *_: os.write(keyboard, b" yes \n"))
    watchdogs = signal.set_wakeup_fd(sink)
    try:
        with open(line) as terminal:
            monkeypatch.setattr(sys, "stdin", terminal)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            assert asked("? ") == "yes"
            assert os.read(source, 8) == bytes([signal.SIGUSR1])
            assert signal.set_wakeup_fd(sink) == sink
    finally:
        signal.set_wakeup_fd(watchdogs)
        signal.signal(signal.SIGUSR1, before)
        for opened in (keyboard, source, sink):
            os.close(opened)
