"""`kcli reassign` on a sandbox of four brokers with two disks each: plans, files, throttles, what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.admin.configs import MIN_ISR
from kcli.admin.reassign.throttles import DISK_RATE
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.programs import requests, until

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 40_000  # bytes of a partition, about


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    """orders has four partitions on brokers 1 to 3, each of `SIZE` bytes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with SandboxThread(brokers=4, disks=2) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        made.call(lambda it: it.topics.create("orders", assignments=[[1, 2], [2, 3], [3, 1], [1, 2]]))
        shell = Shell(made.bootstrap)
        for partition in range(4):
            shell.ok("produce", "orders", "-p", str(partition), "--value", "x" * SIZE)
        yield made
        assert made.violations == []


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["reassign", *words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(capsys, *words, code=code)["partitions"]
    return found


def replicas(sandbox: SandboxThread, topic: str = "orders") -> list[list[int]]:
    found: list[list[int]] = sandbox.call(lambda it: [list(p.replicas) for p in it.topics.by_name[topic].partitions])
    return found


def throttled(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(capsys, "throttle")["throttles"]
    return found


def test_a_plan_says_what_is_copied_and_what_becomes_of_each_broker(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "plan", "orders")
    copied = [row for row in found["partitions"] if row["adding"]]
    assert sum(len(row["adding"]) for row in copied) == 2  # broker 4 gets its share, nobody else anything
    assert all(row["adding"] == [4] and SIZE < row["bytes"] < 2 * SIZE for row in copied)
    assert [row["replicas_before"] for row in found["brokers"]] == [3, 3, 2, 0]
    assert [row["replicas_after"] for row in found["brokers"]] == [2, 2, 2, 2]
    assert [row["leads_after"] for row in found["brokers"]] == [1, 1, 1, 1]
    assert found["brokers"][3]["receives"] == sum(row["bytes"] for row in copied)
    assert sum(row["size_before"] for row in found["brokers"]) == sum(row["size_after"] for row in found["brokers"])
    assert replicas(sandbox) == [[1, 2], [2, 3], [3, 1], [1, 2]]


def test_a_saved_plan_is_kafkas_own_json_and_is_done_and_taken_back(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan, undo = tmp_path / "plan.json", tmp_path / "undo.json"
    before = replicas(sandbox)
    planned = rows(capsys, "plan", "--remove-broker", "3", "--save", str(plan))
    written = json.loads(plan.read_text())
    assert written["version"] == 1
    assert [(one["topic"], one["partition"], one["replicas"]) for one in written["partitions"]] == [
        (row["topic"], row["partition"], row["new"]) for row in planned
    ]
    assert {tuple(one["log_dirs"]) for one in written["partitions"]} == {("any", "any")}
    done = rows(capsys, "execute", str(plan), "--execute", "--wait", "--undo-file", str(undo))
    assert {row["result"] for row in done} == {"done"}
    assert not any(3 in nodes for nodes in replicas(sandbox))
    assert {row["result"] for row in rows(capsys, "verify", str(plan))} == {"done"}
    assert rows(capsys, "execute", str(plan), "--execute") == []  # nothing is left to do
    rows(capsys, "execute", str(undo), "--execute", "--wait")
    assert replicas(sandbox) == before
    assert {row["result"] for row in rows(capsys, "verify", str(plan), code=1)} >= {"failed"}


def test_nothing_moves_without_execute_and_no_name_is_made_up(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, "execute", "orders", "--replication-factor", "3", "--dry-run")
    assert rows(capsys, "execute", "orders", "--replication-factor", "3")
    for words in (["orders", "--to", "1,9"], ["orders", "--remove-broker", "x"], [], ["orders", "--all-topics"],
                  ["orders", "--replication-factor", "5"], ["orders", "--remove-broker", "1", "--to", "1"],
                  ["orders", "--execute", "--dry-run"], ["orders", "--throttle", "0"]):  # fmt: skip
        assert main(["reassign", "execute", *words]) == 2, words
    assert main(["reassign", "execute", "order", "--execute"]) == 1
    assert replicas(sandbox) == [[1, 2], [2, 3], [3, 1], [1, 2]]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", 2), ("[]", 2), ('{"version": 2, "partitions": []}', 2), ('{"version": 1, "partitions": []}', 2),
        ('{"partitions": [{"topic": "orders", "partition": 0, "replicas": []}]}', 2),
        ('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 1]}]}', 2),
        ('{"partitions": [{"topic": "orders", "partition": "0", "replicas": [1]}]}', 2),
        ('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1], "log_dirs": []}]}', 1),
        ('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1], "log_dirs": ["a", "b"]}]}', 2),
        ('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 9]}]}', 1),
        ('{"partitions": [{"topic": "orders", "partition": 7, "replicas": [1, 2]}]}', 1),
    ],
)  # fmt: skip
def test_a_file_that_is_no_plan_changes_nothing(
    text: str, code: int, sandbox: SandboxThread, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(text)
    words = ["--dry-run"] if '"log_dirs": []' in text else ["--execute"]
    assert main(["reassign", "execute", str(plan), *words]) == (0 if words == ["--dry-run"] else code)
    assert replicas(sandbox) == [[1, 2], [2, 3], [3, 1], [1, 2]]
    if code == 2:
        assert str(plan) in capsys.readouterr().err


def test_a_move_is_seen_under_way_throttled_then_done_and_no_throttle_is_left(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = rows(capsys, "execute", "orders", "--to", "3,4", "--throttle", "20kB", "--execute")
    assert {row["result"] for row in begun} == {"moving"}
    told = {(row["kind"], row["name"], row["config"]): row["old"] for row in throttled(capsys)}
    assert told["broker", "4", "follower.replication.throttled.rate"] == "20kB/s"
    assert told["topic", "orders", "leader.replication.throttled.replicas"].startswith("0:1,0:2,1:2,1:3")
    assert "3:4" in told["topic", "orders", "follower.replication.throttled.replicas"].split(",")
    moving = rows(capsys, "list", "--over", "0.2")
    assert len(moving) == 4
    assert all(row["left"] <= row["size"] for row in moving)
    assert 0 < sum(row["rate"] for row in moving) < 90_000
    assert {row["result"] for row in rows(capsys, "verify", code=3)} == {"moving"}
    assert throttled(capsys)  # verify leaves it while something moves
    assert "something else moves" not in capsys.readouterr().err
    faster = run(capsys, "throttle", "10MB", "--execute")["throttles"]
    assert {row["new"] for row in faster if row["kind"] == "broker"} == {"10MB/s"}
    assert {row["result"] for row in rows(capsys, "verify", "--wait", "--timeout", "20")} <= {"done"}
    assert throttled(capsys) == []
    assert all(set(nodes) == {3, 4} for nodes in replicas(sandbox))


def test_waiting_ends_at_the_timeout_and_cancel_takes_moves_and_throttles_away(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = replicas(sandbox)
    words = ("execute", "orders", "--to", "3,4", "--throttle", "1kB", "--execute", "--wait", "--timeout", "0")
    assert {row["result"] for row in rows(capsys, *words, code=4)} == {"moving"}
    assert main(["reassign", "execute", "orders", "--to", "1,2", "--execute"]) == 1  # others are on their way
    assert "--additional" in capsys.readouterr().err
    assert len(rows(capsys, "cancel", "orders", "--dry-run")) == 4
    (one,) = rows(capsys, "cancel", "orders:2", "--execute")
    assert one["result"] == "cancelled"
    assert throttled(capsys)  # three still move
    undo = tmp_path / "undo.json"
    rest = rows(capsys, "cancel", "--all-topics", "--execute", "--undo-file", str(undo))
    assert {row["result"] for row in rest} == {"cancelled"}
    assert throttled(capsys) == []
    assert replicas(sandbox) == before
    assert rows(capsys, "cancel", "--all-topics", "--execute") == []
    rows(capsys, "execute", str(undo), "--execute", "--wait")  # what was cancelled begins anew
    assert [set(nodes) == {3, 4} for nodes in replicas(sandbox)] == [True, True, False, True]


def test_batches_go_one_after_the_other(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    done = rows(capsys, "execute", "orders", "--to", "3,4", "--batch", "1", "--throttle", "2MB", "--execute")
    assert {row["result"] for row in done} == {"done"}
    assert sandbox.call(lambda it: it.seen[45]) == 4
    assert throttled(capsys) == []


def test_C17_a_partition_that_is_refused_does_not_hide_the_others(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.error("AlterPartitionReassignments", codes.INVALID_REPLICA_ASSIGNMENT, topic="orders", partition=1)
    words = ("execute", "orders", "--to", "3,4", "--execute", "--wait", "--throttle", "5MB")
    done = rows(capsys, *words, code=1)
    assert [row["result"] for row in done] == ["done", "failed", "done", "done"]
    assert "INVALID_REPLICA_ASSIGNMENT" in done[1]["error"]
    assert throttled(capsys) == []


@pytest.mark.parametrize("api", ["AlterPartitionReassignments", "IncrementalAlterConfigs"])
def test_where_nothing_could_begin_no_throttle_is_left(
    api: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.error(api, codes.CLUSTER_AUTHORIZATION_FAILED, topic="4" if api.startswith("Inc") else None)
    words = ("execute", "orders", "--to", "3,4", "--execute", "--throttle", "5MB")
    rows(capsys, *words, code=1)
    assert throttled(capsys) == []
    assert rows(capsys, "list", "--over", "0") == []
    assert replicas(sandbox) == [[1, 2], [2, 3], [3, 1], [1, 2]]


@pytest.mark.process
@pytest.mark.parametrize(
    ("what", "number", "code"),
    [
        ("keep", signal.SIGINT, 130),
        ("unthrottle", signal.SIGTERM, 143),
        ("cancel", signal.SIGINT, 130),
        ("cancel", signal.SIGHUP, 129),
    ],
)
def test_a_signal_while_waiting(
    what: str, number: int, code: int, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = replicas(sandbox)
    words = ["execute", "orders", "--to", "3,4", "--throttle", "2kB", "--execute", "--wait", "--on-interrupt", what]
    process = subprocess.Popen(
        [sys.executable, "-m", "kcli", "reassign", *words, "--format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
    )  # fmt: skip
    until(lambda: sandbox.call(lambda it: it.cluster.moves.by_partition))
    looks = requests(sandbox, "ListPartitionReassignments")
    until(lambda: requests(sandbox, "ListPartitionReassignments") > looks)  # it waits
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == code, err
    results = {row["result"] for row in json.loads(out)["partitions"]}
    if what == "cancel":
        assert results == {"cancelled"}
        assert replicas(sandbox) == before
        assert throttled(capsys) == []
        return
    assert results == {"moving"}
    assert b"kcli reassign verify --wait" in err
    if what == "keep":
        assert throttled(capsys)
        run(capsys, "throttle", "50MB", "--execute")
    else:
        assert throttled(capsys) == []
    rows(capsys, "verify", "--wait", "--timeout", "20")  # whoever asks later finds what is left
    assert throttled(capsys) == []
    assert all(set(nodes) == {3, 4} for nodes in replicas(sandbox))


def test_throttles_that_somebody_left_are_found_and_removed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert throttled(capsys) == []
    assert main(["reassign", "throttle", "1MB", "--execute"]) == 1  # nothing moves
    for kind, name, pair in (("topic", "orders", "leader.replication.throttled.replicas=*"),
                             ("broker", "2", "leader.replication.throttled.rate=1000")):  # fmt: skip
        assert main(["configs", "set", kind, name, pair, "--execute", "--no-undo", "-q"]) == 0
    capsys.readouterr()
    assert [(row["name"], row["old"]) for row in throttled(capsys)] == [("orders", "*"), ("2", "1kB/s")]
    assert len(run(capsys, "throttle", "--remove", "--dry-run")["throttles"]) == 2
    gone = run(capsys, "throttle", "--remove", "--execute")["throttles"]
    assert {row["result"] for row in gone} == {"done"}
    assert throttled(capsys) == []


def test_fewer_replicas_than_a_write_needs_is_warned_of(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["configs", "set", "topic", "orders", "min.insync.replicas=2", "--execute", "--no-undo", "-q"]) == 0
    assert main(["reassign", "plan", "orders", "--replication-factor", "1"]) == 0
    assert "WARNING: orders will have 1 replica and min.insync.replicas=2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "said"), [("x" * 9, "x" * 9), ("-1", "-1"), ("9" * 5000, "9" * 40)], ids=["text", "negative", "long"]
)
def test_a_config_that_is_no_number_is_said_and_stops_nothing(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], told: str, said: str
) -> None:
    sandbox.call(lambda it: it.topics.by_name["orders"].configs.update({MIN_ISR: told}))
    assert main(["reassign", "plan", "orders", "--replication-factor", "1"]) == 0
    warning = "WARNING: orders will have 1 replica, and min.insync.replicas is unknown: "
    assert (
        f"{warning}orders: the broker reports {MIN_ISR}={said}, which is not a number of replicas\n"
        in capsys.readouterr().err
    )


def test_a_throttle_that_is_no_number_is_shown_as_it_is(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "leader.replication.throttled.rate"
    sandbox.call(lambda it: it.cluster.broker_configs.by_broker.update({"2": {name: "fast"}}))
    assert [(row["config"], row["old"]) for row in throttled(capsys)] == [(name, "fast")]


def disks(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(capsys, "disks", *words, code=code)["replicas"]
    return found


def test_replicas_go_from_disk_to_disk(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["result"] for row in disks(capsys, "--broker", "1", "--balance", "--dry-run")} == {"would move"}
    (row,) = disks(capsys, "--broker", "1", "--balance", "--execute", "--wait")
    assert (row["broker"], row["old"], row["new"], row["result"]) == (1, "/memory/1", "/memory/1-2", "done")
    assert disks(capsys, "--broker", "1", "--balance", "--execute", "--wait") == []
    away = disks(capsys, "--broker", "1", "--from", "/memory/1", "--execute", "--wait", "--throttle", "10MB")
    assert {(row["new"], row["result"]) for row in away} == {("/memory/1-2", "done")}
    assert throttled(capsys) == []
    (one,) = disks(capsys, "orders:1", "--broker", "2", "--to", "/memory/2-2", "--execute")
    assert one["result"] in ("moving", "done")
    capsys.readouterr()
    for word in ("nosuch", "orders:99"):
        assert main(["reassign", "disks", word, "--broker", "2", "--to", "/memory/2-2", "--execute"]) == 1
        assert "nothing to do" not in capsys.readouterr().err
    for words in (["--broker", "1"], ["--to", "/elsewhere"], ["--balance", "--to", "/memory/1"], ["--broker", "x"],
                  ["--balance", "--throttle", "1MB"]):  # fmt: skip
        assert main(["reassign", "disks", *words]) == 2, words


def test_a_move_between_disks_is_cancelled_by_the_file_that_names_it(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["configs", "set", "broker", "1", f"{DISK_RATE}=1000", "--execute"]) == 0
    capsys.readouterr()
    assert disks(capsys, "orders:0", "--broker", "1", "--to", "/memory/1-2", "--execute")[0]["result"] == "moving"
    plan = tmp_path / "plan.json"
    row = {"topic": "orders", "partition": 0, "replicas": [1, 2], "log_dirs": ["/memory/1-2", "any"]}
    plan.write_text(json.dumps({"version": 1, "partitions": [row]}))
    assert rows(capsys, "cancel", str(plan), "--execute") == []
    assert main(["logdirs", "replicas", "--topic", "orders", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["replicas"]
    assert [row["directory"] for row in found if (row["broker"], row["partition"]) == (1, 0)] == ["/memory/1"]


def test_a_plans_directories_are_followed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    row = {"topic": "orders", "partition": 0, "replicas": [4, 2], "log_dirs": ["/memory/4-2", "any"]}
    plan.write_text(json.dumps({"version": 1, "partitions": [row]}))
    rows(capsys, "execute", str(plan), "--execute", "--wait")
    assert rows(capsys, "verify", str(plan))[0]["result"] == "done"
    places = sandbox.call(lambda it: it.topics.by_name["orders"].partitions[0].disks)
    assert places == {4: 1}


def test_plans_are_spread_over_the_racks_that_brokers_tell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread(brokers=4, racks=["x", "x", "y", "y"]) as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        sandbox.call(lambda it: it.topics.create("orders", assignments=[[1, 2], [3, 4]]))
        found = run(capsys, "plan", "orders")
        assert [row["rack"] for row in found["brokers"]] == ["x", "x", "y", "y"]
        assert all((row["new"][0] < 3) != (row["new"][1] < 3) for row in found["partitions"])
        assert rows(capsys, "plan", "orders", "--disable-rack-aware") == []
    with SandboxThread(brokers=2, topics={"orders": 1}, racks=["x", None]) as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        assert main(["reassign", "plan", "orders"]) == 2
        assert "--disable-rack-aware" in capsys.readouterr().err


def test_an_answer_that_is_lost_is_unknown_and_its_moves_keep_their_throttle(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.wire.lose_answer("AlterPartitionReassignments")
    words = ["execute", "orders", "--to", "3,4", "--throttle", "2kB", "--execute", "--wait", "--format", "json"]
    assert main(["reassign", *words]) == 1
    told = capsys.readouterr()
    assert {row["result"] for row in json.loads(told.out)["partitions"]} == {"unknown"}
    assert "moves are in progress, so the throttles stay" in told.err
    assert len(rows(capsys, "list", "--over", "0")) == 4
    assert throttled(capsys)
    rows(capsys, "cancel", "--all-topics", "--execute")
    assert throttled(capsys) == []


def test_a_deadline_or_a_way_to_stop_is_for_those_who_wait(sandbox: SandboxThread) -> None:
    for line in (
        "execute orders --timeout 5", "execute orders --on-interrupt cancel", "verify --timeout 5", "verify a b",
        "verify nosuchfile", "throttle 1 2", "throttle 0", "throttle 5MB --remove", "cancel", "cancel x --all-topics",
    ):  # fmt: skip
        assert main(["reassign", *line.split()]) == 2, line
    assert main(["reassign", "plan", "orders", "--broker-list", ""]) == 2, "not all brokers"


def test_a_broker_that_is_down_is_said_before_its_replicas_are_made_elsewhere(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.call(lambda it: it.faults.cluster.stop_broker(2))
    assert main(["reassign", "plan", "orders", "--no-balance"]) == 0
    assert "WARNING: broker 2 is not available; its 3 replicas would be created elsewhere" in capsys.readouterr().err
    assert main(["reassign", "plan", "orders", "--to", "1,2,3"]) == 2
    assert "unknown broker 2; known: 1, 3, 4" in capsys.readouterr().err


def test_P12_a_throttled_move_leaves_out_a_source_that_is_down(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.call(lambda it: it.faults.cluster.stop_broker(2))
    words = ("execute", "orders", "--to", "1,3,4", "--throttle", "5MiB", "--execute", "--wait")
    assert {row["result"] for row in rows(capsys, *words)} == {"done"}
    assert not any(2 in nodes for nodes in replicas(sandbox))
    assert throttled(capsys) == []


@pytest.mark.parametrize("verb", ["execute", "cancel", "verify"])
def test_a_plan_that_is_not_there_is_a_usage_error(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    more = [] if verb == "verify" else ["--execute"]
    assert main(["reassign", verb, "gone.json", *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "kcli: gone.json: No such file or directory\n"


def test_a_topic_that_is_not_there_is_not_one_that_does_not_move(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reassign", "cancel", "order", "--execute"]) == 1
    assert "order: this topic does not exist" in capsys.readouterr().err
    assert main(["reassign", "cancel", "orders:9", "--execute"]) == 1
    assert "orders" in capsys.readouterr().err
    assert main(["reassign", "plan", "order"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
