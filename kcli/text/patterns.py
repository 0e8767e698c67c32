"""Regular expressions that people type, over records and names, with a bound on the time: a second for one
record or name, then it is an error.

Python's engine is quick and cannot be stopped; `regex` can, and costs some microseconds a call. So the pattern is
looked at first: how many steps it can take over that many bytes at the worst. Where that is little Python's engine has
it, and `regex` runs patterns that are long, or repeat what varies, as (a+)+ does.
"""

from __future__ import annotations

import re

from kcli.errors import OPTION, KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, AnyStr

SECONDS = 1.0
STEPS = 20_000_000
"""What Python's engine does in less than that time."""
MANY = 64  # a repeat with more than this between its bounds counts as endless


class _Endless(Exception):
    """The steps are not a power of the length."""


def compiled(text: AnyStr) -> re.Pattern[AnyStr]:
    """The pattern that a person typed. Raises re.error, whatever is wrong with it."""
    try:
        return re.compile(text)
    except (RecursionError, OverflowError):
        raise re.error("nested too deeply or repeated too often") from None


def searcher(pattern: re.Pattern[Any], shown: str) -> Callable[[Any], object]:
    """`search` of a pattern, for bytes or text as it is made; `shown` names it in errors, the setting first. Raises
    KcliError for data on which it takes more than a second; UsageError where the engine that can be stopped does not
    know the pattern."""
    return _timed(pattern, shown, "search", lambda data: f"one record, of {len(data)} bytes", OPTION)


def matcher(pattern: re.Pattern[str], shown: str, *, whole: bool) -> Callable[[str], object]:
    """Does a name match, `whole` or only how it begins? Raises KcliError as `searcher` does, and names the name."""
    return _timed(pattern, shown, "fullmatch" if whole else "match", lambda name: f"the name {name}")


def _timed(
    pattern: re.Pattern[Any], shown: str, how: str, subject: Callable[[Any], str], hint: str = ""
) -> Callable[[Any], object]:
    quick, most = getattr(pattern, how), longest(pattern.pattern)
    stoppable: Callable[..., object] | None = None

    def holds(data: Any) -> object:
        nonlocal stoppable
        if len(data) <= most:
            found: object = quick(data)
            return found
        if stoppable is None:
            stoppable = _stoppable(pattern, shown, how, hint)
        try:
            return stoppable(data, timeout=SECONDS)
        except TimeoutError:
            raise KcliError(
                f"{shown}: takes more than a second on {subject(data)}; "
                "a repeat inside of a repeat, as in (a+)+, can often be written as one"
            ).hinted(hint) from None

    return holds


def _stoppable(pattern: re.Pattern[Any], shown: str, how: str, hint: str) -> Callable[..., object]:
    import warnings

    import regex

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # `re` said what there is to say
            known: Callable[..., object] = getattr(regex.compile(pattern.pattern, regex.VERSION0), how)
    except regex.error as problem:
        raise UsageError(f"{shown}: {problem.msg}").hinted(hint) from None
    return known


def longest(pattern: str | bytes) -> int:
    """On how many bytes Python's engine has certainly done in time; -1 for none."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # what `re` itself reads patterns with

        repeats, ways = _varies(_parser.parse(pattern))
    except (_Endless, ImportError):
        return -1
    return int((STEPS / ways) ** (1 / (repeats + 1)))


def _varies(parsed: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    """How many repeats without end follow one another, and in how many ways the rest can match. Raises _Endless."""
    repeats, ways = 0, 1
    for op, what in parsed:
        more, other = _one_varies(str(op), what)
        repeats, ways = repeats + more, ways * other
        if ways > STEPS:
            raise _Endless
    return repeats, ways


def _one_varies(op: str, what: Any) -> tuple[int, int]:
    if op.endswith("_REPEAT"):
        least, most, inner = what
        repeats, ways = _varies(inner)
        if most == least == 1:
            return repeats, ways
        if (repeats, ways) != (0, 1):
            if most > 1:
                raise _Endless
            return repeats, ways + 1
        return (1, 1) if most - least > MANY else (0, most - least + 1)
    if op == "BRANCH":
        branches = [_varies(inner) for inner in what[1]]
        return max(repeats for repeats, _ in branches), sum(ways for _, ways in branches)
    if op == "SUBPATTERN":
        return _varies(what[-1])
    if op in ("ASSERT", "ASSERT_NOT"):
        return _varies(what[1])
    if op == "ATOMIC_GROUP":
        return _varies(what)
    if op == "GROUPREF_EXISTS":
        branches = [_varies(inner) for inner in what[1:] if inner is not None]
        return max(repeats for repeats, _ in branches), sum(ways for _, ways in branches)
    return 0, 1


def self_contained(pattern: str | bytes) -> bool:
    """Whether a match is one wherever it is, and cannot run on over a zero byte for long: a pattern without
    anchors and looks around, which repeats nothing without end that a zero byte could be."""
    try:
        from re import _parser  # type: ignore[attr-defined]

        return _stands_alone(_parser.parse(pattern))
    except ImportError:
        return False


def _stands_alone(parsed: Iterable[tuple[Any, Any]]) -> bool:
    return all(_one_stands_alone(str(op), what) for op, what in parsed)


def _one_stands_alone(op: str, what: Any) -> bool:
    if op.endswith("_REPEAT"):
        _, most, inner = what
        return _stands_alone(inner) and (most <= MANY or not _may_be_zero(inner))
    if op == "BRANCH":
        return all(map(_stands_alone, what[1]))
    if op in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _stands_alone(what[-1] if op == "SUBPATTERN" else what)
    return op in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY")


def _may_be_zero(inner: Any) -> bool:
    """Whether what is repeated can be a zero byte; true for all but a single character or class of them."""
    if len(inner) != 1:
        return True
    op, what = str(inner[0][0]), inner[0][1]
    if op == "LITERAL":
        return bool(what == 0)
    if op != "IN":
        return True
    negated = str(what[0][0]) == "NEGATE"
    return negated != any(_has_zero(str(kind), item) for kind, item in what[negated:])


def _has_zero(kind: str, item: Any) -> bool:
    if kind == "LITERAL":
        return bool(item == 0)
    if kind == "RANGE":
        return bool(item[0] == 0)
    return "_NOT_" in str(item)  # a category
