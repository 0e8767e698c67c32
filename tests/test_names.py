"""Names and patterns of a line: `^RE` for how a name begins, globs for whole names, everything else is a name."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kcli.errors import KcliError, UsageError
from kcli.text.names import Names, NoMatch, expression

KNOWN = ["billing", "billing-1", "billing-2", "my-billing", "_schemas"]


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("^billing", ["billing", "billing-1", "billing-2"]),
        ("^billing$", ["billing"]),
        ("^billing-[0-9]$", ["billing-1", "billing-2"]),
        ("^my|_", ["_schemas", "my-billing"]),
        ("billing-*", ["billing-1", "billing-2"]),
        ("*billing", ["billing", "my-billing"]),
        ("billing-?", ["billing-1", "billing-2"]),
        ("billing-[!1]", ["billing-2"]),
        ("[bm]*", ["billing", "billing-1", "billing-2", "my-billing"]),
    ],
)
def test_a_pattern_matches_these_names(pattern: str, matches: list[str]) -> None:
    assert Names([pattern]).among(KNOWN).names == matches
    assert [name for name in sorted(KNOWN) if re.fullmatch(expression(pattern), name)] == matches


@given(some.text("ab*?[]!-^\\|&~.", max_size=8), some.text("ab*[]!-^\\.|&~", max_size=6))
def test_a_glob_means_what_it_means_to_a_shell(glob: str, name: str) -> None:
    if glob.startswith("^") or "[" in glob:  # classes are compared by the table above
        return
    assert Names([glob]).covers(name) == fnmatchcase(name, glob)
    assert bool(re.fullmatch(f"(?s:{expression(glob)})", name)) == fnmatchcase(name, glob)


def test_an_exact_name_wins_and_literal_switches_patterns_off() -> None:
    assert Names(["a*"]).among(["a*", "ab"]).names == ["a*"], "the group that is named so, and no other"
    assert Names(["a*"], literal=True).among(["ab"]).names == ["a*"]
    assert Names(["a*"], literal=True).exact == ["a*"]
    assert not Names(["a*"], literal=True).covers("ab")
    assert Names(["x", "a*", "x"]).among(["ab", "ac"]).names == ["x", "ab", "ac"], "a name need not exist"


def test_hidden_names_are_not_matched_and_the_refusal_names_one() -> None:
    match = Names(["_*"]).among(KNOWN, lambda name, _: name.startswith("_"))
    assert (match.names, match.unmatched, match.passed) == ([], ["_*"], "_schemas")
    with pytest.raises(NoMatch, match=r"^_\*: no topic matches but _schemas, which only its own name means$"):
        raise match.refusal("topic")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("^o(", "missing ), unterminated subpattern at column 3"), ("[z-a]", "bad character range z-a")],
)
def test_a_pattern_that_is_not_valid_is_a_mistake_of_the_line(pattern: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        Names([pattern])
    assert str(refused.value) == f"{pattern}: not a valid pattern: {problem}"
    Names([pattern], literal=True)


@pytest.mark.usefixtures("hasty_patterns")
def test_a_pattern_without_end_is_stopped() -> None:
    with pytest.raises(KcliError, match="more than a second on the name a"):
        Names(["^(a|aa)+$"]).among(["a" * 100 + "b"])
