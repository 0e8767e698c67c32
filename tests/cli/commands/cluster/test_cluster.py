"""`kcli brokers`, `cluster` and `logdirs` on a sandbox of three nodes, one of them gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.cli.main import main
from kcli.errors import UnsupportedVersion
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, features={"kraft.version": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        lines = tmp_path / "lines"
        lines.write_text("".join(f"{n}\n" for n in range(100)))
        assert main(["topics", "create", "orders", "-p", "2", "-r", "3"]) == 0
        assert main(["topics", "create", "small", "-p", "1", "-r", "1"]) == 0
        assert main(["produce", "orders", str(lines), "-q"]) == 0
        yield made


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_brokers_say_what_they_lead_and_store_and_how_quickly(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = document(capsys, "brokers")["brokers"]
    assert [row["broker"] for row in rows] == [1, 2, 3]
    assert sum(row["leads"] for row in rows) == 3
    assert sum(row["replicas"] for row in rows) == 7
    assert [row["state"] for row in rows].count("controller") == 1
    assert all(row["took_ms"] > 0 and row["release"] for row in rows)
    assert all(row["size"] > 100 for row in rows)


def controllers(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """The controller as each command reports it."""
    brokers = [row["broker"] for row in document(capsys, "brokers")["brokers"] if row["state"] == "controller"]
    (cluster,), (meta,) = (document(capsys, words)["cluster"] for words in ("cluster", "meta"))
    return [brokers, cluster["controller"], meta["controller"]]


def test_the_controller_is_the_leader_of_the_quorum_not_the_broker_that_metadata_names(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    document(capsys, "cluster", "voters", "remove", "1", "--execute")
    assert sandbox.call(lambda inside: (inside.cluster.brokers.controller_id, inside.cluster.quorum.leader)) == (1, 2)
    assert controllers(capsys) == [[2], 2, 2]


def test_an_unknown_controller_is_not_shown(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.error("DescribeQuorum", codes.CLUSTER_AUTHORIZATION_FAILED, times=4)
    assert controllers(capsys) == [[], None, None]


def test_on_zookeeper_metadata_names_the_controller(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unsupported(cluster: object) -> None:
        raise UnsupportedVersion("DescribeQuorum")

    monkeypatch.setattr("kcli.admin.cluster.quorum.describe_quorum", unsupported)
    document(capsys, "cluster", "voters", "remove", "1", "--execute")
    assert controllers(capsys) == [[1], 1, 1]


def test_a_broker_that_is_gone_is_told_and_the_exit_code_is_1(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.call(lambda one: one.faults.cluster.stop_broker(3))
    rows = document(capsys, "brokers")["brokers"]  # the cluster knows that it serves nobody: nothing is wrong
    assert [(row["broker"], row["state"] == "fenced") for row in rows] == [(1, False), (2, False), (3, True)]
    fenced = document(capsys, "brokers", "versions", "3", code=1)
    assert "fenced" in fenced["errors"][0]["message"]
    assert document(capsys, "brokers", "versions")["errors"] == []
    missing = document(capsys, "brokers", "versions", "4", code=1)
    assert "unknown broker 4" in missing["errors"][0]["message"]


def test_versions_are_those_of_the_broker_and_ours(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, "brokers", "versions", "1")["apis"]
    fetch = next(row for row in rows if row["api"] == "Fetch")
    assert (fetch["lowest"], fetch["highest"], fetch["kcli"]) == (4, 18, 18)
    assert {row["broker"] for row in rows} == {1}


def test_the_cluster_in_a_row_and_its_features(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = document(capsys, "cluster")["cluster"]
    assert (row["brokers"], row["topics"], row["groups"]) == (3, 2, 0)
    assert row["cluster_id"]
    levels = {one["feature"]: one["level"] for one in document(capsys, "cluster", "features")["features"]}
    assert levels["transaction.version"] == 2


def test_disks_by_directory_by_replica_and_added_up(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    places = document(capsys, "logdirs")["directories"]
    assert sum(one["replicas"] for one in places) == 7
    rows = document(capsys, "logdirs", "replicas", "--topic", "orders", "--broker", "1")["replicas"]
    assert [(one["topic"], one["partition"]) for one in rows] == [("orders", 0), ("orders", 1)]
    by_topic = document(capsys, "logdirs", "replicas", "--by", "topic", "--sort", "size")["replicas"]
    assert [(one["topic"], one["replicas"]) for one in by_topic] == [("orders", 6), ("small", 1)]
    assert by_topic[0]["size"] > by_topic[1]["size"] == 0
    wrong = document(capsys, "logdirs", "replicas", "--topic", "order", code=1)
    assert "did you mean orders?" in wrong["errors"][0]["message"]


@pytest.mark.parametrize("words", [["brokers", "versions", "one"], ["logdirs", "list", "--broker", "one"]])
def test_a_broker_is_named_by_its_id(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "expected the id of a broker" in capsys.readouterr().err
