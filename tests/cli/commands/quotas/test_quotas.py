"""`kcli quotas` on the sandbox: whose they are, which is in force, plans, units, undo; one row per quota."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.admin.quotas import KEYS, Entity, entity, ladder, resolve, text_of, value_of
from kcli.cli.main import main
from kcli.errors import UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator

PRODUCE = "producer_byte_rate"


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with SandboxThread() as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        yield made
        assert made.violations == []


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert main([*([] if words[:1] == ("undo",) else ["quotas"]), *words, "--format", "json"]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["quotas"]
    return found


def alter(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    return rows(capsys, "alter", *words, "--execute", code=code)


def test_what_was_set_is_told_with_units_and_as_kafka_has_it(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = alter(capsys, "--user", "alice", f"{PRODUCE}=10MiB", "request_percentage=12.5%")
    assert [(r["quota"], r["old"], r["new"], r["new_value"], r["result"]) for r in changed] == [
        (PRODUCE, None, "10MiB/s", 10485760, "done"),
        ("request_percentage", None, "12.5%", 12.5, "done"),
    ]
    alter(capsys, "--user-default", "--client-id", "app", "controller_mutation_rate=5/s")
    alter(capsys, "--ip-default", "connection_creation_rate=20")
    told = rows(capsys, "list")
    assert [(r["entity"], r["quota"], r["limit"]) for r in told] == [
        ("user alice", PRODUCE, "10MiB/s"),
        ("user alice", "request_percentage", "12.5%"),
        ("user <default>, client-id app", "controller_mutation_rate", "5/s"),
        ("ip <default>", "connection_creation_rate", "20/s"),
    ]
    assert [(r["user"], r["client_id"], r["ip"], r["defaults"]) for r in told[1:]] == [
        ("alice", None, None, []),
        (None, "app", None, ["user"]),
        (None, None, None, ["ip"]),
    ]


def test_a_user_called_as_the_default_is_written_is_not_the_default(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(capsys, "--user", "<default>", f"{PRODUCE}=1")
    (row,) = rows(capsys, "describe", "--user", "<default>")
    assert (row["user"], row["defaults"]) == ("<default>", [])
    assert rows(capsys, "describe", "--user-default") == []


def test_what_is_asked_for_exactly_by_default_or_by_kind(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    for who in (
        ["--user", "alice"],
        ["--user", "alice", "--client-id", "app"],
        ["--user-default"],
        ["--client", "app"],
    ):
        alter(capsys, *who, f"{PRODUCE}=1000")

    def told(*words: str) -> list[str]:
        return [row["entity"] for row in rows(capsys, "describe", *words)]

    assert told("--user", "alice") == ["user alice", "user alice, client-id app"]
    assert told("--user", "alice", "--strict") == ["user alice"]
    assert told("--any", "user", "--strict") == ["user alice", "user <default>"]
    assert told("--any", "user", "--client-id", "app") == ["user alice, client-id app"]
    assert told("--user-default") == ["user <default>"]
    assert told("--user", "bob") == []
    assert len(told()) == 4


def test_a_plan_changes_nothing_and_the_broker_checks_it(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(capsys, "alter", "--user", "alice", f"{PRODUCE}=10MiB", "--dry-run")
    assert (row["old"], row["new"], row["result"]) == (None, "10MiB/s", "would change")
    (row,) = rows(capsys, "alter", "--user", "alice", "connection_creation_rate=1", "--dry-run", code=1)
    assert (row["result"], "Invalid configuration key" in row["error"]) == ("failed", True)
    assert rows(capsys, "alter", "--user", "alice", f"{PRODUCE}=10MiB")[0]["result"] == "would change"
    assert rows(capsys, "list") == []
    alter(capsys, "--user", "alice", f"{PRODUCE}=10MiB")
    assert alter(capsys, "--user", "alice", f"{PRODUCE}=10485760")[0]["result"] == "unchanged"


def test_what_was_before_comes_back_from_the_undo_file(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    alter(capsys, "--user", "alice", f"{PRODUCE}=10MiB")
    undo = tmp_path / "undo.json"
    alter(capsys, "--user", "alice", f"{PRODUCE}=1MiB", "consumer_byte_rate=5kB", "--undo-file", str(undo))
    back = rows(capsys, "undo", str(undo), "--execute")
    assert [(r["quota"], r["old"], r["new"]) for r in back] == [
        (PRODUCE, "1MiB/s", "10MiB/s"), ("consumer_byte_rate", "5kB/s", None),
    ]  # fmt: skip
    assert [(r["quota"], r["value"]) for r in rows(capsys, "list")] == [(PRODUCE, 10485760)]
    undo.write_text('{"schema": "kcli.quotas.undo/1", "quotas": [{"entity": {"dog": "x"}, "quota": "x", "value": 1}]}')
    assert main(["undo", str(undo)]) == 2
    assert main(["undo", str(tmp_path / "none")]) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([f"{PRODUCE}=1"], "a user, a client-id, both, or an ip"),
        (["--user", "a"], "missing change"),
        (["--user", "a", "--user-default", f"{PRODUCE}=1"], "cannot be combined"),
        (["--user", "a", "--ip", "::1", f"{PRODUCE}=1"], "cannot be combined"),
        (["--user", "", f"{PRODUCE}=1"], "--user is empty; write --user USER"),
        (["--user", "a", "producer_byterate=1"], "did you mean producer_byte_rate"),
        (["--user", "a", f"{PRODUCE}=1XiB"], "a limit such as"),
        (["--user", "a", f"{PRODUCE}=many"], "a limit must be a number"),
        (["--user", "a", f"{PRODUCE}=-1"], "0 or more"),
        (["--user", "a", f"{PRODUCE}=nan"], "must be a number"),
        (["--user", "a", f"{PRODUCE}=1.5"], "whole number"),
        (["--user", "a", f"{PRODUCE}=1", "--delete", PRODUCE], "given twice"),
        (["--user", "a", PRODUCE], "expected QUOTA=VALUE"),
    ],
)
def test_a_line_that_makes_no_sense_says_what_does(
    words: list[str], says: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quotas", "alter", *words, "--execute"]) == 2
    assert says in capsys.readouterr().err
    assert rows(capsys, "list") == []


def test_C18_the_controller_moved(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    sandbox.faults.error("AlterClientQuotas", codes.NOT_CONTROLLER, times=2)
    assert alter(capsys, "--user", "alice", f"{PRODUCE}=1")[0]["result"] == "done"
    sandbox.faults.error("AlterClientQuotas", codes.CLUSTER_AUTHORIZATION_FAILED)
    (row,) = alter(capsys, "--user", "alice", f"{PRODUCE}=2", code=1)
    assert "CLUSTER_AUTHORIZATION_FAILED" in row["error"]
    sandbox.faults.error("DescribeClientQuotas", codes.CLUSTER_AUTHORIZATION_FAILED)
    assert main(["quotas"]) == 1


LADDER = ladder("alice", "app")


@pytest.mark.parametrize("rank", LADDER)
def test_the_first_of_eight_places_is_in_force(rank: int) -> None:
    quotas = {at: {PRODUCE: float(n)} for n, at in LADDER.items() if n >= rank}
    quotas[entity({"user": "bob"})] = {PRODUCE: 99.0}
    found = {one.key: one for one in resolve(quotas, user="alice", client="app")}
    assert found[PRODUCE].value == rank
    assert [rung.rank for rung in found[PRODUCE].ladder if rung.used] == [rank]
    assert found["consumer_byte_rate"].value is None  # each key goes its own way


def test_who_shares_what_is_in_force(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    alter(capsys, "--user", "alice", f"{PRODUCE}=10MiB")
    alter(capsys, "--user-default", "--client-id-default", "consumer_byte_rate=1MiB")
    alter(capsys, "--client-id", "app", f"{PRODUCE}=1kB", "request_percentage=50")
    alter(capsys, "--ip-default", "connection_creation_rate=7")
    told = {
        row["quota"]: row for row in rows(capsys, "resolve", "--user", "alice", "--client-id", "app", "--ip", "::1")
    }
    assert {key: (row["limit"], row["set_for"], row["shared_by"]) for key, row in told.items()} == {
        PRODUCE: ("10MiB/s", "user alice", "user alice, all client ids"),
        "consumer_byte_rate": (
            "1MiB/s", "user <default>, client-id <default>", "user alice with client-id app",
        ),
        "request_percentage": ("50%", "client-id app", "client-id app, all users"),
        "controller_mutation_rate": ("no limit", None, None),
        "connection_creation_rate": ("7/s", "ip <default>", "connections from ::1"),
    }  # fmt: skip
    anonymous = rows(capsys, "resolve", "--client-id", "app")
    assert {r["quota"]: r["limit"] for r in anonymous}[PRODUCE] == "1kB/s"
    assert main(["quotas", "resolve"]) == 2


def test_without_a_client_id_only_the_users_places_count() -> None:
    assert [str(at) for at in ladder("alice", "").values()] == ["user alice", "user <default>"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1048576", 2**20), ("1MiB", 2**20), ("10 MB/s", 10**7), ("1.5GiB", 1.5 * 2**30), ("1e3", 1000), ("5k", 5000),
     ("0", 0)],
)  # fmt: skip
def test_rates_are_written_with_units(text: str, value: float) -> None:
    assert bytes_of(text, "x") == value
    assert bytes_of(f"{bytes_text(value)}/s", "x") == value


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [0, 1, 50, 1000, 1024, 12345, 20_000_000, 10 * 2**20])
def test_what_is_printed_is_read_again(key: str, value: int) -> None:
    assert value_of(key, text_of(key, value)) == value


def test_quotas_survive_the_sandboxs_death(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for first in (True, False):
        with SandboxThread(data=tmp_path / "data") as sandbox:
            monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
            if first:
                alter(capsys, "--user-default", f"{PRODUCE}=1000")
                alter(capsys, "--user", "gone", f"{PRODUCE}=1000")
                alter(capsys, "--user", "gone", "--delete", PRODUCE)
            else:
                assert [row["entity"] for row in rows(capsys, "list")] == ["user <default>"]


def test_an_entity_is_the_same_however_it_was_said() -> None:
    assert entity({"client-id": "a", "user": None}) == entity({"user": None, "client-id": "a"})
    assert entity({"user": None}) == Entity(parts=(("user", None),))
    for wrong in ({}, {"dog": "x"}, {"user": ""}, {"ip": "::1", "user": "x"}):
        with pytest.raises(UsageError):
            entity(wrong)
