"""A list without rows says so on a terminal, on stderr: stdout stays empty, and a pipe gets nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kcli.cli.parsing.registry import every
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with SandboxThread() as sandbox:
        yield Shell(sandbox.bootstrap)


LISTS = [path for path, command in every() if "--watch" in command.by_flag]
WORDS = {
    "configs list": ["group"],
    "configs get": ["broker", "1"],
    "acls who-can": ["read", "topic", "t"],
    "quotas resolve": ["--user", "alice"],
    "raw": ["--list"],
}


@pytest.mark.parametrize("path", LISTS)
def test_no_list_is_silent_on_a_terminal(shell: Shell, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCLI_SCHEMA_REGISTRY_URL", raising=False)
    done = shell.on_terminal(*path.split(), *WORDS.get(path, []))
    assert done.out or done.err.startswith("kcli: "), path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("users list", "no SCRAM users"),
        ("quotas list", "no quotas"),
        ("quotas describe --user bob", "no quota matches"),
        ("txn list", "no transactions"),
        ("txn list --open", "no transaction matches"),
        ("acls list", "no ACLs"),
        ("acls list --topic orders", "no ACL matches"),
        ("groups list", "no groups"),
        ("groups list --state Dead", "no group has such a type and state"),
        ("topics list", "no topics"),
        ("topics list --under-replicated", "no topic is under-replicated"),
        ("topics list --unavailable --under-min-isr", "no topic is unavailable or under min.insync.replicas"),
        ("topics list --unused", "no topic is unused"),
        ("topics list --never-written --format plain", "no topic is unread and never written to"),
        ("topics stats", "no topics"),
        ("lag", "no groups"),
        ("configs list group", "no overrides"),
    ],
)
def test_what_there_is_none_of(shell: Shell, words: str, sentence: str) -> None:
    done = shell.on_terminal(*words.split())
    assert (done.code, done.out, done.err) == (0, b"", f"kcli: {sentence}\n")
    quiet = shell.on_terminal(*words.split(), "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, b"", "")
    piped = shell(*words.split())
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, b"", b"")


def test_a_watch_says_it_once(shell: Shell) -> None:
    done = shell.on_terminal("users", "list", "--watch", "--interval", "10ms", "--refreshes", "3")
    assert done.code == 0
    assert done.err.count("no SCRAM users") == 1


def test_a_format_with_a_frame_says_nothing(shell: Shell) -> None:
    for format in ("json", "yaml", "csv", "tsv"):
        done = shell.on_terminal("users", "list", "--format", format)
        assert done.out
        assert done.err == ""
