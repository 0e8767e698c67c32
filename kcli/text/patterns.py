"""Users' regular expressions over records and names, with a time limit of one second per record or name.

Python's engine is fast but cannot be interrupted; `regex` can be, but costs a few microseconds per call. So the
pattern's worst case is estimated first: if that needs few steps, Python's engine is used; `regex` runs patterns that
are long, or repeat something variable, such as (a+)+.
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
"""Steps that Python's engine takes in less than that time."""
MANY = 64  # a repeat whose bounds differ by more counts as unbounded


class _Endless(Exception):
    """The number of steps is not polynomial in the length."""


def compiled(text: AnyStr) -> re.Pattern[AnyStr]:
    """Compile a user's pattern. Raises re.error for any mistake."""
    try:
        return re.compile(text)
    except (RecursionError, OverflowError):
        raise re.error("nested too deeply or repeated too often") from None


def searcher(pattern: re.Pattern[Any], shown: str) -> Callable[[Any], object]:
    """Return the `search` function of a pattern, for bytes or text like the pattern; `shown` names it in errors, the
    setting first.

    Raises KcliError for data that takes more than a second, and UsageError if the interruptible engine does not support
    the pattern.
    """
    return _timed(pattern, shown, "search", lambda data: f"one record, of {len(data)} bytes", OPTION)


def matcher(pattern: re.Pattern[str], shown: str, *, whole: bool) -> Callable[[str], object]:
    """Return a function that matches a name, `whole` or only its beginning. Raises KcliError like `searcher`, and names
    the name."""
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
                "nested repetition, as in (a+)+, can often be written as a single one"
            ).hinted(hint) from None

    return holds


def _stoppable(pattern: re.Pattern[Any], shown: str, how: str, hint: str) -> Callable[..., object]:
    import warnings

    import regex

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # `re` has already warned
            known: Callable[..., object] = getattr(regex.compile(pattern.pattern, regex.VERSION0), how)
    except regex.error as problem:
        raise UsageError(f"{shown}: {problem.msg}").hinted(hint) from None
    return known


def longest(pattern: str | bytes) -> int:
    """Return the number of bytes that Python's engine is certain to search in time; -1 for none."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # what `re` itself reads patterns with

        repeats, ways = _varies(_parser.parse(pattern))
    except (_Endless, ImportError):
        return -1
    return int((STEPS / ways) ** (1 / (repeats + 1)))


def _varies(parsed: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    """Return how many unbounded repeats follow one another, and in how many ways the rest can match. Raises
    _Endless."""
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
    """Whether a match does not depend on its surroundings, and cannot extend far past a zero byte: a pattern without
    anchors and lookarounds, and without unbounded repeats that match zero bytes."""
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
    """Whether the repeated part can be a zero byte: False only for single characters and classes that exclude it."""
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
