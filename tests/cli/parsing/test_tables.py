"""The table of the command line: what the commands declare; and what happens without it, and with an old one."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from kcli.cli.output.tables.shape import every_column
from kcli.cli.parsing import make_tables, table
from kcli.cli.parsing.command import _description
from kcli.cli.parsing.declarations import commands_of
from kcli.cli.parsing.registry import SUBJECTS, declared, shapes
from tests.each import each


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in a folder of its own."""
    package = tmp_path / "made_tables"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(table, "TABLES", "made_tables")
    make_tables.write(package)
    return package


def test_the_table_is_what_the_commands_declare(made: Path) -> None:
    for name in SUBJECTS:
        assert table.read(name) == commands_of(name), name
    assert table.shapes() == every_column()


def test_without_a_table_the_declarations_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "TABLES", "no_such_package")
    assert table.read("lag") is None
    assert declared("lag") == commands_of("lag")[""]
    assert shapes() == every_column()


@each("source", ["cli/commands/topics/list.py", "cli/parsing/groups.py", "cli/parsing/shared.py"])
def test_a_table_is_old_when_a_source_has_changed(
    made: Path, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert table.read("topics") is not None
    copy = tmp_path / "copy"
    for path, _, changed in importlib.import_module("made_tables.topics").SOURCES:
        copy.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        copy.joinpath(path).write_bytes(Path(table.PACKAGE, path).read_bytes())
        os.utime(copy / path, ns=(changed, changed))
    with monkeypatch.context() as patch:
        patch.setattr(table, "PACKAGE", str(copy))
        assert table.read("topics") is not None
        copy.joinpath(source).write_bytes(b"#" + copy.joinpath(source).read_bytes())
        assert table.read("topics") is None


def test_the_table_of_an_installation_is_never_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables.write(tmp_path / "installed_tables", installed=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(table, "TABLES", "installed_tables")
    monkeypatch.setattr(table, "PACKAGE", str(tmp_path / "elsewhere"))
    assert table.read("topics") == commands_of("topics")
    assert "typer" not in Path(str(sys.modules["installed_tables.topics"].__file__)).read_text()


@pytest.mark.parametrize("indent", ["    ", ""], ids=["Python 3.12", "Python 3.13"])
def test_a_docstring_is_the_same_in_each_python(indent: str) -> None:
    lines = ["Apply it.", "", "\b", "A file:", "  topics:", "      deep: 1"]
    docstring = "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])])
    assert _description(docstring, "") == "\n".join(lines)
