"""kcli on a Python without what Windows lacks (tests/system/hidden.py): sandbox on disk, records in and out, lag."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
KCLI = [sys.executable, "-m", "tests.system.hidden"]
ROOT = Path(__file__).parents[2]
RECORDS = "".join(f"record {number}\n" for number in range(3000))


def kcli(*words: str, stdin: str = "", servers: str = "") -> str:
    """What a command prints; it must end with 0 and say nothing on stderr."""
    environment = {**os.environ, "KCLI_BOOTSTRAP": servers}
    done = subprocess.run(
        [*KCLI, *words], input=stdin, capture_output=True, text=True, env=environment, timeout=60, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, ""), words
    return done.stdout


@contextmanager
def sandbox(data: Path) -> Iterator[str]:
    """The address of one in a process of its own, which Ctrl-C ends."""
    words = ["sandbox", "--port", "0", "--format", "json", "--data", str(data)]
    process = subprocess.Popen([*KCLI, *words], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_help_and_version() -> None:
    assert kcli("--version").startswith("kcli ")
    assert "Usage: kcli [OPTIONS] COMMAND" in kcli("--help")
    assert "Usage: kcli consume" in kcli("consume", "--help")


@pytest.mark.long
def test_records_come_back_from_the_sandbox_and_from_its_disk(tmp_path: Path) -> None:
    with sandbox(tmp_path / "data") as servers:
        kcli("topics", "create", "orders", "-p", "1", servers=servers)
        kcli("produce", "orders", "-q", stdin=RECORDS, servers=servers)
        (tmp_path / "more").write_text("the last one\n")
        kcli("produce", "orders", "-q", str(tmp_path / "more"), servers=servers)
        assert kcli("consume", "orders", "-e", "-q", servers=servers) == f"{RECORDS}the last one\n"
        kcli("consume", "orders", "-g", "billing", "--from-beginning", "-n", "1000", "-q", servers=servers)
        assert json.loads(kcli("lag", "-J", servers=servers))["groups"][0]["lag"] == 2001
    with sandbox(tmp_path / "data") as servers:
        assert kcli("count", "orders", servers=servers).split()[-1] == "3001"
        kcli("produce", "orders", "-q", stdin="after\n", servers=servers)
        assert kcli("consume", "orders", "-o", "-1", "-e", "-q", servers=servers) == "after\n"


def test_what_is_hidden_is_really_gone() -> None:
    code = "from tests.system.hidden import hide; hide(); import os; assert not hasattr(os, 'fork'); import fcntl"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert "ModuleNotFoundError: No module named 'fcntl'" in done.stderr
