"""`make nightly`: each piece is played and timed, whatever became of the one before."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.nightly import __main__ as nightly
from tests.nightly.__main__ import PIECES, Piece, clock, main, play

PYTHON = (sys.executable, "-c")
MAKEFILE = Path(nightly.__file__).parents[2] / "Makefile"


@pytest.mark.process
def test_a_piece_that_fails_does_not_end_the_night(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pieces = {
        "bad": Piece(1, ((*PYTHON, "print('so it failed'); raise SystemExit(1)"),)),
        "good": Piece(1, ((*PYTHON, "import os; print(os.environ['SAID'])"),), (("SAID", "so it passed"),)),
    }
    monkeypatch.setattr(nightly, "PIECES", pieces)
    assert main([]) == 1
    told = capfd.readouterr().out
    assert "so it failed\n" in told
    assert "so it passed\n" in told
    assert re.search(r"^nightly: bad failed in \d+:\d\d$", told, re.MULTILINE)
    assert re.search(r"^nightly: good +passed +\d+:\d\d  \(about 1 min\)$", told, re.MULTILINE)
    assert re.search(r"^nightly: 1 of 2 passed in \d+:\d\d$", told, re.MULTILINE)
    assert main(["good"]) == 0


def test_a_piece_that_does_not_exist_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["storms"]) == 2
    assert "no piece is called storms; there are test, test-long" in capfd.readouterr().err


@pytest.mark.process
def test_commands_of_a_piece_run_beside_one_another_and_are_heard_one_by_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    meet = "import os, sys; os.open(sys.argv[1], {0}); print('{1}', flush=True); sys.exit({2})"
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)  # whoever opens one end of it waits for the other
    reads, writes = meet.format("os.O_RDONLY", "read", 0), meet.format("os.O_WRONLY", "written", 3)
    assert not play(Piece(1, ((*PYTHON, reads, pipe), (*PYTHON, writes, pipe))), 60.0)
    assert capfd.readouterr().out == "read\nwritten\n"


@pytest.mark.process
def test_a_piece_that_takes_too_long_is_ended_with_what_it_started(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = f"kept = open({str(pipe)!r}, 'w'); import time; time.sleep(600)"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    try:
        assert not play(Piece(1, ((*PYTHON, starts),)), 3.0)
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""  # the child had it open, and is gone
    finally:
        os.close(reading)
    assert "is not done after 3 s" in capfd.readouterr().out


def test_every_target_that_it_makes_exists_and_it_fits_into_a_night() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE.read_text(), re.MULTILINE))
    made = {command[1] for piece in PIECES.values() for command in piece.commands if command[0] == "make"}
    assert made <= targets
    assert sum(piece.minutes for piece in PIECES.values()) <= 300


def test_its_chaos_plays_all_that_make_chaos_does() -> None:
    """A loop that only one of them starts is forgotten in the other."""
    (lines,) = re.findall(r"^chaos:.*\n((?:\t.*\n)+)", MAKEFILE.read_text(), re.MULTILINE)
    made = re.findall(r"python -m (\S+)", lines)
    assert len(made) > 3
    assert set(made) <= {command[2] for command in PIECES["chaos"].commands}


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0:00"), (59.6, "1:00"), (3723.0, "1:02:03")])
def test_a_time_is_shown_as_on_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown
