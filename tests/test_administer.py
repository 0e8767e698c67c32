"""docs/contributors/commands.md has a row for each command that administers: what it speaks, where it is, and its
test. Here the rows are compared with the commands and the tree."""

from __future__ import annotations

import re
from pathlib import Path

from kcli.cli.parsing.registry import SUBJECTS, declared
from tests.each import each

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs/contributors/commands.md").read_text()
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("| `")
]
OTHERS = {
    "produce", "consume", "tail", "count", "cat", "copy", "redrive", "sandbox", "faults", "demo", "pipeline", "tui",
    "config", "doctor", "schema", "completion", "registry",
}  # fmt: skip
"""Commands about records, about kcli itself, or documented in a place of their own."""


def commands() -> set[str]:
    """Every command that administers, by its whole name."""
    found = set()
    for name in SUBJECTS.keys() - OTHERS:
        table = declared(name)
        found |= {f"{name} {verb}" for verb in table} if isinstance(table, dict) else {name}
    return found


def told() -> dict[str, list[str]]:
    """The rows by the commands they name: `groups describe`, `members` are two; arguments and options are no names."""
    found = {}
    for row in ROWS:
        before: list[str] = []
        for text in re.findall(r"`([^`]+)`", row[0]):
            words = []
            for word in text.split():
                if not re.fullmatch(r"[a-z][a-z-]*", word):
                    break
                words.append(word)
            if words and before and words[0] not in SUBJECTS:
                words = [*before[:-1], *words]
            if words:
                found[" ".join(words)] = row
                before = words
    return found


@each("command", sorted(commands()))
def test_every_command_that_administers_has_a_row(command: str) -> None:
    assert command in told()


def test_no_row_is_of_a_command_that_there_is_not() -> None:
    assert told().keys() - commands() <= {"raw"}


@each("row", ROWS, ids=lambda row: re.sub(r"[`|]", "", row[0])[:50])
def test_a_row_names_what_is_there(row: list[str]) -> None:
    assert len(row) == 5, row
    command, apis, files, tests, equivalent = row
    at = ROWS.index(row)
    assert apis
    assert equivalent
    for cell, ending in ((files, "kcli/"), (tests, "tests/")):
        named = re.findall(r"`((?:kcli|tests)/[\w/]+\.py)(?:::(\w+))?`", cell)
        assert named or (cell.startswith("the same") and at), (command, cell)
        assert all(path.startswith(ending) for path, _ in named)
        for path, name in named:
            text = (ROOT / path).read_text()
            assert not name or re.search(rf"^ *(?:async )?def {name}\(", text, re.MULTILINE), f"{path}::{name}"
