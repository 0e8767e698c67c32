"""`kcli txn` on a sandbox of three nodes: who writes, which transactions hang, and how they are ended."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kcli.sandbox.sandbox import Sandbox


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, topics={"orders": 2, "copies": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        yield made
        assert made.violations == []


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    found = document(capsys, *words, code=code)
    some: list[dict[str, Any]] = found["producers" if "producers" in found else "transactions"]
    return some


def _states(sandbox: SandboxThread, *names: str) -> list[str]:
    return sandbox.call(lambda one: [one.cluster.transactions.by_id[name].state for name in names])  # type: ignore[no-any-return]


def opened(sandbox: SandboxThread, name: str, *parts: tuple[str, int]) -> None:
    """A transaction that its coordinator knows, open in these partitions."""

    def begin(inside: Sandbox) -> None:
        one = inside.cluster.transactions.init(name, 60_000, None)
        inside.cluster.transactions.add(one, parts)
        for topic, partition in parts:
            inside.faults.logs.hang_transaction(topic, partition, age=3600, transactional_id=name)

    sandbox.call(begin)


def loaded(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("a\nb\n")
    assert main(["produce", "orders", "-p", "0", str(lines), "--transactional-id", "load-1", "-q"]) == 0


def test_transactions_are_listed_over_all_coordinators_and_filtered_by_them(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded(tmp_path)
    for n in range(5):
        opened(sandbox, f"job-{n}", ("orders", 1))
    listed = rows(capsys, "txn", "list")
    assert [one["transactional_id"] for one in listed] == ["job-0", "job-1", "job-2", "job-3", "job-4", "load-1"]
    assert len({one["coordinator"] for one in listed}) > 1
    assert (listed[-1]["state"], listed[-1]["age"], listed[-1]["partitions"]) == ("CompleteCommit", None, None)
    assert (listed[0]["state"], listed[0]["timeout"], listed[0]["partitions"]) == ("Ongoing", 60.0, 1)

    def names(*words: str) -> list[str]:
        return [one["transactional_id"] for one in rows(capsys, "txn", "list", *words)]

    assert names("--open") == [f"job-{n}" for n in range(5)]
    assert names("--state", "complete-commit") == ["load-1"]
    assert names("--pattern", "job-[12]") == ["job-1", "job-2"]
    assert names("--producer-id", str(listed[-1]["producer_id"])) == ["load-1"]
    assert names("--open", "--longer-than", "1h") == []
    mine = listed[0]["coordinator"]
    assert set(names("--broker", str(mine))) == {o["transactional_id"] for o in listed if o["coordinator"] == mine}
    assert main(["txn", "list", "--state", "Ongoin"]) == 2
    assert "did you mean Ongoing?" in capsys.readouterr().err


def test_a_broker_that_does_not_answer_leaves_the_others_answers_and_exit_code_1(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    from kcli import codes

    for n in range(5):
        opened(sandbox, f"job-{n}", ("orders", 1))
    whole = rows(capsys, "txn", "list")
    gone = whole[0]["coordinator"]
    sandbox.faults.error("ListTransactions", codes.COORDINATOR_LOAD_IN_PROGRESS, broker=gone)
    found = document(capsys, "txn", "list", code=1)
    assert [one["about"] for one in found["errors"]] == [f"broker {gone}"]
    assert found["transactions"]
    assert {one["coordinator"] for one in found["transactions"]} == {o["coordinator"] for o in whole} - {gone}


def test_a_transaction_is_described_with_where_it_holds_readers_up(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded(tmp_path)
    opened(sandbox, "live", ("orders", 0), ("copies", 0))
    found = document(capsys, "txn", "describe", "live", "load-1", "nobody", code=1)
    live, load = found["transactions"]
    assert (live["state"], live["epoch"], live["timeout"]) == ("Ongoing", 0, 60.0)
    assert live["age"] < 60
    assert (load["state"], load["age"]) == ("CompleteCommit", None)
    assert [(p["topic"], p["partition"], p["open_since"]) for p in found["partitions"]] == [
        ("orders", 0, 3),
        ("copies", 0, 0),
    ]
    assert all(3590 < p["idle"] < 3700 for p in found["partitions"])
    assert [one["error"] for one in found["errors"]] == ["TRANSACTIONAL_ID_NOT_FOUND"]


def test_producers_of_partitions_the_last_to_write_first(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded(tmp_path)
    sandbox.faults.logs.hang_transaction("orders", 0)
    follower = rows(capsys, "txn", "producers", "orders:0", "--broker", "2")  # any replica tells what it knows
    leader = rows(capsys, "txn", "producers", "orders:0")
    assert [{**one, "idle": 0} for one in follower] == [{**one, "idle": 0} for one in leader]
    both = rows(capsys, "txn", "producers", "orders:0")
    assert [(one["last_sequence"], one["open_since"]) for one in both] == [(-1, None), (0, 3)]
    assert [one["open_since"] for one in rows(capsys, "txn", "producers", "orders", "--open")] == [3]
    wrong = document(capsys, "txn", "producers", "orders:7", code=1)
    assert wrong["errors"]


def test_KIP664_one_hangs_when_no_coordinator_has_the_producer_or_counts_the_partition_in(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded(tmp_path)
    opened(sandbox, "live", ("copies", 0))
    assert rows(capsys, "txn", "find-hanging", "--older-than", "0s") == []
    sandbox.faults.logs.hang_transaction("orders", 0)
    sandbox.faults.logs.hang_transaction("orders", 1, transactional_id="load-1", age=7200)
    assert rows(capsys, "txn", "find-hanging", "--older-than", "3h") == []
    found = rows(capsys, "txn", "find-hanging", code=3)
    assert [(one["partition"], one["transactional_id"], one["open_since"]) for one in found] == [
        (1, "load-1", 0),
        (0, None, 3),
    ]
    assert "no coordinator knows" in found[1]["why"]
    assert "does not include this partition in load-1" in found[0]["why"]
    assert rows(capsys, "txn", "find-hanging", "copies") == []
    leader = sandbox.call(lambda one: one.topics.partition("orders", 0).leader)
    assert [o["partition"] for o in rows(capsys, "txn", "find-hanging", "--broker", str(leader), code=3)] == [0]


def test_nothing_is_said_to_hang_while_a_coordinator_cannot_be_asked(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    from kcli import codes

    sandbox.faults.logs.hang_transaction("orders", 0)
    sandbox.faults.error("ListTransactions", codes.COORDINATOR_LOAD_IN_PROGRESS)
    found = document(capsys, "txn", "find-hanging", code=1)
    assert found["transactions"] == []
    assert "no transaction is reported as hanging" in found["errors"][-1]["message"]


def test_a_hanging_one_is_aborted_after_a_plan_and_readers_go_on(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loaded(tmp_path)
    sandbox.faults.logs.hang_transaction("orders", 0)
    assert sandbox.call(lambda one: one.topics.partition("orders", 0).log.stable) == 3
    words = ("txn", "abort", "orders:0", "--start-offset", "3")
    (plan,) = rows(capsys, *words, "--dry-run")
    assert (plan["result"], plan["open_since"], plan["coordinator_epoch"]) == ("would abort", 3, -1)
    assert main([*words]) == 0  # a plan only
    assert sandbox.call(lambda one: one.topics.partition("orders", 0).log.stable) == 3
    capsys.readouterr()
    (done,) = rows(capsys, *words, "--execute")
    assert (done["result"], done["error"]) == ("aborted", None)
    assert sandbox.call(lambda one: one.topics.partition("orders", 0).log.stable) == 5
    assert rows(capsys, "txn", "find-hanging") == []
    again = document(capsys, *words, "--execute", code=1)
    assert "none is open" in again["errors"][0]["message"]


def test_a_living_one_is_not_aborted_but_fenced(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    opened(sandbox, "live", ("orders", 0), ("copies", 0))
    found = document(capsys, "txn", "abort", "orders:0", "--start-offset", "0", "--execute", code=1)
    assert "kcli txn fence live" in found["errors"][0]["message"]
    assert sandbox.call(lambda one: one.topics.partition("orders", 0).log.stable) == 0
    (plan,) = rows(capsys, "txn", "fence", "live", "--dry-run")
    assert (plan["result"], plan["old"], plan["new"], plan["state"]) == ("would fence", 0, None, "Ongoing")
    (done,) = rows(capsys, "txn", "abort", "--fence", "live", "--execute")
    assert done["result"] == "fenced"
    assert done["new"] > done["old"]
    assert sandbox.call(lambda one: one.cluster.transactions.by_id["live"].state) == "Empty"
    assert sandbox.call(lambda one: [one.topics.partition(t, 0).log.stable for t in ("orders", "copies")]) == [2, 2]


def test_a_person_types_that_several_ids_are_fenced(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        opened(sandbox, name, ("orders", 0))
    monkeypatch.setattr("sys.stdin", io.StringIO("one\nfence 2 transactional ids\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["txn", "fence", "one", "two"]) == 1
    assert _states(sandbox, "one", "two") == ["Ongoing"] * 2
    assert main(["txn", "fence", "one", "two"]) == 0
    assert _states(sandbox, "one", "two") == ["Empty"] * 2


def test_an_id_that_nobody_has_used_is_not_made_by_fencing_it(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, "txn", "fence", "nobody", "--execute", code=1)
    assert found["transactions"][0]["result"] == "failed"
    assert rows(capsys, "txn", "list") == []


def test_an_older_broker_is_told_the_producer_by_hand(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.logs.hang_transaction("orders", 0)
    ((producer),) = [one["producer_id"] for one in rows(capsys, "txn", "producers", "orders:0")]
    words = ["txn", "abort", "--topic", "orders", "--partition", "0", "--producer-id", str(producer)]
    assert main([*words, "--execute"]) == 2
    assert "require each other" in capsys.readouterr().err
    (done,) = rows(capsys, *words, "--producer-epoch", "0", "--coordinator-epoch", "-1", "--execute")
    assert done["result"] == "aborted"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["abort", "orders:0"], "missing option: --start-offset"),
        (["abort", "orders", "--start-offset", "1"], "give one partition"),
        (["abort", "orders:0,1", "--start-offset", "1"], "give one partition"),
        (["abort", "--start-offset", "1"], "missing argument: kcli txn abort TOPIC:PARTITION"),
        (["abort", "orders:0", "-p", "0", "--start-offset", "1"], "give one partition"),
        (["abort", "--fence", "x", "--start-offset", "1"], "--fence needs transactional ids"),
        (["fence"], "name at least one transactional id"),
        (["describe"], "name at least one transactional id"),
        (["producers"], "name at least one TOPIC"),
        (["find-hanging", "--older-than", "soon"], "expected a duration"),
        (["list", "--producer-id", "x"], "expected a whole number"),
        (["list", "--broker", "x"], "expected the id of a broker"),
    ],
)
def test_a_line_that_makes_no_sense_is_told_what_does(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["txn", *words]) == 2
    assert said in capsys.readouterr().err
