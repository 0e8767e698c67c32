"""`kcli acls` on the sandbox: plans, what is there already, exactly what was shown, undo files, who can do what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread

if TYPE_CHECKING:
    from collections.abc import Iterator

BOB = ["--allow", "bob"]


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        yield made
        assert made.violations == []


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    """What `kcli acls` printed as JSON rows."""
    assert main([*([] if words[:1] == ("undo",) else ["acls"]), *words, "--format", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    found: list[dict[str, Any]] = document.get("acls", document.get("verdicts"))
    return found


def brief(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(row["kind"], row["name"], row["operation"], row["result"]) for row in found]


def test_the_sets_of_a_producer_and_a_consumer_are_those_of_kafka_acls(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--producer", "--consumer", "--idempotent", "--topic", "orders", "--group", "g", "--transactional-id", "x"]
    planned = rows(capsys, "add", *BOB, *both, "--dry-run")
    assert sorted(brief(planned)) == sorted(
        (kind, name, operation, "would add")
        for kind, name, operation in (
            ("topic", "orders", "write"), ("topic", "orders", "describe"), ("topic", "orders", "create"),
            ("topic", "orders", "read"), ("group", "g", "read"), ("transactional-id", "x", "write"),
            ("transactional-id", "x", "describe"), ("cluster", "kafka-cluster", "idempotent-write"),
        )
    )  # fmt: skip
    assert rows(capsys) == []
    prefixed = rows(
        capsys, "add", *BOB, "--consumer", "--topic", "o", "--group", "g", "--pattern", "prefixed", "--dry-run"
    )
    assert {row["pattern"] for row in prefixed} == {"prefixed"}


def test_what_is_there_already_is_told_and_not_sent(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    rows(capsys, "add", *BOB, "--operation", "read", "--topic", "orders", "--execute")
    again = rows(capsys, "add", *BOB, "--operation", "read", "--operation", "WRITE", "--topic", "orders", "--execute")
    assert brief(again) == [("topic", "orders", "read", "exists"), ("topic", "orders", "write", "added")]
    sandbox.call(lambda made: made.seen.clear())
    same = rows(capsys, "add", *BOB, "--operation", "write", "--topic", "orders", "--execute")
    assert brief(same) == [("topic", "orders", "write", "exists")]
    assert sandbox.call(lambda made: made.seen.get(30, 0)) == 0


def test_list_finds_what_holds_for_a_resource_and_takes_names_as_written_when_told(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, pattern in (("orders", "literal"), ("ord", "prefixed"), ("*", "literal"), ("other", "literal")):
        rows(capsys, "add", *BOB, "--operation", "read", "--topic", name, "--pattern", pattern, "--execute")

    def names(*words: str) -> list[str]:
        return [row["name"] for row in rows(capsys, "list", *words)]

    assert names("--topic", "orders") == ["*", "ord", "orders"]
    assert names("--topic", "orders", "--pattern", "literal") == ["orders"]
    assert names("--topic", "ord", "--pattern", "any") == ["ord"]
    assert names("--topic", "orders", "--topic", "other") == ["*", "ord", "orders", "other"]
    assert names("--principal", "bob", "--operation", "write") == []
    assert names(*(f"--topic=t{n}" for n in range(30))) == ["*"]


def test_remove_takes_exactly_what_the_plan_showed_and_its_undo_file_brings_it_back(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows(capsys, "add", *BOB, "--consumer", "--topic", "orders", "--group", "g", "--execute")
    rows(
        capsys, "add", "--deny", "User:*", "--deny-host", "10.0.0.7", "--operation", "all", "--topic", "*", "--execute"
    )
    before = rows(capsys)
    undo = str(tmp_path / "undo.json")
    gone = rows(capsys, "remove", "--principal", "bob", "--execute", "--undo-file", undo)
    assert {row["result"] for row in gone} == {"removed"}
    assert [row["principal"] for row in rows(capsys)] == ["User:*"]
    assert {row["result"] for row in rows(capsys, "add", "--from", undo, "--dry-run")} == {"would add"}
    back = rows(capsys, "undo", undo, "--execute")
    assert {row["result"] for row in back} == {"added"}
    assert rows(capsys) == before
    assert rows(capsys, "remove", "--topic", "orders", "--permission", "deny", "--execute") == []
    (one,) = rows(capsys, "remove", "--topic", "orders", "--permission", "deny", "--pattern", "match", "--execute")
    assert (one["name"], one["result"]) == ("*", "removed")


def test_restore_takes_an_addition_back(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows(capsys, "add", *BOB, "--operation", "read", "--topic", "orders", "--execute")
    undo = str(tmp_path / "undo.json")
    rows(capsys, "add", *BOB, "--producer", "--topic", "orders", "--execute", "--undo-file", undo)
    restored = rows(capsys, "undo", undo, "--execute")
    assert {row["result"] for row in restored} == {"removed"}
    assert [row["operation"] for row in rows(capsys)] == ["read"]
    assert {row["result"] for row in rows(capsys, "undo", undo, "--execute")} == {"absent"}


def test_a_list_is_read_by_add_also_on_another_cluster(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(capsys, "add", *BOB, "--producer", "--topic", "orders", "--execute")
    assert main(["acls", "list", "-J"]) == 0
    path = tmp_path / "acls.json"
    path.write_text(capsys.readouterr().out)
    with SandboxThread() as other:
        monkeypatch.setenv("KCLI_BOOTSTRAP", other.bootstrap)
        assert {row["result"] for row in rows(capsys, "add", "--from", str(path), "--execute")} == {"added"}
        assert rows(capsys) == json.loads(path.read_text())["acls"]


def test_one_that_fails_stands_beside_those_that_were_done(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.error("CreateAcls", codes.POLICY_VIOLATION, times=1)
    found = rows(
        capsys, "add", *BOB, "--operation", "read", "--operation", "write", "--topic", "t", "--execute", code=1
    )
    assert [row["result"] for row in found] == ["failed", "added"]
    assert "POLICY_VIOLATION" in found[0]["error"]
    sandbox.faults.error("DescribeAcls", codes.SECURITY_DISABLED, times=1)
    assert main(["acls", "list"]) == 1
    assert "no authorizer" in capsys.readouterr().err


WRONG = {
    "missing principal": ["add", "--operation", "read", "--topic", "t"],
    "missing resource: --topic": ["add", *BOB, "--operation", "read"],
    "missing operation: --operation": ["add", *BOB, "--topic", "t"],
    "did you mean describe": ["add", *BOB, "--topic", "t", "--operation", "descrbe"],
    "is not a valid operation for a group": ["add", *BOB, "--group", "g", "--operation", "write"],
    "--pattern prefixed --topic PREFIX": ["add", *BOB, "--topic", "orders-*", "--operation", "read"],
    "must be an address": ["add", *BOB, "--allow-host", "www.example.com", "--topic", "t", "--operation", "read"],
    "--deny-host requires --deny": ["add", *BOB, "--deny-host", "10.0.0.1", "--topic", "t", "--operation", "read"],
    "need --topic": ["add", *BOB, "--producer"],
    "needs --group": ["add", *BOB, "--consumer", "--topic", "t"],
    "work only with --allow": ["add", "--deny", "bob", "--producer", "--topic", "t"],
    "--idempotent requires": ["add", *BOB, "--idempotent", "--topic", "t", "--operation", "write"],
    "a principal is KIND:NAME": ["add", "--allow", "User:", "--topic", "t", "--operation", "read"],
    "missing filter": ["remove"],
    "cannot be combined": ["remove", "--all", "--topic", "t"],
    "names the ACLs": ["add", "--from", "x.json", *BOB],
    "No such file": ["add", "--from", "nowhere.json"],
    "missing arguments": ["who-can", "write"],
    "missing name": ["who-can", "write", "topic"],
    "is not a valid operation for a topic": ["who-can", "idempotent-write", "topic", "t"],
    "did you mean topic": ["who-can", "write", "topc", "t"],
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_line_that_makes_no_sense_is_exit_2_and_one_sentence(
    sentence: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["acls", *WRONG[sentence]]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
    assert sandbox.call(lambda made: made.cluster.access.acls.rules) == set()


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"schema": "kcli.topics.list/1"}', '{"schema": "kcli.acls.undo/1", "added": [], "removed": [{}]}',
     '{"schema": "kcli.acls.undo/1", "added": 5}', '{"schema": "kcli.acls.undo/1", "added": [[1]], "removed": []}'],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    assert main(["undo", str(path), "--execute"]) == 2
    assert str(path) in capsys.readouterr().err


def test_without_execute_nothing_is_done_where_nobody_can_be_asked(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["acls", "add", *BOB, "--operation", "read", "--topic", "orders"]) == 0
    told = capsys.readouterr()
    assert "add --execute" in told.err
    assert "would add" in told.out
    assert rows(capsys) == []


def test_who_can_tells_the_acl_that_decides(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    rows(capsys, "add", *BOB, "--operation", "write", "--topic", "ord", "--pattern", "prefixed", "--execute")
    rows(capsys, "add", "--allow", "User:*", "--operation", "write", "--topic", "*", "--execute")
    rows(capsys, "add", "--deny", "eve", "--operation", "all", "--topic", "orders", "--execute")
    rows(capsys, "add", "--deny", "bob", "--deny-host", "10.0.0.7", "--operation", "write", "--topic", "*", "--execute")
    told = {
        (r["principal"], r["host"]): (r["allowed"], r["reason"])
        for r in rows(capsys, "who-can", "write", "topic", "orders")
    }
    assert told == {
        ("User:bob", "*"): (True, "allow User:* write topic *"),
        ("User:bob", "10.0.0.7"): (False, "deny User:bob write topic * from 10.0.0.7"),
        ("User:eve", "*"): (False, "deny User:eve all topic orders"),
        ("User:*", "*"): (True, "allow User:* write topic *"),
        ("User:ANONYMOUS", "*"): (True, "super user"),
    }
    (one,) = rows(capsys, "who-can", "describe", "topic", "orders", "--principal", "zoe")
    assert one["allowed"]
    (one,) = rows(capsys, "who-can", "WRITE", "topic", "orders", "--principal", "eve", code=3)
    assert not one["allowed"]
    (one,) = rows(capsys, "who-can", "write", "topic", "orders", "--principal", "bob", "--host", "10.0.0.7", code=3)
    assert one["reason"].endswith("from 10.0.0.7")
    everyone = {row["principal"]: row["allowed"] for row in rows(capsys, "who-can", "create", "cluster")}
    assert everyone == {"User:ANONYMOUS": True, "User:*": False}


def test_who_can_knows_super_users_and_what_is_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with SandboxThread(super_users=["User:ANONYMOUS", "User:root"], everyone=True) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        told = {
            row["principal"]: (row["allowed"], row["reason"]) for row in rows(capsys, "who-can", "read", "topic", "t")
        }
        assert told["User:root"] == (True, "super user")
        assert told["User:*"] == (True, "no ACL covers it, and allow.everyone.if.no.acl.found is true")
        rows(capsys, "add", *BOB, "--operation", "read", "--topic", "t", "--execute", "--no-undo")
        told = {
            row["principal"]: (row["allowed"], row["reason"]) for row in rows(capsys, "who-can", "read", "topic", "t")
        }
        assert told["User:*"] == (False, "no ACL allows it")
