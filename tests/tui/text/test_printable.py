"""Words for a shell: a line of one command, and of two; figures with a bar."""

from __future__ import annotations

import shlex

import pytest

from kcli.tui.text.formatting import bar
from kcli.tui.text.printable import with_each


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("kcli lag", "kcli lag -b a:1"),
        ("kcli a && kcli b", "kcli a -b a:1 && kcli b -b a:1"),
        ("kcli a && kcli b && kcli c", "kcli a -b a:1 && kcli b -b a:1 && kcli c -b a:1"),
    ],
)
def test_each_command_of_a_line_gets_the_words(command: str, line: str) -> None:
    assert with_each(command, "-b a:1") == line


@pytest.mark.parametrize("value", ["run kcli lag && kcli topics list", "it's a && kcli b && kcli 'c", "'", " && kcli "])
def test_a_word_with_a_command_in_it_stays_as_it_is(value: str) -> None:
    line = with_each(f"kcli produce t --value {shlex.quote(value)} && kcli lag", "-b a:1")
    assert shlex.split(line) == [
        "kcli",
        "produce",
        "t",
        "--value",
        value,
        "-b",
        "a:1",
        "&&",
        "kcli",
        "lag",
        "-b",
        "a:1",
    ]


def test_a_bar_is_short_lower_than_its_line_and_says_its_figure() -> None:
    bars = [bar(share) for share in (0.0, 0.004, 0.5, 1.0, 1.7)]
    assert {len(one) for one in bars} == {20}, "one under another, also where the room is large"
    assert [one[:5] for one in bars] == ["  0% ", "  0% ", " 50% ", "100% ", "100% "]
    assert [one.count("▄") for one in bars] == [0, 0, 8, 15, 15]
    assert not set("".join(bars)) & set("█▇"), "bars of two lines do not touch"
