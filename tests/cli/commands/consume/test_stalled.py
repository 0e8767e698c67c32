"""Reads up to an end of a partition whose broker reports records and sends none: they end and name it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kcli import codes
from kcli.consumer import stall
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

LINES = [
    "consume t -e",
    "consume t -e -J -n 50",
    "consume t -e --order time",
    "consume t -o 0:3",
    "consume t -e -g g",
    "consume t -n 2 --newest-first",
    "count t",
    "copy t u",
    "copy t u --dry-run",
    "cat -b BROKER -C -t t -e",
]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Shell, SandboxThread]]:
    monkeypatch.setattr(stall, "PATIENCE", 0.6)
    with SandboxThread(topics={"t": 2, "u": 2}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "t", "-p", "1", stdin=b"a\nb\nc\n")
        yield shell, sandbox


def without_records(response: Any) -> None:
    for topic in response.responses:
        for row in topic.partitions:
            row.records = b""


@pytest.mark.parametrize("line", LINES)
def test_a_broker_that_sends_no_records_is_given_up(line: str, shell: tuple[Shell, SandboxThread]) -> None:
    run, sandbox = shell
    sandbox.faults.wire.alter("Fetch", without_records, times=100_000)
    begun = time.monotonic()
    done = run(*line.replace("BROKER", sandbox.bootstrap).split())
    assert time.monotonic() - begun < 20
    assert done.returncode == 1, done.stderr
    assert b"t[1] at offset " in done.stderr
    assert b": the broker reports more records, but sent none for 0.6 s" in done.stderr


def test_a_partition_that_advances_is_waited_for(shell: tuple[Shell, SandboxThread]) -> None:
    run, sandbox = shell
    sandbox.faults.wire.alter("Fetch", without_records, times=1)
    assert run.ok("consume", "t", "-e").splitlines() == [b"a", b"b", b"c"]


def test_a_leader_that_refuses_for_a_while_is_waited_for(shell: tuple[Shell, SandboxThread]) -> None:
    """An outage ends, or --timeout says how long to wait."""
    run, sandbox = shell
    sandbox.faults.error("Fetch", codes.NOT_LEADER_OR_FOLLOWER, times=5)
    assert run.ok("consume", "t", "-e").splitlines() == [b"a", b"b", b"c"]


def test_a_timeout_of_the_line_goes_before_it(shell: tuple[Shell, SandboxThread]) -> None:
    run, sandbox = shell
    sandbox.faults.wire.alter("Fetch", without_records, times=100_000)
    done = run("consume", "t", "-e", "--timeout", "1s")
    assert (done.returncode, b"no record arrived for 1000 ms" in done.stderr) == (4, True)


def test_a_process_that_was_stopped_has_not_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        def behind(self) -> dict[TopicPartition, int]:
            return {TopicPartition("t", 0): 5}

    now = [0.0]
    monkeypatch.setattr(stall, "monotonic", lambda: now[0])
    watch = stall.Stall(Fake())  # type: ignore[arg-type]
    watch.check()
    for _ in range(2):
        now[0] += 3600
        watch.check()
    with pytest.raises(KcliError, match=r"t\[0\] at offset 5"):  # noqa: PT012
        for _ in range(6):
            now[0] += 5
            watch.check()
