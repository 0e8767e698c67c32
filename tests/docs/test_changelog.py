"""CHANGELOG.md has the form of Keep a Changelog, and says each thing once: lines of two branches are joined by git."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
RELEASE = re.compile(r"Unreleased|\d+\.\d+\.\d+ - (\d{4}-\d\d-\d\d|unreleased)")
BEGINNING = 40
"""How many characters two lines share when they say the same."""


def test_each_release_sorts_its_lines_by_the_kind_of_change() -> None:
    releases = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    titles = [text.partition("\n")[0] for text in releases]
    assert titles
    assert all(RELEASE.fullmatch(title) for title in titles), titles
    for text in releases:
        kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds], kinds
        assert "\n- " not in text.partition("\n### ")[0], "a line before the first `### `"


def test_the_first_release_adds_all_it_has() -> None:
    """What no release had cannot be changed, removed or fixed: a line goes into Added, in its area, or nowhere."""
    first = PAGE[PAGE.rindex("\n## ") :]
    assert first.startswith("\n## 0.1.0 - ")
    assert re.findall(r"^### (.+)$", first, re.MULTILINE) == ["Added"]
    outside = first.partition("\n#### ")[0].count("\n- ")
    assert outside == 0, "a line of the first release outside of an area"
    areas = re.findall(r"^#### (.+)$", first, re.MULTILINE)
    assert len(areas) == len(set(areas)) > 1
    assert [line for line in first.splitlines() if re.match(r"- (Fixed|Changed|No longer)\b", line)] == []


def test_each_line_is_an_entry_or_a_heading_and_stands_once() -> None:
    entries = [line for line in PAGE.splitlines() if line.startswith("- ")]
    others = [line for line in PAGE.splitlines()[4:] if line and not line.startswith(("- ", "##"))]
    assert others == []
    beginnings = Counter(line[:BEGINNING] for line in entries)
    assert [line for line, count in beginnings.items() if count > 1] == []
