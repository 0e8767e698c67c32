"""`kcli leaders` on a sandbox of three brokers: what is not led as it should be, elections, and what they cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.cli.main import main
from kcli.errors import ConnectError
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, topics={"orders": 3, "copies": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        yield made
        assert made.violations == []


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert main(["leaders", *words, "--format", "json"]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["partitions"]
    return found


def displaced(sandbox: SandboxThread, topic: str, partition: int) -> tuple[int, int]:
    """Give a partition to its second replica; the preferred leader, and who leads now."""
    replicas = sandbox.call(lambda it: it.topics.by_name[topic].partitions[partition].replicas)
    sandbox.faults.cluster.move_leader(topic, partition, replicas[1])
    return replicas[0], replicas[1]


def test_who_leads_though_another_should(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(capsys, "list") == []
    preferred, leader = displaced(sandbox, "orders", 1)
    (row,) = rows(capsys, "list")
    assert (row["topic"], row["partition"], row["leader"], row["preferred"]) == ("orders", 1, leader, preferred)
    sandbox.faults.cluster.no_leader("copies", 0)
    assert [row["leader"] for row in rows(capsys, "list")] == [None, leader]


def test_the_preferred_leaders_are_elected_and_no_need_is_no_failure(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    preferred, leader = displaced(sandbox, "orders", 1)
    plan = rows(capsys, "elect", "orders", "--dry-run")
    assert [(row["partition"], row["result"]) for row in plan] == [
        (0, "not needed"), (1, "would elect"), (2, "not needed"),
    ]  # fmt: skip
    assert rows(capsys, "elect", "orders")[1]["result"] == "would elect"
    done = rows(capsys, "elect", "orders", "--execute")
    assert (done[1]["old"], done[1]["new"], done[1]["result"]) == (leader, preferred, "elected")
    assert [row["result"] for row in rows(capsys, "elect", "orders:1", "--execute")] == ["not needed"]
    assert rows(capsys, "elect", "--all-topics", "--execute") == []  # only what needs one is shown
    displaced(sandbox, "orders", 0)
    displaced(sandbox, "copies", 0)
    assert {row["result"] for row in rows(capsys, "elect", "--all-topics", "--execute")} == {"elected"}
    assert rows(capsys, "list") == []


def test_between_plan_and_election_somebody_else_elected(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    displaced(sandbox, "orders", 1)
    sandbox.faults.error("ElectLeaders", codes.ELECTION_NOT_NEEDED, topic="orders", partition=1)
    (row,) = rows(capsys, "elect", "orders:1", "--execute")
    assert row["result"] == "not needed"


def test_what_was_elected_is_said_though_nobody_can_be_asked_afterwards(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.changes import elections

    async def unreachable(cluster: object, names: object) -> dict[str, object]:
        raise ConnectError("nobody answers")

    preferred, _ = displaced(sandbox, "orders", 1)
    monkeypatch.setattr(elections, "describe_topics", unreachable)
    (row,) = rows(capsys, "elect", "orders:1", "--execute")
    assert (row["new"], row["result"]) == (preferred, "elected")


def test_C17_one_that_fails_does_not_hide_the_others(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    for partition in range(3):
        displaced(sandbox, "orders", partition)
    sandbox.faults.error("ElectLeaders", codes.PREFERRED_LEADER_NOT_AVAILABLE, topic="orders", partition=2)
    done = rows(capsys, "elect", "orders", "orders:7", "--execute", code=1)
    assert [row["result"] for row in done] == ["elected", "elected", "failed"]
    assert "PREFERRED_LEADER_NOT_AVAILABLE" in done[2]["error"]


def test_a_preferred_leader_that_is_gone_is_said_in_the_plan(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    preferred = sandbox.call(lambda it: it.topics.by_name["copies"].partitions[0].replicas[0])
    sandbox.call(lambda it: it.faults.cluster.stop_broker(preferred))
    (row,) = rows(capsys, "elect", "copies", "--dry-run")
    assert row["note"] == f"broker {preferred} is offline"
    (row,) = rows(capsys, "elect", "copies", "--execute", code=1)
    assert (row["result"], row["new"]) == ("failed", row["old"])


def test_an_unclean_election_is_only_for_what_nobody_leads_and_warns_aloud(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    displaced(sandbox, "orders", 0)
    sandbox.faults.cluster.no_leader("orders", 1)
    assert main(["leaders", "elect", "orders", "--unclean", "--execute", "--format", "json"]) == 0
    told = capsys.readouterr()
    done = json.loads(told.out)["partitions"]
    assert [row["result"] for row in done] == ["not needed", "elected", "not needed"]
    assert (done[1]["old"], done[1]["new"]) == (None, done[1]["replicas"][0])
    assert "WARNING: an unclean election of 1 partition permanently loses records" in told.err
    assert [row["partition"] for row in rows(capsys, "list")] == [0]


@pytest.mark.parametrize("words", [[], ["orders", "--all-topics"], ["orders", "--execute", "--dry-run"], ["orders:x"]])
def test_a_line_that_makes_no_sense(sandbox: SandboxThread, words: list[str]) -> None:
    assert main(["leaders", "elect", *words]) == 2


def test_topics_that_are_not_there(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaders", "elect", "order", "orders:9", "--execute"]) == 1
    told = capsys.readouterr().err
    assert "did you mean orders?" in told
    assert "orders" in told


def test_of_what_is_not_there_it_is_not_said_that_no_election_is_needed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["leaders", "elect", "orders:9", "--execute"]) == 1
    said = capsys.readouterr().err
    assert "orders [9]" in said
    assert "no election is needed" not in said


def test_a_partition_whose_only_replica_is_down_is_not_one_that_needs_no_election(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.call(lambda it: it.faults.cluster.stop_broker(3))
    sandbox.call(lambda it: it.topics.create("alone", assignments=[[3]]))
    assert main(["leaders", "elect", "alone", "--execute", "--format", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["partitions"]
    assert (row["old"], row["result"]) == (None, "failed")
