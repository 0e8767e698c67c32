"""A broker that cannot be reached for a while is said, once, and that it is over (A1, B19: long runs go on)."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.cli.runtime import signals
from kcli.cli.runtime import signals as running
from kcli.errors import ConnectError, KcliError
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


class Trouble:
    """A cluster, as far as outages look at it."""

    def __init__(self) -> None:
        self.now: dict[int, tuple[float, float, KcliError]] = {}
        self.quiet: dict[int, float] = {}
        self.without: dict[TopicPartition, float] = {}

    def failing(self) -> dict[int, tuple[float, float, KcliError]]:
        return self.now

    def silencing(self) -> dict[int, float]:
        return self.quiet

    def leaderless(self) -> dict[TopicPartition, float]:
        return self.without


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATIENCE", 0.05)
    monkeypatch.setattr(signals, "LONG", 0.2)
    monkeypatch.setattr(signals, "LOOK", 0.05)


async def test_an_outage_is_said_once_and_its_end_too(capsys: pytest.CaptureFixture[str]) -> None:
    cluster, now = Trouble(), asyncio.get_running_loop().time()
    looking = signals.Outages(cluster)  # type: ignore[arg-type]
    problem = ConnectError("broker 2 at b:9092: connection refused: nothing listens there")
    cluster.now = {2: (now - 0.1, now, problem)}
    looking.report()
    assert capsys.readouterr().err == "", "a moment is no outage"
    cluster.now = {2: (now - 1, now, problem), 3: (now - 60, now - 60, ConnectError("long forgotten"))}
    looking.report()
    looking.report()
    assert capsys.readouterr().err == f"kcli: {problem}; retrying\n"
    cluster.now = {}
    looking.report()
    looking.report()
    assert capsys.readouterr().err == "kcli: broker 2 is back, or no longer needed\n"


async def test_a_silence_of_days_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Trouble()
    looking = signals.Outages(cluster)  # type: ignore[arg-type]
    cluster.quiet = {1: 2147483.647}
    looking.report()
    looking.report()
    said = capsys.readouterr().err
    assert said.startswith("kcli: broker 1 requested a pause of 2,147,484 s (throttle_time_ms); kcli tries again")
    assert said.count("requested a pause") == 1


async def test_partitions_without_a_leader_are_said_once_and_when_they_have_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = Trouble()
    looking = signals.Outages(cluster)  # type: ignore[arg-type]
    cluster.without = {TopicPartition("t", 1): 0.1, TopicPartition("t", 3): 0.3, TopicPartition("t", 2): 0.3}
    looking.report()
    looking.report()
    assert capsys.readouterr().err == "kcli: t[2], t[3] have no leader; retrying\n"
    cluster.without = {}
    looking.report()
    looking.report()
    assert capsys.readouterr().err == "kcli: t[2], t[3] have a leader again\n"


@pytest.mark.parametrize("words", [["consume", "t", "--timeout", "2s"], ["produce", "t", "-p", "1", "--value", "x"]])
def test_a_command_that_waits_for_a_leader_says_so(words: list[str]) -> None:
    with SandboxThread(topics={"t": 3}) as sandbox:
        sandbox.faults.cluster.no_leader("t", 1)
        done = Shell(sandbox.bootstrap)(*words, "-X", "delivery.timeout.ms=2000", "-X", "request.timeout.ms=1000")
    assert done.returncode != 0
    assert done.stderr.decode().count("kcli: t[1] has no leader; retrying") == 1, done.stderr


@pytest.mark.usefixtures("leaping_clock")
def test_a_reader_does_not_wait_for_days() -> None:
    """Every Fetch answer throttles for 24 days: it is said, and what is there is read all the same."""
    with SandboxThread(topics={"t": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "t", stdin=b"x\n")
        sandbox.faults.wire.throttle("Fetch", 2**31 - 1, times=1)
        sandbox.faults.error("Fetch", codes.NOT_LEADER_OR_FOLLOWER, times=1)
        done = shell("consume", "t", "-o", "beginning", "-n", "1", "-X", "request.timeout.ms=400")
    assert (done.returncode, done.stdout) == (0, b"x\n")
    assert b"requested a pause of 2,147,484 s" in done.stderr


@pytest.mark.usefixtures("leaping_clock")
@pytest.mark.parametrize("quiet", [False, True])
def test_E13_a_reader_says_which_leader_it_waits_for_and_reads_the_others(quiet: bool) -> None:
    with SandboxThread(topics={"t": 3}, brokers=3) as sandbox:
        shell = Shell(sandbox.bootstrap)
        for partition in range(3):
            shell.ok("produce", "t", "-p", str(partition), stdin=b"x\n")
        sandbox.faults.wire.refuse(broker=2, times=1_000)
        sandbox.faults.wire.drop_connections(2)
        words = ["consume", "t", "-o", "beginning", "--timeout-ms", "1200", "-X", "default.api.timeout.ms=900"]
        done = shell(*words, *(["-q"] if quiet else []))
    said = "closed the connection on the first request" in done.stderr.decode()
    assert done.stdout == b"x\nx\n"
    assert said is not quiet
    assert done.stderr.decode().count("retrying") == (not quiet)
