"""`kcli cluster features set|upgrade|downgrade`, `voters`, `unregister`, `meta` and `coord` on a sandbox of three."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, topics={"orders": 2, "small": 1}, features={"kraft.version": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        yield made


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def features(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(capsys, "cluster", "features", *words, code=code)["features"]
    return found


def levels(capsys: pytest.CaptureFixture[str]) -> dict[str, int | None]:
    """Of the two features whose levels these tests change."""
    mine = ("share.version", "transaction.version")
    return {one["feature"]: one["level"] for one in features(capsys) if one["feature"] in mine}


# -- features ---------------------------------------------------------------------------------------------------------


def test_levels_go_down_and_up_after_a_plan(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = features(capsys, "downgrade", "transaction.version=1", "--dry-run")
    assert (plan["old"], plan["new"], plan["action"], plan["result"]) == (2, 1, "downgrade", "would change")
    assert levels(capsys)["transaction.version"] == 2
    assert main(["cluster", "features", "downgrade", "transaction.version=1"]) == 0, "a plan only"
    assert levels(capsys)["transaction.version"] == 2
    assert main(["cluster", "features", "downgrade", "transaction.version=1", "--execute"]) == 0
    assert "to go back: kcli cluster features set transaction.version=2" in capsys.readouterr().err
    assert levels(capsys)["transaction.version"] == 1
    both = features(capsys, "set", "transaction.version=2", "share.version=0", "--execute")
    assert [(one["action"], one["result"]) for one in both] == [("upgrade", "done"), ("downgrade", "done")]
    assert levels(capsys) == {"share.version": None, "transaction.version": 2}
    up = features(capsys, "upgrade", "--execute")
    results = {one["feature"]: one["result"] for one in up}
    assert (results["share.version"], results["transaction.version"]) == ("done", "unchanged")
    assert levels(capsys) == {"share.version": 2, "transaction.version": 2}


def test_all_or_none_of_a_line(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    rows = features(capsys, "set", "share.version=0", "transaction.version=9", "--execute", code=1)
    assert {one["result"] for one in rows} == {"failed"}
    assert levels(capsys) == {"share.version": 2, "transaction.version": 2}
    wrong = document(capsys, "cluster", "features", "upgrade", "share.versoin=1", code=1)
    assert "did you mean share.version" in wrong["errors"][0]["message"]
    back = features(capsys, "upgrade", "transaction.version=1", "--execute", code=1)
    assert "cannot upgrade transaction.version to 1: it is at 2" in back[0]["error"]


def test_brokers_before_3_3_set_levels_without_checking_first(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.wire.speak_only("UpdateFeatures", 0, 0)
    found = document(capsys, "cluster", "features", "set", "share.version=0", "--dry-run", code=1)
    assert "that needs Kafka 3.3" in found["errors"][0]["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["features", "set"], "missing argument: features"),
        (["features", "set", "share.version"], "expected FEATURE=LEVEL"),
        (["features", "set", "share.version=x"], "a level must be a whole number"),
        (["features", "set", "a=1", "a=2"], "a is given twice"),
        (["features", "downgrade", "share.version"], "expected FEATURE=LEVEL"),
        (["features", "upgrad", "a=1"], " accepts only options"),
        (["voters", "add"], "give one controller"),
        (["voters", "add", "1@host"], "expected ID@HOST:PORT"),
        (["voters", "add", "x@host:1"], "expected ID@HOST:PORT"),
        (["voters", "add", "1@host:1:short"], "is not an id"),
        (["voters", "remove", "1", "2"], "one voter at a time"),
        (["voters", "remove", "x"], "expected ID"),
        (["unregister"], "name at least one broker"),
        (["unregister", "x"], "expected the id of a broker"),
    ],
)
def test_a_line_that_makes_no_sense_is_told_what_does(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *words]) == 2
    assert said in capsys.readouterr().err


# -- voters and brokers -----------------------------------------------------------------------------------------------


def test_a_controller_loses_its_vote_and_gets_it_again(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    def roles() -> list[str]:
        return [one["role"] for one in document(capsys, "cluster", "voters")["voters"]]

    assert roles() == ["leader", "voter", "voter"]
    (plan,) = document(capsys, "cluster", "voters", "remove", "2", "--dry-run")["voters"]
    assert (plan["old"], plan["new"], plan["result"]) == ("voter", "observer", "would change")
    assert len(plan["directory_id"]) == 22
    assert document(capsys, "cluster", "voters", "remove", "2", "--execute")["voters"][0]["result"] == "done"
    assert roles() == ["leader", "observer", "voter"]
    assert [one["role"] for one in document(capsys, "cluster", "quorum")["nodes"]] == ["leader", "voter", "observer"]
    gone = document(capsys, "cluster", "voters", "remove", "2", "--execute", code=1)
    assert "voters are 1, 3" in gone["errors"][0]["message"]
    (added,) = document(capsys, "cluster", "voters", "add", "2@127.0.0.1:9093", "--execute")["voters"]
    assert (added["directory_id"], added["listeners"]) == (plan["directory_id"], ["CONTROLLER://127.0.0.1:9093"])
    assert roles() == ["leader", "voter", "voter"]
    twice = document(capsys, "cluster", "voters", "add", "2@127.0.0.1:9093", "--execute", code=1)
    assert "is already" in twice["errors"][0]["message"]
    unknown = document(capsys, "cluster", "voters", "add", "9@127.0.0.1:9093", "--execute", code=1)
    assert "does not fetch from the leader yet" in unknown["errors"][0]["message"]


def test_voters_are_fixed_until_kraft_version_is_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread(brokers=3) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        (row,) = document(capsys, "cluster", "voters", "remove", "2", "--execute", code=1)["voters"]
        assert row["result"] == "failed"
        assert main(["cluster", "features", "upgrade", "kraft.version=1", "--execute"]) == 0
        (row,) = document(capsys, "cluster", "voters", "remove", "2", "--execute")["voters"]
        assert row["result"] == "done"


def test_a_controller_that_is_gone_is_forgotten_until_it_starts_again(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    def unregister(code: int, node: str = "3", *words: str) -> str:
        asked = ("cluster", "unregister", "--controller", node, "--execute", *words)
        (row,) = document(capsys, *asked, code=code)["brokers"]
        return str(row["result"])

    assert unregister(1) == "failed", "it votes"
    document(capsys, "cluster", "voters", "remove", "3", "--execute")
    sandbox.call(lambda inside: inside.faults.cluster.stop_broker(3))
    assert [unregister(0), unregister(1), unregister(1, "9")] == ["done", "failed", "failed"]
    sandbox.call(lambda inside: inside.faults.cluster.start_broker(3))
    assert unregister(0) == "done"
    assert unregister(1, "1", "--force") == "failed", "the active controller"


def test_a_voter_whose_directory_is_not_the_one_named(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = f"2:{'A' * 21}Q"
    assert document(capsys, "cluster", "voters", "remove", wrong, "--execute", code=1)["voters"] == []
    place = f"9@localhost:9093:{'A' * 21}Q"
    (row,) = document(capsys, "cluster", "voters", "add", place, "--execute", code=1)["voters"]
    assert (row["result"], "REQUEST_TIMED_OUT" in row["error"]) == ("failed", True)


def test_a_broker_that_is_gone_is_forgotten_and_one_that_lives_is_not(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    (alive,) = document(capsys, "cluster", "unregister", "3", "--execute", code=1)["brokers"]
    assert (alive["state"], alive["result"]) == ("up", "failed")
    sandbox.call(lambda one: one.faults.cluster.stop_broker(3))
    assert document(capsys, "brokers")["brokers"][2]["state"] == "fenced"
    (plan,) = document(capsys, "cluster", "unregister", "3", "--dry-run")["brokers"]
    assert (plan["state"], plan["result"], plan["replicas"]) == ("fenced", "would unregister", 3)
    rows = document(capsys, "cluster", "unregister", "3", "9", "--execute", code=1)["brokers"]
    assert [(one["broker"], one["result"]) for one in rows] == [(3, "done"), (9, "failed")]
    assert [one["broker"] for one in document(capsys, "brokers")["brokers"]] == [1, 2]
    sandbox.call(lambda one: one.faults.cluster.start_broker(3))
    assert [one["broker"] for one in document(capsys, "brokers")["brokers"]] == [1, 2, 3]


def test_a_person_types_that_several_brokers_are_forgotten(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (2, 3):
        sandbox.call(lambda one, number=number: one.faults.cluster.stop_broker(number))
    monkeypatch.setattr("sys.stdin", io.StringIO("broker 2\nunregister 2 brokers\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["cluster", "unregister", "2", "3"]) == 1
    assert len(document(capsys, "brokers")["brokers"]) == 3
    assert main(["cluster", "unregister", "2", "3"]) == 0
    assert [one["broker"] for one in document(capsys, "brokers")["brokers"]] == [1]


def test_a_quorum_whose_voters_stand_in_a_file_says_so(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.error("RemoveRaftVoter", codes.UNSUPPORTED_VERSION)
    (row,) = document(capsys, "cluster", "voters", "remove", "2", "--execute", code=1)["voters"]
    assert "UNSUPPORTED_VERSION" in row["error"]


def test_D22_a_vote_taken_without_an_answer_is_not_said_to_have_failed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.wire.lose_answer("RemoveRaftVoter", times=1)
    (row,) = document(capsys, "cluster", "voters", "remove", "2", "--execute", code=1)["voters"]
    assert "it is unknown whether it took effect" in row["error"]
    assert [one["role"] for one in document(capsys, "cluster", "voters")["voters"]] == ["leader", "observer", "voter"]


# -- meta and coord ---------------------------------------------------------------------------------------------------


def test_meta_is_one_brokers_answer(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.cluster.move_leader("orders", 0, 3)
    sandbox.faults.cluster.no_leader("small", 0)
    told = document(capsys, "meta", "--broker", "2")
    assert (told["cluster"][0]["answered_by"], told["cluster"][0]["controller"]) == (2, 1)
    assert [one["broker"] for one in told["brokers"]] == [1, 2, 3]
    assert [(one["topic"], one["partitions"]) for one in told["topics"]] == [("orders", 2), ("small", 1)]
    by_part = {(one["topic"], one["partition"]): one for one in told["partitions"]}
    assert (by_part["orders", 0]["leader"], by_part["orders", 0]["leader_epoch"]) == (3, 1)
    assert by_part["small", 0]["leader"] is None
    assert "LEADER_NOT_AVAILABLE" in by_part["small", 0]["error"]
    one = document(capsys, "meta", "orders")
    assert [row["topic"] for row in one["topics"]] == ["orders"]
    missing = document(capsys, "meta", "orders", "smal", code=1)
    assert "did you mean small?" in missing["errors"][0]["message"]
    assert sandbox.call(lambda inside: sorted(inside.topics.by_name)) == ["orders", "small"], "asking makes none"


def test_a_broker_that_is_behind_says_something_else(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    before = document(capsys, "meta", "orders", "--broker", "3")["partitions"][0]["leader"]
    sandbox.faults.cluster.stale_metadata(3)
    sandbox.faults.cluster.move_leader("orders", 0, before % 3 + 1)
    assert document(capsys, "meta", "orders", "--broker", "3")["partitions"][0]["leader"] == before
    assert document(capsys, "meta", "orders", "--broker", "1")["partitions"][0]["leader"] == before % 3 + 1


def test_coordinators_of_groups_ids_and_share_partitions(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.cluster.move_coordinator("billing", 3)
    rows = document(capsys, "coord", "billing", "shipping", "--txn", "billing", "--share", "w:orders:1")["coordinators"]
    assert [(one["kind"], one["name"]) for one in rows] == [
        ("group", "billing"),
        ("group", "shipping"),
        ("transaction", "billing"),
        ("share", "w:orders:1"),
    ]
    assert rows[0]["coordinator"] == 3
    assert all(one["host"] == "127.0.0.1" and one["port"] > 0 for one in rows)
    failed = document(capsys, "coord", "g", "--share", "w:nope:0", code=1)
    assert [one["coordinator"] is None for one in failed["coordinators"]] == [False, True]
    assert main(["coord"]) == 2
    assert main(["coord", "--share", "w:0"]) == 2
    assert "expected GROUP:TOPIC:PARTITION" in capsys.readouterr().err


def test_a_coordinator_that_is_just_moving_is_waited_for(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.error("FindCoordinator", codes.COORDINATOR_NOT_AVAILABLE, times=2)
    (row,) = document(capsys, "coord", "billing")["coordinators"]
    assert row["coordinator"] in (1, 2, 3)


def test_brokers_before_3_0_are_asked_one_by_one(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.wire.speak_only("FindCoordinator", 0, 3)
    rows = document(capsys, "coord", "a", "b", "--txn", "c")["coordinators"]
    assert [one["name"] for one in rows] == ["a", "b", "c"]
    assert all(one["coordinator"] for one in rows)


def test_commands_of_two_words_complete(capsys: pytest.CaptureFixture[str]) -> None:
    from kcli.cli.completion.line import place_of

    verbs = [name for name, _ in place_of(["kcli", "cluster", ""]).offers]
    assert "features" in verbs
    assert "features set" not in verbs
    behind = [name for name, _ in place_of(["kcli", "cluster", "features", ""]).offers]
    assert behind == ["set", "upgrade", "downgrade"]
    assert place_of(["kcli", "cluster", "features", "set", "--uns"]).offers[0][0] == "--unsafe"
    assert place_of(["kcli", "cluster", "voters", "remove", ""]).kind == "ids"
    assert place_of(["kcli", "raw", "Me"]).kind == "apis"
    assert place_of(["kcli", "txn", "describe", ""]).kind == "transactions"
    assert main(["cluster", "features", "upgrade", "--help"]) == 0
    assert capsys.readouterr().out.lstrip().startswith("Usage: kcli cluster features upgrade")


def test_levels_survive_the_sandbox_and_those_it_is_started_with_count_for_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with SandboxThread(data=tmp_path / "data") as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        features(capsys, "set", "share.version=0", "transaction.version=1", "--execute")
    with SandboxThread(data=tmp_path / "data", features={"transaction.version": 2}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        assert levels(capsys) == {"share.version": None, "transaction.version": 2}
