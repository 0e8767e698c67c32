"""The docs say which file does what and which test shows it; here their tables are held against the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.each import each

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"^\| ([A-Z]\d*(?:\.\d\d|\d*)) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def ids(prefix: str, last: int, width: int = 2) -> list[str]:
    return [f"{prefix}{n:0{width}d}" for n in range(1, last + 1)]


RULES = [
    *(f"R{n}" for n in (1, 2, 3, 4, 5, 7)), *ids("B", 31, 1), *(f"C{n}" for n in (*range(1, 9), *range(15, 21))),
    *(f"C{n}" for n in range(9, 15)), *ids("D", 48, 1), *ids("E", 71, 1),
    *(f"F{n}" for n in (2, 3, 10, 11, 12, 25, 28, 34)), *ids("A1.", 20), *ids("A3.", 18),
    *ids("A4.", 27), *ids("A5.", 28),
]  # fmt: skip
TEXT = (ROOT / "docs/contributors/rules.md").read_text()
ROWS = [pytest.param(rule, *cells, id=rule) for rule, *cells in ROW.findall(TEXT)]


def test_no_rule_is_left_out() -> None:
    assert [rule for rule, *_ in ROW.findall(TEXT)] == RULES


@each(("rule", "what", "files", "tests"), ROWS)
def test_the_files_and_the_tests_of_a_rule_are_there(rule: str, what: str, files: str, tests: str) -> None:
    assert len(what.split()) >= 2
    for file in re.findall(r"`([^`]+)`", files):
        assert (ROOT / file).is_file(), file
    assert "`" in files
    named = re.findall(r"`([^`]+)::([^`]+)`", tests)
    assert named
    for file, name in named:
        assert re.search(rf"^ *(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{name}"
    mark = re.compile(rf"(?:^|_){rule.replace('.', '_')}(?:_|$)")
    assert any(mark.search(name) for _, name in named), f"no test of {rule} carries its id"


@pytest.mark.parametrize("doc", sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
def test_what_a_document_names_is_there(doc: str) -> None:
    text = (ROOT / doc).read_text()
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
        assert re.search(rf"^ *(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{name}"
    for file in re.findall(r"`((?:tests|kcli|examples|benchmarks)/[\w/]+\.py)`", text):
        assert (ROOT / file).is_file(), file
