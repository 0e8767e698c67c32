"""Regular expressions of clients, as a broker takes them: whole names, in the syntax of RE2.

Kafka has RE2J, whose time is linear. Here it is Python's syntax without what RE2 does not know, on an engine that can
be stopped: a pattern that takes more than a second on one name is refused, and never tried again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from kcli.errors import KcliError
from kcli.text.patterns import matcher

MOST = 1000  # RE2 repeats no more often
UNKNOWN = {
    "ASSERT": "a look-ahead or look-behind",
    "ASSERT_NOT": "a look-ahead or look-behind",
    "GROUPREF": "a reference to a group",
    "GROUPREF_EXISTS": "a condition",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}
"""What Python knows and RE2 does not."""


REMEMBERED = 10_000  # names of one pattern


class Invalid(KcliError):
    """What a broker answers with INVALID_REGULAR_EXPRESSION."""


class Pattern:
    """Raises Invalid for what RE2 does not take."""

    def __init__(self, text: str) -> None:
        self._known: dict[str, bool] = {}
        self._refused = ""
        try:
            pattern = re.compile(text)
            _check(_parsed(text))
        except (re.error, RecursionError, OverflowError) as broken:
            raise Invalid(f"`{text}` is not valid: {broken}.") from broken
        self._fits = matcher(pattern, f"`{text}`", whole=True)

    def fits(self, name: str) -> bool:
        """Does the whole name match? Raises Invalid where that takes too long, or took too long before."""
        if self._refused:
            raise Invalid(self._refused)
        if name not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            try:
                self._known[name] = bool(self._fits(name))
            except KcliError as error:
                self._refused = str(error)
                raise Invalid(self._refused) from error
        return self._known[name]

    def fitting(self, names: Iterable[str]) -> set[str]:
        """The names that match; none where that takes too long."""
        try:
            return {name for name in names if self.fits(name)}
        except Invalid:
            return set()


@lru_cache(256)
def pattern_of(text: str) -> Pattern:
    """The pattern, which is remembered with what it matched. Raises Invalid as Pattern does."""
    return Pattern(text)


def _parsed(text: str) -> Any:
    from re import _parser  # type: ignore[attr-defined]  # what `re` itself reads patterns with

    return _parser.parse(text)


def _check(parsed: Iterable[tuple[Any, Any]]) -> None:
    """Raise re.error for what RE2 does not know."""
    for op, what in parsed:
        name = str(op)
        if name in UNKNOWN:
            raise re.error(f"RE2 does not know {UNKNOWN[name]}")
        if name == "AT" and str(what) == "AT_END_STRING":
            raise re.error(r"RE2 does not know \Z")
        if name.endswith("_REPEAT"):
            least, most, inner = what
            if least > MOST or (MOST < most < _endless()):
                raise re.error(f"RE2 repeats {MOST} times at the most")
            _check(inner)
        elif name == "BRANCH":
            for inner in what[1]:
                _check(inner)
        elif name == "SUBPATTERN":
            _check(what[-1])


def _endless() -> int:
    from re import _constants  # type: ignore[attr-defined]

    return int(_constants.MAXREPEAT)
