"""`kcli tokens` on the sandbox: a token logs in until it ends, and its secret is shown once."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.changes.journal import entries
from kcli.cli.main import main
from kcli.sandbox.access.delegation_tokens import new_id
from kcli.sandbox.thread import SandboxThread
from tests.cli.commands.users.test_users import login

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1}, sasl={"admin": "a", "bob": "b"}, super_users=["User:admin"]) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        login(monkeypatch, "bob", "b", "SCRAM-SHA-256")
        yield made
        assert made.violations == []


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert main(["tokens", *words, "--format", "json"]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["tokens"]
    return found


def comes_in(token: str, hmac: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        login(patch, token, hmac, "SCRAM-SHA-512")
        patch.setenv("KCLI_SASL_DELEGATION_TOKEN", "true")
        return main(["topics", "list"])


def test_a_token_logs_in_as_its_owner_until_it_ends(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    (made,) = rows(capsys, "create", "--renewer", "ann", "--max-lifetime", "1h")
    assert (made["owner"], made["requester"], made["renewers"]) == ("User:bob", "User:bob", ["User:ann"])
    assert made["expires"] == made["max_time"]
    assert comes_in(made["token_id"], made["hmac"]) == 0
    assert comes_in(made["token_id"], "wrong") == 5
    capsys.readouterr()
    (listed,) = rows(capsys, "list")
    assert "hmac" not in listed
    assert listed["token_id"] == made["token_id"]
    (plan,) = rows(capsys, "expire", made["token_id"], "--dry-run")
    assert (plan["result"], plan["new"]) == ("would expire", None)
    (gone,) = rows(capsys, "expire", made["token_id"], "--execute")
    assert gone["result"] == "expired"
    assert comes_in(made["token_id"], made["hmac"]) == 5
    capsys.readouterr()
    assert rows(capsys, "list") == []


def test_the_journal_has_changes_of_tokens_without_their_secrets(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (made,) = rows(capsys, "create")
    assert main(["tokens", "create", "--owner", "ann"]) == 1
    rows(capsys, "renew", made["token_id"])
    rows(capsys, "renew", made["token_id"], "--dry-run")
    rows(capsys, "expire", made["token_id"], "--execute")
    kept = entries()
    assert [(one.command.split()[2], one.result, one.changed) for one in kept] == [
        ("create", "done", 1), ("create", "failed", 0), ("renew", "done", 1), ("expire", "done", 1),
    ]  # fmt: skip
    assert not any(made["hmac"] in path.read_text() for path in tmp_path.rglob("*") if path.is_file())


def test_who_came_by_a_token_gets_none(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    (made,) = rows(capsys, "create")
    with pytest.MonkeyPatch.context() as patch:
        login(patch, made["token_id"], made["hmac"], "SCRAM-SHA-256")
        patch.setenv("KCLI_SASL_DELEGATION_TOKEN", "true")
        assert main(["tokens", "create"]) == 1
    assert "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" in capsys.readouterr().err


def test_renewing_moves_the_end_but_not_beyond_the_last(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    (made,) = rows(capsys, "create", "--max-lifetime", "2d")
    assert made["expires"] < made["max_time"]
    (row,) = rows(capsys, "renew", made["token_id"], "--for", "7d", "--dry-run")
    assert row["result"] == "would renew"
    (row,) = rows(capsys, "renew", made["token_id"], "--for", "7d")
    assert (row["result"], row["old"], row["new"]) == ("renewed", made["expires"], made["max_time"])
    (row,) = rows(capsys, "expire", made["token_id"], "--in", "5m", "--execute")
    assert row["new"] < made["expires"]


def test_the_hmac_goes_to_a_file_that_only_we_can_read(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "token"
    assert main(["tokens", "create", "--hmac-file", str(path), "-J"]) == 0
    told = capsys.readouterr()
    (made,) = json.loads(told.out)["tokens"]
    hmac = path.read_text().strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made["hmac"] is None
    assert hmac not in told.out + told.err
    assert comes_in(made["token_id"], hmac) == 0
    capsys.readouterr()
    assert main(["tokens", "create", "--hmac-file", str(path)]) == 2
    assert len(rows(capsys, "list")) == 1
    assert main(["tokens", "create", "--hmac-file", str(tmp_path / "no" / "where")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert len(rows(capsys, "list")) == 1


def test_for_somebody_else_it_takes_an_acl(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "token"
    assert main(["tokens", "create", "--owner", "admin", "--hmac-file", str(path)]) == 1
    assert "DELEGATION_TOKEN_AUTHORIZATION_FAILED" in capsys.readouterr().err
    assert not path.exists()
    with pytest.MonkeyPatch.context() as patch:
        login(patch, "admin", "a", "SCRAM-SHA-256")
        (made,) = rows(capsys, "create", "--owner", "bob")
        assert (made["owner"], made["requester"]) == ("User:bob", "User:admin")
        (other,) = rows(capsys, "create", "--owner", "ann")
        assert [row["owner"] for row in rows(capsys, "list", "--owner", "ann")] == ["User:ann"]
    assert [row["token_id"] for row in rows(capsys, "list")] == [made["token_id"]]
    assert main(["tokens", "renew", other["token_id"]]) == 1
    assert "no token" in capsys.readouterr().err
    assert rows(capsys, "expire", other["token_id"], "--if-exists", "--execute") == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["create", "--max-lifetime", "soon"], "expected a duration"),
        (["renew"], "name at least one TOKEN"),
        (["expire", "x", "--in", "0"], "--in 0: must be more than 0"),
        (["create", "--renewer", ":x"], "KIND:NAME"),
        (["create", "bob"], " accepts only options"),
    ],
)
def test_a_line_that_makes_no_sense_is_exit_2(
    words: list[str], sentence: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tokens", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_listener_without_sasl_gives_no_tokens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SandboxThread() as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        assert main(["tokens", "create", "--dry-run"]) == 1
        assert "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED" in capsys.readouterr().err


def test_no_token_of_a_sandbox_is_called_like_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one of Kafka's: Uuid.randomUuid tries again."""
    dice = iter([b"\xfb" * 16, b"\xf8" * 16, b"\0" * 16])
    monkeypatch.setattr("kcli.sandbox.access.delegation_tokens.urandom", lambda size: next(dice))
    assert new_id() == "AAAAAAAAAAAAAAAAAAAAAA"
