"""`kcli produce` on a terminal: its prompt, and where records were stored; and --rate."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time
from pathlib import Path

import pytest

from kcli.cli.commands.produce import rate_limit
from kcli.cli.commands.produce.rate_limit import RateLimit
from tests.cli.conftest import KCLI, Shell


def typed(kcli: Shell, words: list[str], lines: list[str], prompt: bytes) -> tuple[int, str]:
    """`kcli produce` on a terminal where someone types a line at each prompt; its exit code and what was on screen."""
    screen, terminal = pty.openpty()
    child = subprocess.Popen(
        [*KCLI, "produce", *words], stdin=terminal, stdout=terminal, stderr=terminal, env=kcli.environment,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(terminal)
    shown, seen, left, deadline = b"", 0, list(lines), time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 1)[0]:
            continue
        try:
            part = os.read(screen, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
        if left and shown[seen:].endswith(prompt):
            seen = len(shown)
            os.write(screen, left.pop(0).encode())
    code = child.wait(10)
    os.close(screen)
    return code, shown.decode().replace("\r", "")


@pytest.mark.process
def test_each_line_that_is_typed_is_stored_before_the_next_prompt(kcli: Shell) -> None:
    topic = kcli.topic()
    code, screen = typed(kcli, [topic], ["one\n", "two\nthree\n", "\x04"], f"{topic}> ".encode())
    assert code == 0
    lines = screen.splitlines()
    assert lines[:3] == ["One record per line; Ctrl-D ends.", f"{topic}> one", "  stored: partition 0, offset 0"]
    assert "stored: partition 0, offset 2" in screen or "offsets 1-2" in screen
    assert lines[-1].startswith(f"{topic}> ") or lines[-2].startswith(f"{topic}> ")
    assert kcli.ok("consume", topic, "-e") == b"one\ntwo\nthree\n"


@pytest.mark.process
def test_a_line_that_is_no_record_is_said_and_the_prompt_stays(kcli: Shell) -> None:
    topic = kcli.topic()
    lines = ["nokey\n", "k v\n", "again\n", "l w\n", "\x04"]
    code, screen = typed(kcli, [topic, "-f", "%k %s"], lines, f"{topic}> ".encode())
    assert code == 0, screen
    assert screen.splitlines()[1:5] == [
        f"{topic}> nokey",
        "  not stored: input line 1: has no ' ' after its %k",
        f"{topic}> k v",
        "  stored: partition 0, offset 0",
    ]
    assert "not stored: input line 3: has no ' ' after its %k" in screen
    assert kcli.ok("consume", topic, "-e", "-f", "%k=%s\n") == b"k=v\nl=w\n"


@pytest.mark.process
def test_so_is_json_that_is_none(kcli: Shell) -> None:
    topic = kcli.topic()
    code, screen = typed(
        kcli, [topic, "--input", "json"], ["{nope\n", '{"value": "v"}\n', "\x04"], f"{topic}> ".encode()
    )
    assert code == 0, screen
    assert "  not stored: input line 1: is not JSON" in screen
    assert "stored: partition 0, offset 0" in screen


@pytest.mark.process
def test_a_wrong_topic_is_said_before_anything_is_typed(kcli: Shell) -> None:
    code, screen = typed(kcli, ["no-such-topic"], [], b"> ")
    assert code == 1
    assert screen.startswith("kcli: no-such-topic: this topic does not exist")


@pytest.mark.process
def test_quiet_has_no_prompt(kcli: Shell) -> None:
    topic = kcli.topic()
    screen, terminal = pty.openpty()
    child = subprocess.Popen(
        [*KCLI, "produce", topic, "-q"], stdin=terminal, stdout=terminal, stderr=terminal, env=kcli.environment
    )
    os.write(screen, b"x\n\x04")
    assert child.wait(30) == 0
    os.close(terminal)
    assert os.read(screen, 4096).replace(b"\r", b"") in (b"x\n^D\x08\x08", b"x\n")
    os.close(screen)
    assert kcli.ok("consume", topic, "-e") == b"x\n"


@pytest.mark.process
def test_a_terminal_is_told_where_records_of_the_line_were_stored_and_a_pipe_is_not(kcli: Shell) -> None:
    topic = kcli.topic()
    words = [topic, "--value", "x", "--value", "y"]
    assert typed(kcli, words, [], b"> ") == (0, "kcli: stored: partition 0, offsets 0-1\n")
    many = (0, "kcli: 12 records written: partition 0 offsets 2-13\n")  # too many to be named one by one
    assert typed(kcli, [*words, "--repeat", "6"], [], b"> ") == many
    assert typed(kcli, [*words, "-q"], [], b"> ") == (0, "")
    kcli.ok("produce", *words)


@pytest.mark.parametrize(("given", "second"), [("100", 100), ("50/s", 50), ("30/m", 0.5), ("7200/h", 2), ("0.5", 0.5)])
def test_a_rate_is_kept_exactly_over_time(given: str, second: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(rate_limit, "monotonic", lambda: now[0])
    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def send() -> int:
        kept, sent = RateLimit(given), 0
        while now[0] < 1100.0:
            await kept.wait(kept.step)
            sent += kept.step
            now[0] += 0.001  # what sending takes
        return sent

    assert asyncio.run(send()) == pytest.approx(100 * second, rel=0.02, abs=2)


@pytest.mark.parametrize("words", [[], ["-K:"], ["-H", "a=b"], ["--transactional-id", "paced", "--batch", "7"]])
def test_records_are_spread_over_the_time_of_their_rate(kcli: Shell, words: list[str]) -> None:
    """890 ms apart; the first may be late on a busy machine, and the others then keep to the time of the start."""
    topic = kcli.topic()
    lines = b"".join(b"k:%d\n" % n for n in range(90))
    kcli.ok("produce", topic, "--rate", "100/s", *words, stdin=lines)
    found = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "--envelope").splitlines()]
    assert len(found) == 90
    assert 250 <= found[-1]["timestamp"] - found[0]["timestamp"] <= 2500


@pytest.mark.process
def test_a_terminal_hears_where_a_file_was_stored(kcli: Shell, tmp_path: Path) -> None:
    topic = kcli.topic()
    (tmp_path / "lines").write_text("a\nb\nc\n")
    file = str(tmp_path / "lines")
    assert typed(kcli, [topic, file], [], b"> ") == (0, "kcli: 3 records written: partition 0 offsets 0-2\n")
    assert typed(kcli, [topic, "-q", file], [], b"> ") == (0, "")
    assert kcli.ok("produce", topic, str(tmp_path / "lines")) == b""
