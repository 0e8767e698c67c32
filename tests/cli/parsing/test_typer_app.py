"""Typer has the whole command line, and reads everything with KCLI_PARSER=typer or without a table."""

from __future__ import annotations

import re
import sys

import pytest

from kcli.cli.main import main
from kcli.cli.parsing import parser
from kcli.cli.parsing.help.text import spellings
from kcli.cli.parsing.registry import SUBJECTS, every
from kcli.cli.parsing.typer_app import root
from tests.cli.conftest import Shell

LINES = (
    "topics list --format json",
    "topics -J",
    "topic ls -J",
    "groups list --format tsv",
    "schema topics list",
    "completion bash",
    "produce --value v",
    "lag --format xml",
    "topics describe",
    "consume",
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_does_the_same_through_typer(line: str, kcli: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = kcli(*line.split())

    def refuse(*_: object) -> None:
        raise AssertionError("the fast parser read it")

    monkeypatch.setenv("KCLI_PARSER", "typer")
    monkeypatch.setattr(parser, "parse", refuse)
    typer = kcli(*line.split())
    assert (typer.returncode, typer.stdout) == (fast.returncode, fast.stdout)
    assert typer.stderr == fast.stderr


def test_the_app_has_every_command() -> None:
    app = root()
    assert sorted(app.list_commands(None)) == sorted(SUBJECTS)
    for path, command in every():
        name, _, verb = path.partition(" ")
        subject = app.get_command(None, name)
        found = subject.commands[verb] if verb else subject
        flags = {flag for parameter in found.params for flag in (*parameter.opts, *parameter.secondary_opts)}
        shown = [flag for option in command.options for flag in spellings(option)]
        wanted = set() if command.own_words else set(shown)
        assert flags - {"--help", "-h", "words"} == wanted, path


def test_kcats_words_are_left_to_its_own_parser(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KCLI_PARSER", "typer")
    assert main(["cat", "-h"]) == 0
    assert capfd.readouterr().out.startswith("Usage: kcli cat -b HOST:PORT")


def test_on_a_terminal_a_mistake_has_a_frame(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["topics", "list", "--formt", "json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    err = re.sub(r"\x1b\[[0-9;]*m", "", err)
    assert "Usage: kcli topics list" in err
    assert "╭─ Error" in err
    assert "unknown option --formt; did you mean --format or --sort?" in err
