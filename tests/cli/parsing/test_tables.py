"""The generated tables are what the commands declare, and nothing else is there."""

from __future__ import annotations

import pytest

from kcli.cli.parsing.command import _description
from kcli.cli.parsing.make_tables import FOLDER, tables


def test_the_tables_are_what_the_commands_declare() -> None:
    wanted = tables()
    assert {path.stem for path in FOLDER.glob("*.py")} == {"__init__", *wanted}
    old = [name for name, text in wanted.items() if (FOLDER / f"{name}.py").read_text() != text]
    assert not old, "run `make tables`"


@pytest.mark.parametrize("indent", ["    ", ""], ids=["Python 3.12", "Python 3.13"])
def test_a_docstring_is_the_same_in_each_python(indent: str) -> None:
    lines = ["Apply it.", "", "\b", "A file:", "  topics:", "      deep: 1"]
    docstring = "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])])
    assert _description(docstring, "") == "\n".join(lines)
