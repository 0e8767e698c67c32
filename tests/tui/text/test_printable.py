"""Words for a shell: a line of one command, and of two."""

from __future__ import annotations

import shlex

import pytest

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
