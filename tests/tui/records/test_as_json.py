"""Values that JSON has no word for, and values that are deeper than a stack."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from kcli.tui.records.fields import DEEPEST, as_json
from kcli.tui.screens.record import opening, pretty
from tests.each import each


@each(
    ("value", "words"),
    [
        ({b"a": 1}, '{"a": 1}'),
        ({b"\xff": [{b"b": b"c"}]}, '{"\\\\xff": [{"b": "b\'c\'"}]}'),
        ({(1, 2): 3}, '{"(1, 2)": 3}'),
        ({True: 3, None: 2}, '{"true": 3, "null": 2}'),
        ({"at": datetime.date(2026, 1, 2)}, '{"at": "2026-01-02"}'),
    ],
)
def test_each_value_has_a_text(value: Any, words: str) -> None:
    assert as_json(value) == words


@pytest.mark.parametrize("depth", [500, 960, 990, 1500, 5000])
def test_a_value_of_any_depth_is_shown_to_some_depth(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert pretty(value).startswith("[\n  [")
    assert as_json({b"k": value}).count("[") == DEEPEST - 1


def test_brackets_alone_cost_no_more_than_their_number() -> None:
    lines = opening(b"[" * 20_000, 20_000)
    assert len(lines) == 20_000
    assert sum(map(len, lines)) < 100 * 20_000
