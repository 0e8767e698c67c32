"""Indented JSON is folded by levels."""

from __future__ import annotations

import json

import pytest

from kcli.tui.screens.record import deepest, folded

VALUE = {"id": 7, "customer": {"number": 3, "tags": ["a{", "b"], "none": {}}, "lines": [{"sku": 1}, {"sku": 2}]}
LINES = json.dumps(VALUE, indent=2).split("\n")


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (1, ["{", '  "id": 7,', '  "customer": {… 3},', '  "lines": [… 2]', "}"]),
        (2, ["{", '  "id": 7,', '  "customer": {', '    "number": 3,', '    "tags": [… 2],', '    "none": {}', "  },",
             '  "lines": [', "    {… 1},", "    {… 1}", "  ]", "}"]),
        (3, LINES),
        (9, LINES),
    ],
)  # fmt: skip
def test_what_is_below_a_level_is_one_line_with_its_members(level: int, shown: list[str]) -> None:
    assert deepest(LINES) == 3
    assert folded(LINES, level) == shown


def test_a_text_that_ends_within_a_fold_says_so() -> None:
    assert folded(["{", '  "a": [', "    1,"], 1) == ["{", '  "a": [']
    assert folded(["{", '  "a": ['], 1) == ["{", '  "a": […']


def test_plain_text_stays() -> None:
    assert folded(["order 7"], 1) == ["order 7"]
    assert deepest(["order 7"]) == 0
