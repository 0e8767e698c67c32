"""A change is confirmed by one rule, in every combination of what a line says and whether a question can be asked."""

from __future__ import annotations

from itertools import product

import pytest

from kcli.changes.change import Said
from kcli.errors import UsageError


def outcome(said: Said, *, by_pattern: bool, destroys: bool) -> str:
    try:
        said.check()
        applies = said.applies(3, "topic", by_pattern=by_pattern, destroys=destroys)
    except UsageError as error:
        return str(error)
    return "applies" if applies else "asks"


@pytest.mark.parametrize(("by_pattern", "destroys"), list(product((False, True), repeat=2)))
def test_without_a_terminal_yes_alone_is_refused(by_pattern: bool, destroys: bool) -> None:
    for expect in (None, 3):
        said = Said(yes=True, expect=expect)
        assert "add --execute" in outcome(said, by_pattern=by_pattern, destroys=destroys)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(("by_pattern", "destroys"), [(False, False), (False, True), (True, False)])
def test_execute_is_enough_for_all_but_a_delete_by_a_pattern(by_pattern: bool, destroys: bool, terminal: bool) -> None:
    assert outcome(Said(execute=True, terminal=terminal), by_pattern=by_pattern, destroys=destroys) == "applies"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(execute=True), "3 topics match; nothing was changed: add --execute --expect 3, or --execute --yes"),
        (Said(execute=True, terminal=True), "asks"),
        (Said(yes=True, terminal=True), "asks"),
        (Said(execute=True, yes=True), "applies"),
        (Said(execute=True, expect=3), "applies"),
        (Said(execute=True, expect=2), "--expect 2: 3 topics match; nothing was changed"),
        (Said(execute=True, yes=True, expect=2), "--expect 2: 3 topics match"),
    ],
)
def test_a_delete_by_a_pattern_needs_the_number_or_yes(said: Said, expected: str) -> None:
    assert outcome(said, by_pattern=True, destroys=True).startswith(expected)


@pytest.mark.parametrize("destroys", [False, True])
def test_on_a_terminal_yes_answers_and_silence_asks(destroys: bool) -> None:
    assert outcome(Said(yes=True, terminal=True), by_pattern=False, destroys=destroys) == "applies"
    assert outcome(Said(terminal=True), by_pattern=False, destroys=destroys) == "asks"


def test_a_number_of_matches_needs_a_pattern() -> None:
    said = Said(execute=True, expect=3)
    assert outcome(said, by_pattern=False, destroys=True).startswith(
        "--expect needs a pattern in the command; it is the number of matching names"
    )
