"""`kcli users` on the sandbox: who is set can log in, passwords come from where nobody sees them."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.admin.users import Password, salted
from kcli.cli.main import main
from kcli.proto.scram import derive
from kcli.sandbox.thread import SandboxThread
from kcli.secret import Secret
from tests.cli.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "pässwörd, with = and spaces"


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SandboxThread]:
    """SASL, and we are admin."""
    with SandboxThread(topics={"orders": 1}, sasl={"admin": "a"}) as made:
        monkeypatch.setenv("KCLI_BOOTSTRAP", made.bootstrap)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        login(monkeypatch, "admin", "a", "PLAIN")
        yield made
        assert made.violations == []


def login(patch: pytest.MonkeyPatch, name: str, password: str, mechanism: str) -> None:
    patch.setenv("KCLI_SECURITY_PROTOCOL", "SASL_PLAINTEXT")
    patch.setenv("KCLI_SASL_MECHANISM", mechanism)
    patch.setenv("KCLI_SASL_USERNAME", name)
    patch.setenv("KCLI_SASL_PASSWORD", password)


def rows(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert main(["users", *words, "--format", "json"]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["users"]
    return found


def secret(tmp_path: Path, text: str = HIDDEN) -> str:
    path = tmp_path / "password"
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def told(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["mechanism"], row["old"], row["new"], row["result"]) for row in found]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_who_is_set_can_log_in_and_who_is_deleted_cannot(
    mechanism: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    set_ = rows(capsys, "set", "bob", "--password-file", secret(tmp_path), "--execute")
    assert told(set_) == [("SCRAM-SHA-256", None, 8192, "set"), ("SCRAM-SHA-512", None, 8192, "set")]
    with pytest.MonkeyPatch.context() as patch:
        login(patch, "bob", HIDDEN, mechanism)
        assert main(["topics", "list"]) == 0
        login(patch, "bob", "wrong", mechanism)
        assert main(["topics", "list"]) == 5
    capsys.readouterr()
    gone = rows(capsys, "delete", "bob", "--execute")
    assert told(gone) == [("SCRAM-SHA-256", 8192, None, "deleted"), ("SCRAM-SHA-512", 8192, None, "deleted")]
    with pytest.MonkeyPatch.context() as patch:
        login(patch, "bob", HIDDEN, mechanism)
        assert main(["topics", "list"]) == 5


def test_a_known_user_keeps_its_mechanisms_and_is_told_of_those_left_alone(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = secret(tmp_path)
    only = ["--mechanism", "scram-sha-512", "--iterations", "4096", "--password-file", path, "--execute"]
    assert told(rows(capsys, "set", "bob", *only)) == [("SCRAM-SHA-512", None, 4096, "set")]
    assert told(rows(capsys, "set", "bob", "--password-file", path, "--execute")) == [
        ("SCRAM-SHA-512", 4096, 8192, "set")
    ]
    rows(capsys, "set", "bob", "--mechanism", "SCRAM-SHA-256", "--password-file", path, "--execute")
    assert main(["users", "set", "bob", *only]) == 0
    assert "can still log in by SCRAM-SHA-256 with the old password" in capsys.readouterr().err
    assert told(rows(capsys, "delete", "bob", "--mechanism", "SCRAM-SHA-256", "--execute"))[0][3] == "deleted"
    assert [row["mechanism"] for row in rows(capsys, "describe", "bob")] == ["SCRAM-SHA-512"]
    assert told(rows(capsys, "delete", "bob", "--mechanism", "SCRAM-SHA-256", code=1))[0][3] == "absent"


@pytest.mark.process
def test_the_places_of_a_password(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEW_PASSWORD", HIDDEN)
    command = f"{sys.executable} -c \"print('{HIDDEN}')\""
    for words in (
        ["--password-env", "NEW_PASSWORD"],
        ["--password-command", command],
        ["--password-file", secret(tmp_path)],
    ):
        sandbox.call(lambda made: made.cluster.access.scram.restore([]))
        rows(capsys, "set", "bob", *words, "--execute")
        with pytest.MonkeyPatch.context() as patch:
            login(patch, "bob", HIDDEN, "SCRAM-SHA-256")
            assert main(["topics", "list"]) == 0
        capsys.readouterr()
        rows(capsys, "delete", "bob", "--execute")


@pytest.mark.process
def test_a_password_from_stdin_is_one_line(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kcli", "users", "set", "bob", "--password-file", "-", "--execute"],
        input=f"{HIDDEN}\n".encode(), capture_output=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        login(patch, "bob", HIDDEN, "SCRAM-SHA-256")
        assert main(["topics", "list"]) == 0


def typed(*lines: str) -> tuple[int, str]:
    """`kcli users set bob --execute` on a terminal where somebody types; its exit code and what was on the screen."""
    screen, terminal = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "kcli", "users", "set", "bob", "--execute"],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(terminal)
    shown, left, deadline = b"", list(lines), time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 1)[0]:
            continue
        try:
            part = os.read(screen, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
        if left and shown.rstrip(b" ").endswith(b":"):
            os.write(screen, left.pop(0).encode() + b"\n")
    code = child.wait(10)
    os.close(screen)
    return code, shown.decode()


@pytest.mark.process
def test_a_password_typed_on_a_terminal_is_asked_twice_and_not_echoed(sandbox: SandboxThread) -> None:
    code, shown = typed(HIDDEN, HIDDEN)
    assert code == 0, shown
    assert "New password of bob" in shown
    assert HIDDEN not in shown
    with pytest.MonkeyPatch.context() as patch:
        login(patch, "bob", HIDDEN, "SCRAM-SHA-512")
        assert main(["topics", "list"]) == 0
    code, shown = typed("one", "two")
    assert code == 2
    assert "the two passwords differ" in shown


@pytest.mark.process
def test_a_misspelt_profile_is_said_before_a_password_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_PROFILE", "nope")
    code, shown = typed()
    assert (code, "unknown profile nope" in shown, "New password" in shown) == (2, True, False), shown


def test_what_is_sent_is_rfc_5802s_salted_password() -> None:
    """RFC 5802, section 5 and RFC 7677: what a server makes of it is what it makes of the password."""
    for mechanism, kind in (("SCRAM-SHA-256", "sha256"), ("SCRAM-SHA-512", "sha512")):
        one = salted(
            Password(user="u", mechanism=mechanism, password=Secret("pencil"), iterations=4096),
            b"W22ZaJ0SNY7soEsUEjb6gQ==",
        )
        import hashlib
        import hmac

        client = hmac.digest(one.salted_password, b"Client Key", kind)
        wanted = derive(mechanism, b"pencil", one.salt, 4096)
        assert hashlib.new(kind, client).digest() == wanted.stored_key
        assert hmac.digest(one.salted_password, b"Server Key", kind) == wanted.server_key
    assert len({salted(Password(user="u", password=Secret("x"))).salt for _ in range(3)}) == 3


WRONG = {
    "missing password: --password-file": ["set", "bob", "--execute"],
    "cannot be combined": ["set", "bob", "--password-env", "A", "--password-file", "b", "--execute"],
    "environment variable": ["set", "bob", "--password-env", "NOT_THERE_AT_ALL", "--execute"],
    "No such file": ["set", "bob", "--password-file", "nowhere", "--execute"],
    "is empty": ["set", "bob", "--password-file", "/dev/null", "--execute"],
    "Kafka allows at most 16384": ["set", "bob", "--iterations", "99999", "--dry-run"],
    "--mechanism PLAIN": ["set", "bob", "--mechanism", "plain", "--dry-run"],
    "one user at a time": ["set", "bob", "ann", "--dry-run"],
    "name at least one": ["delete"],
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_line_that_makes_no_sense_is_exit_2(
    sentence: str, sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["users", *WRONG[sentence]]) == 2
    assert sentence in capsys.readouterr().err
    assert sandbox.call(lambda made: made.cluster.access.scram.names()) == ["admin"]


def test_some_users_fail_and_others_are_done(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("ann", "bob"):
        rows(capsys, "set", name, "--password-file", secret(tmp_path), "--execute")
    sandbox.faults.error("AlterUserScramCredentials", codes.CLUSTER_AUTHORIZATION_FAILED, times=1)
    found = rows(capsys, "delete", "ann", "bob", "--execute", code=1)
    results = [(row["user"], row["mechanism"], row["result"]) for row in found]
    assert results == [
        ("ann", "SCRAM-SHA-256", "failed"), ("ann", "SCRAM-SHA-512", "deleted"),
        ("bob", "SCRAM-SHA-256", "deleted"), ("bob", "SCRAM-SHA-512", "deleted"),
    ]  # fmt: skip
    assert main(["users", "describe", "annn"]) == 1
    assert "did you mean ann?" in capsys.readouterr().err
    assert told(rows(capsys, "delete", "bob", "--if-exists", "--execute")) == [(None, None, None, "absent")]


def test_no_secret_is_in_a_trace_or_a_plan(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["users", "set", "bob", "--password-file", secret(tmp_path), "--execute", "--trace", "-v"]) == 0
    shown = "".join(capsys.readouterr())
    assert "AlterUserScramCredentials v0" in shown
    assert HIDDEN not in shown
    assert HIDDEN not in repr(Password(user="bob", password=Secret(HIDDEN)))
