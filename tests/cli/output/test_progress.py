"""Progress: what it says, when it is shown, and that it is never on stdout or in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from kcli.cli.output.progress import Progress
from tests.cli.conftest import KCLI, Shell


@pytest.mark.parametrize(
    ("total", "unit", "done", "seconds", "text"),
    [
        (10_000_000, "records", 1_234_567, 4.0, "1,234,567 of 10,000,000 records, 308,642/s, 28s left"),
        (None, "records", 1_234_567, 4.0, "1,234,567 records, 308,642/s"),
        (7, "offsets", 1, 4.0, "1 of 7 offsets, 0.2/s, 24s left"),
        (2_000_000, "bytes", 500_000, 2.0, "488 KiB of 1.9 MiB, 244 KiB/s, 6s left"),
        (10, "records", 0, 4.0, "0 of 10 records, 0/s"),
        (10, "records", 12, 4.0, "12 of 10 records, 3/s, 0s left"),
    ],
)
def test_figures_are_what_is_done_the_rate_and_what_is_left(
    total: int | None, unit: str, done: int, seconds: float, text: str
) -> None:
    progress = Progress("copy", total, unit=unit)
    assert progress.figures(done, progress._begun + seconds) == text


def test_the_rate_is_that_of_the_last_seconds() -> None:
    progress = Progress("copy", 1_000_000)
    for second in range(1, 61):
        text = progress.figures(min(second, 30) * 1000 + max(second - 30, 0) * 10, progress._begun + second)
    assert text == "30,300 of 1,000,000 records, 10/s, 1d02h left"


def on_terminal(kcli: Shell, line: str, folder: Path) -> tuple[int, str]:
    """A line of the shell with stderr on a terminal; its exit code and what was shown there."""
    screen, terminal = os.openpty()
    child = subprocess.Popen(
        ["sh", "-c", line.replace("kcli", " ".join(KCLI))], stdin=subprocess.DEVNULL, stderr=terminal,
        stdout=subprocess.DEVNULL, env={**kcli.environment, "COLUMNS": "100", "TERM": "xterm"}, cwd=folder,
    )  # fmt: skip
    os.close(terminal)
    shown, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            part = os.read(screen, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    code = child.wait(10)
    os.close(screen)
    return code, re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.decode())


FILL = "kcli produce T --value $(printf '%01000d' 0) --repeat 20 -X batch.size=1 -q"
"""Twenty batches of a kilobyte."""


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kcli produce T --value x --repeat 30 --rate 20", r"produce T .*\d+ of 30 records, \d+/s, \ds left"),
        ("seq 30 | kcli produce T --rate 20", r"produce T +\d+ records, \d+/s"),
        ("seq 100 > input; kcli produce T --rate 60 input", r"produce T .*\d+ B of 292 B, \d+ B/s, \ds left"),
        ("kcli produce T --value x --repeat 30 --rate 20 -q", None),
        (f"{FILL}; kcli copy T T-copy --create --rate 10kB", r"copy .*\d+ of 20 records, [\d.]+/s, \ds left"),
        (f"{FILL}; kcli copy T T-copy --create --rate 10kB -q", None),
        ("kcli consume T --timeout-ms 2500 > out", r"consume +1 records, \d"),
        ("kcli consume T --timeout-ms 1500 | cat", None),
    ],
)
def test_work_that_lasts_shows_its_progress_on_a_terminal(
    kcli: Shell, line: str, says: str | None, tmp_path: Path
) -> None:
    topic = kcli.topic()
    if "consume" in line:
        line = f"kcli produce {topic} --value x -q; {line}"
    _, shown = on_terminal(kcli, line.replace(" T", f" {topic}"), tmp_path)
    if says is None:
        assert "records" not in shown
    else:
        assert re.search(says.replace(" T", f" {topic}"), shown), shown
