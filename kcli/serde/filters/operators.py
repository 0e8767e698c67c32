"""The operators and functions of `--where` for values of any type. They raise no errors, because unexpected data is not
a mistake of the user.

A missing field is null. Ordering needs two numbers or two strings, else it is false; arithmetic needs two numbers, else
it is null. Equality is JSON's: 1 equals 1.0, but not true. For elements selected by `[*]`, a comparison needs to be
true for one of them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_DIGITS = 20
"""Longest text that is converted to an int: every int64 is shorter, and Python rejects very long ones."""


class Literal(float):
    """A constant of a condition that a double cannot represent: `exact` is the number as typed."""

    def __new__(cls, typed: str) -> Literal:
        literal = super().__new__(cls, typed)
        literal.exact = Decimal(typed)
        return literal

    exact: Decimal


NUMBERS = (int, float, Literal)


def literal(typed: str) -> float:
    """Return a constant with a decimal point or exponent: a Literal if a double would be a different number."""
    value = float(typed)
    try:
        return value if Decimal(repr(value)) == Decimal(typed) else Literal(typed)
    except ArithmeticError:  # an exponent too large for Decimal
        return value


class Numeral(str):
    """A number that its schema's JSON shows as a string: compared with numbers without loss, and also usable as
    text."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if type(other) in NUMBERS or type(other) is Numeral:
            number = _exact(self)
            if number is not None:
                return number == _exact(other)
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other


def _exact(thing: object) -> int | Decimal | None:
    """Return the exact number of a number, or of its text: 0.1 is one tenth. None for anything else."""
    kind = type(thing)
    if kind is int:
        return thing  # type: ignore[return-value]
    if kind is Literal:
        return thing.exact  # type: ignore[attr-defined,no-any-return]
    if kind is float:
        return _exact_float(thing)
    if kind is not Numeral and kind is not str:
        return None
    text: str = thing  # type: ignore[assignment]
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match.lastindex is None and len(text) <= _DIGITS:
        return int(text)
    return _decimal(text)


@lru_cache(maxsize=256)
def _exact_float(number: float) -> Decimal | None:
    """Cached, because a constant is compared with every record."""
    text = repr(number)
    return _decimal(text) if _NUMBER.fullmatch(text) else None


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except ArithmeticError:  # an exponent with too many digits for Decimal
        return None


def reckonable(thing: Any) -> Any:
    """Return a number for arithmetic, None for anything else."""
    if type(thing) is Numeral:
        return None if _exact(thing) is None else number(str(thing))
    return thing if type(thing) in NUMBERS else None


ALONE: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The functions without support for elements, for conditions without `[*]`: they are called for every record."""


class Each(list):  # type: ignore[type-arg]  # typing is not imported here
    """The elements selected by `[*]`."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return any(equal(one, other) for one in self)

    def __ne__(self, other: object) -> bool:
        return any(differ(one, other) for one in self)

    def __bool__(self) -> bool:
        return any(self)


def each(thing: Any) -> Any:
    """`thing[*]`: the elements of a list; null if it is not a list."""
    if type(thing) is Each:
        return Each(item for one in thing if type(one) is list for item in one)
    return Each(thing) if type(thing) is list else None


def _of_any(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    """A comparison that is true if it is true for one of the elements."""

    def compared(left: Any, right: Any) -> bool:
        if type(left) is Each:
            return any(compared(one, right) for one in left)
        if type(right) is Each:
            return any(compare(left, one) for one in right)
        return bool(compare(left, right))

    ALONE[compared] = compare
    return compared


def _of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called for each of the elements."""

    def called(thing: Any, *others: Any) -> Any:
        return Each(function(one, *others) for one in thing) if type(thing) is Each else function(thing, *others)

    ALONE[called] = function
    return called


def field(thing: Any, name: Any) -> Any:
    """`thing.name`, `thing["name"]` and `thing[2]`."""
    kind = type(thing)
    if kind is dict:
        return thing.get(name) if type(name) is str else None
    if kind is Each:
        return Each(field(one, name) for one in thing)
    if kind is list and type(name) is int and -len(thing) <= name < len(thing):
        return thing[name]
    return None


def _equal(left: Any, right: Any) -> bool:
    if type(left) is bool or type(right) is bool:
        return left is right
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


equal = _of_any(_equal)
"""JSON's equality, including nested values: true is not 1."""
differ = _of_any(lambda left, right: not _equal(left, right))


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        kind, other = type(left), type(right)
        if kind is Numeral or other is Numeral:
            exact, limit = _exact(left), _exact(right)
            return exact is not None and limit is not None and compare(exact, limit)
        if (kind is str and other is str) or (kind in NUMBERS and other in NUMBERS):
            return compare(left, right)
        return False

    return _of_any(ordered)


less = _ordered(lambda left, right: left < right)
at_most = _ordered(lambda left, right: left <= right)
more = _ordered(lambda left, right: left > right)
at_least = _ordered(lambda left, right: left >= right)


def member(thing: Any, within: Any) -> bool:
    """`thing in within`: an element of a list, a name in an object, or part of a string."""
    if type(within) is Each:
        return any(equal(thing, one) or member(thing, one) for one in within)
    if type(thing) is Each:
        return any(member(one, within) for one in thing)
    if type(within) is list:
        return any(equal(thing, item) for item in within)
    return isinstance(thing, str) and isinstance(within, str | dict) and thing in within


def no_member(thing: Any, within: Any) -> bool:
    return not member(thing, within)


def _reckoned(reckon: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def reckoned(left: Any, right: Any) -> Any:
        left, right = reckonable(left), reckonable(right)
        if left is None or right is None:
            return None
        try:
            return reckon(left, right)
        except ArithmeticError:  # division by zero, or beyond the range of a float
            return None

    return _of_each(reckoned)


plus = _reckoned(lambda left, right: left + right)
minus = _reckoned(lambda left, right: left - right)
times = _reckoned(lambda left, right: left * right)
over = _reckoned(lambda left, right: left / right)
whole = _reckoned(lambda left, right: left // right)
rest = _reckoned(lambda left, right: left % right)


@_of_each
def negative(number: Any) -> Any:
    number = reckonable(number)
    return None if number is None else -number


@_of_any
def startswith(text: Any, start: Any) -> bool:
    return isinstance(text, str) and isinstance(start, str) and text.startswith(start)


@_of_any
def endswith(text: Any, end: Any) -> bool:
    return isinstance(text, str) and isinstance(end, str) and text.endswith(end)


def contains(within: Any, thing: Any) -> bool:
    return member(thing, within)


@_of_each
def lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else None


@_of_each
def upper(text: Any) -> Any:
    return text.upper() if isinstance(text, str) else None


@_of_each
def size(thing: Any) -> Any:
    return len(thing) if isinstance(thing, str | list | dict) else None


@_of_each
def number(thing: Any) -> Any:
    """A number, or the number in a string."""
    if type(thing) in NUMBERS:
        return thing
    if not isinstance(thing, str) or len(thing) > 400:
        return None
    try:
        return int(thing)
    except ValueError:
        try:
            return float(thing)
        except ValueError:
            return None


def searches(search: Callable[[str], Any]) -> Callable[[Any], bool]:
    """Whether `search` finds something in a string, or in one of the elements."""

    def found(text: Any) -> bool:
        if type(text) is Each:
            return any(map(found, text))
        return isinstance(text, str) and search(text) is not None

    return found


FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "startswith": (2, startswith),
    "endswith": (2, endswith),
    "contains": (2, contains),
    "lower": (1, lower),
    "upper": (1, upper),
    "len": (1, size),
    "number": (1, number),
}
"""name: number of arguments, function. `matches` is created from its pattern when the condition is parsed."""
