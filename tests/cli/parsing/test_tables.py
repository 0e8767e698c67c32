"""The generated tables are what the commands declare, and nothing else is there."""

from __future__ import annotations

from kcli.cli.parsing.make_tables import FOLDER, tables


def test_the_tables_are_what_the_commands_declare() -> None:
    wanted = tables()
    assert {path.stem for path in FOLDER.glob("*.py")} == {"__init__", *wanted}
    old = [name for name, text in wanted.items() if (FOLDER / f"{name}.py").read_text() != text]
    assert not old, "run `make tables`"
