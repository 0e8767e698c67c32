"""`kcli faults` on a `kcli sandbox` in another process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KCLI = [sys.executable, "-m", "kcli"]


def started(*options: str) -> Iterator[str]:
    words = [*KCLI, "sandbox", "--port", "0", "--format", "json", "--topic", "orders:2", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["bootstrap"]
        process.stdout.close()
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[str]:
    yield from started()


@pytest.fixture(scope="module")
def untold() -> Iterator[str]:
    yield from started("--no-control")


def kcli(bootstrap: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KCLI, *words, "-b", bootstrap], capture_output=True, text=True, timeout=30)


def pending(bootstrap: str) -> list[tuple[str, int]]:
    told = json.loads(kcli(bootstrap, "faults", "-J").stdout)
    return [(one["fault"], one["times"]) for one in told["pending"]]


@pytest.mark.process
def test_a_fault_is_ordered_happens_and_is_taken_back(sandbox: str) -> None:
    assert "never_answer" in kcli(sandbox, "faults").stdout
    assert kcli(sandbox, "faults", "list").stdout == kcli(sandbox, "faults").stdout
    ordered = kcli(sandbox, "faults", "error", "api=Produce", "code=TOPIC_AUTHORIZATION_FAILED", "topic=orders")
    assert ordered.returncode == 0
    assert pending(sandbox) == [("error", 1)]
    refused = kcli(sandbox, "produce", "orders", "--value", "x")
    assert refused.returncode == 1
    assert "TOPIC_AUTHORIZATION_FAILED" in refused.stderr
    assert pending(sandbox) == []
    kcli(sandbox, "faults", "add", "delay", "api=Fetch", "seconds=0.1", "times=9")
    assert pending(sandbox) == [("delay", 9)]
    assert "all faults cleared" in kcli(sandbox, "faults", "clear").stderr
    assert pending(sandbox) == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["nver_answer"], 1, "did you mean never_answer"),
        (["delay", "api"], 2, "expected NAME=VALUE"),
        (["delay", "api=Fetch"], 1, "delay needs seconds"),
        (["kill"], 2, "which broker? kcli faults kill NUMBER"),
        (["kill", "7"], 1, "unknown broker 7"),
    ],
)
def test_what_makes_no_sense_is_said(sandbox: str, words: list[str], code: int, sentence: str) -> None:
    done = kcli(sandbox, "faults", *words)
    assert done.returncode == code
    assert sentence in done.stderr


@pytest.mark.process
def test_the_last_broker_is_killed_and_comes_back(sandbox: str) -> None:
    killed = kcli(sandbox, "faults", "kill", "1")
    back = re.search(r"kcli faults (start 1 --control \S+)", killed.stderr)
    assert back is not None
    assert kcli(sandbox, "topics", "list").returncode == 5
    assert kcli(sandbox, "faults", *back[1].split()).returncode == 0
    assert "orders" in kcli(sandbox, "topics", "list").stdout


@pytest.mark.process
def test_a_read_only_profile_orders_nothing(sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.prod]\nbootstrap = "{sandbox}"\nread_only = true\n')
    monkeypatch.setenv("KCLI_CONFIG", str(config))
    done = subprocess.run(
        [*KCLI, "faults", "kill", "1", "--profile", "prod"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert "refused by read-only profile prod: a fault would change the cluster" in done.stderr
    looked = subprocess.run([*KCLI, "faults", "--profile", "prod"], capture_output=True, text=True, timeout=30)
    assert looked.returncode == 0


@pytest.mark.process
def test_a_sandbox_that_does_not_want_to_be_told_is_not(untold: str) -> None:
    done = kcli(untold, "faults", "clear")
    assert done.returncode == 1
    assert "this is not a sandbox with fault injection" in done.stderr


@pytest.mark.process
def test_the_list_takes_the_options_of_lists(sandbox: str) -> None:
    done = kcli(sandbox, "faults", "--columns", "fault,about", "--sort", "fault", "--top", "2", "--no-headers")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    done = kcli(sandbox, "faults", "--watch", "--interval", "10ms", "--refreshes", "2", "-J")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    done = kcli(sandbox, "faults", "clear", "--watch")
    assert (done.returncode, done.stderr) == (2, "kcli: --watch refreshes the list: kcli faults --watch\n")
