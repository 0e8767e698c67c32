"""A regular expression takes a second on a record at most, then it is an error that names it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kcli.cli.runtime.topic_pattern import TopicPattern
from kcli.errors import KcliError, UsageError
from kcli.pipeline.options import _subject
from kcli.serde.filters.row_search import Pattern
from kcli.serde.filters.where import Where
from kcli.text.names import NamePattern
from kcli.text.patterns import STEPS, longest, matcher, searcher

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        ("abc", STEPS),
        (r"user=\d+ ", int(STEPS**0.5)),
        ("a.*b.*c", int(STEPS ** (1 / 3))),
        ("(ok|bad)?", STEPS // 3),
        ("(?:ab)+c", int(STEPS**0.5)),
        ("a{3}b{2,5}", STEPS // 4),
        ("(a+)+$", -1),
        ("(a|aa)+$", -1),
        ("(a?){40}", -1),
        ("(?=(a*)*b)", -1),
        ("a?" * 40 + "a" * 40, -1),
    ],
)
def test_how_long_a_record_pythons_own_engine_may_have(pattern: str, most: int) -> None:
    assert longest(pattern) == longest(pattern.encode()) == most


@pytest.mark.usefixtures("hasty_patterns")
@pytest.mark.parametrize(
    ("pattern", "data"),
    [
        (r"(a|aa)+$", b"a" * 100 + b"b"),
        (r"(ä|ää)+$", "ä".encode() * 100 + b"b"),
    ],
)
def test_a_pattern_without_end_is_an_error_that_names_it(pattern: str, data: bytes) -> None:
    with pytest.raises(KcliError, match="more than a second on one record") as told:
        Pattern(pattern, "grep").holds(data)
    assert str(told.value).startswith(f"grep {pattern}: ")


@pytest.mark.slow
def test_matches_of_where_is_stopped_too() -> None:
    where = Where(r"matches(value, '(a|aa)+$')")
    with pytest.raises(KcliError, match=r"where .*more than a second"):
        where.test("", "a" * 100 + "b", {}, "t", 0, 0, 0)


@pytest.mark.usefixtures("hasty_patterns")
@pytest.mark.parametrize("whole", [True, False])
def test_a_name_that_takes_a_pattern_a_second_is_named(whole: bool) -> None:
    fits = matcher(re.compile("(a|aa)+$"), "--match (a|aa)+$", whole=whole)
    name = "a" * 100 + "b"
    assert fits("aaa")
    assert not fits("baa")
    with pytest.raises(KcliError, match=rf"--match .* more than a second on the name {name};"):
        fits(name)


@pytest.mark.parametrize(("whole", "fit"), [(True, ["ab"]), (False, ["ab", "abc"])])
@pytest.mark.parametrize("most", [-1, 100])
def test_both_engines_match_the_same_names(
    whole: bool, fit: list[str], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.text.patterns.longest", lambda _: most)
    fits = matcher(re.compile("a+b"), "a+b", whole=whole)
    assert [name for name in ("ab", "abc", "xab", "") if fits(name)] == fit


@pytest.mark.parametrize("pattern", ["a+b", "(a+)+b", "^a.*c$", "(?i)AB"])
def test_both_engines_find_the_same(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = re.compile(pattern.encode())
    monkeypatch.setattr("kcli.text.patterns.longest", lambda _: -1)
    holds = searcher(made, pattern)
    for data in (b"", b"ab", b"aab", b"abc", b"xaacc", b"AB", b":b"):
        assert bool(holds(data)) == bool(made.search(data)), data


@pytest.mark.process
def test_nothing_is_imported_for_a_pattern_that_needs_it_not() -> None:
    program = """
import sys
from kcli.serde.filters.row_search import Pattern
assert Pattern("a.*b", "").holds(b"axb")
assert "regex" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


DEEP = "(" * 900 + "a" + ")" * 900


@pytest.mark.parametrize(
    ("what", "read"),
    [
        ("consume --grep", lambda: Pattern(DEEP, "grep")),
        ("where matches()", lambda: Where(f'matches(value, "{DEEP}")')),
        ("topics list ^RE", lambda: NamePattern(f"^{DEEP}")),
        ("consume ^RE", lambda: TopicPattern([f"^{DEEP}"], ()).check()),
        ("option subscribePattern", lambda: _subject({"subscribepattern": DEEP})),
    ],
)
def test_a_pattern_nested_too_deep_is_a_sentence(what: str, read: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match="nested too deeply or repeated too often"):
        read()
