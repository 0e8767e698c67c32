"""Settings that validate their values on creation.

A field declares what it accepts with its default: `linger: float = seconds(0.005)`. An invalid value is a UsageError
that names the field, the value, and what is expected.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.values import Frozen, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    T = TypeVar("T")

INT32 = 2**31 - 1
SENT = INT32 / 1000  # seconds: the longest request timeout, 32 bits of milliseconds
LONGEST = 2**53 / 1000  # seconds
LONGEST_TEXT = 2**15 - 1  # bytes: the limit of a string in the protocol
REFUSED = object()


class Kind:
    """What a setting accepts: its description, a function that returns the value to keep or REFUSED, and words that a
    mistyped value is compared with. A `hidden` value is not shown, because it may contain a password."""

    __slots__ = ("expected", "hidden", "take", "words")

    def __init__(
        self, expected: str, take: Callable[[Any], Any], words: tuple[str, ...] = (), *, hidden: bool = False
    ) -> None:
        self.expected = expected
        self.take = take
        self.words = words
        self.hidden = hidden


class Checked(Frozen):
    """A Frozen whose fields are declared with the functions of this module. Defaults are not checked."""

    if not TYPE_CHECKING:

        def __init__(self, **given):
            self._fill({}, given)

    def replace(self: T, **changes: Any) -> T:
        """Return a copy with some fields changed and checked. Raises TypeError for an unknown field."""
        made = object.__new__(type(self))
        kept = {f.name: getattr(self, f.name) for f in type(self).__fields__}  # type: ignore[attr-defined]
        made._fill(kept, changes)  # type: ignore[attr-defined]
        return made

    def _fill(self, kept: dict[str, Any], given: dict[str, Any]) -> None:
        for f in self.__fields__:
            if f.name in given:
                value = checked(f.name, f.extra, given.pop(f.name))
            else:
                value = kept[f.name] if kept else f.default
            object.__setattr__(self, f.name, value)
        if given:
            from kcli.text.suggest import did_you_mean

            name = next(iter(given))
            near = did_you_mean(name, [f.name for f in self.__fields__])
            raise TypeError(f"{type(self).__name__} has no setting {name!r}{near}")
        self._check()

    def _check(self) -> None:
        """Raise UsageError for values that contradict each other."""


def checked(name: str, kind: Kind, value: object) -> object:
    """Return the value to keep for a setting. Raises UsageError."""
    taken = kind.take(value)
    if taken is not REFUSED:
        return taken
    near = ""
    for given in value if isinstance(value, tuple | list) else (value,):
        if isinstance(given, str) and not near and given.lower() not in kind.words:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(given, kind.words)
    told = f"of type {type(value).__name__}" if kind.hidden else shown(value)
    raise UsageError(f"{name} {told}: expected {kind.expected}{near}")


def shown(value: object) -> str:
    """Return a plain value, or a list of some, for a message; for other values only the type."""
    plain = bool | int | float | str | bytes | None
    if isinstance(value, plain) or (isinstance(value, tuple | list) and all(isinstance(one, plain) for one in value)):
        try:
            text = repr(value)
        except ValueError:  # Python does not print ints with thousands of digits
            text = "of thousands of digits"
        return text if len(text) <= 80 else f"{text[:77]}..."
    return f"of type {type(value).__name__}"


def listed(words: tuple[str, ...]) -> str:
    """Join words as `a, b or c`."""
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def number(default: int | None, least: int = 0, most: int = INT32) -> Any:
    """An int; also None if that is the default."""
    optional = default is None

    def take(value: Any) -> Any:
        if value is None and optional:
            return None
        return value if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most else REFUSED

    expected = f"a whole number, {least} or more" if most == INT32 else f"a whole number from {least} to {most}"
    return field(default=default, extra=Kind(expected + (", or None" if optional else ""), take))


def seconds(default: float, *, zero: bool = True, most: float = LONGEST) -> Any:
    """A number of seconds; 0 only with `zero`."""

    def take(value: Any) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
            return REFUSED
        return value if value or zero else REFUSED

    least = "0 or more" if zero else "more than 0"
    return field(default=default, extra=Kind(f"a number of seconds, {least} and at most {most:.0f}", take))


def flag(default: bool | None) -> Any:
    """True or False; also None if that is the default."""
    taken = (True, False) if default is not None else (True, False, None)

    def take(value: Any) -> Any:
        return value if any(value is one for one in taken) else REFUSED

    return field(default=default, extra=Kind("True or False" + (", or None" if default is None else ""), take))


def text(default: str | None, expected: str = "a text", *, empty: bool = True) -> Any:
    """A str; also None if that is the default."""
    optional = default is None

    def take(value: Any) -> Any:
        if value is None and optional:
            return None
        return value if _is_text(value) and (value or empty) else REFUSED

    return field(default=default, extra=Kind(expected + (", or None" if optional else ""), take))


def _is_text(value: object) -> bool:
    """Whether the value is a str that the protocol can carry."""
    try:
        return isinstance(value, str) and len(value.encode()) <= LONGEST_TEXT
    except UnicodeEncodeError:
        return False


def word(
    default: Any,
    *words: str,
    also: Mapping[Any, Any] | None = None,
    take: Callable[[Any], bool] | None = None,
    expected: str = "",
) -> Any:
    """One of several words, in any case. `also` maps other spellings to their meaning; `take` accepts values that are
    not words."""
    table = {**{one.lower(): one for one in words}, **(also or {})}

    def taken(value: Any) -> Any:
        if isinstance(value, str):
            return table.get(value.lower(), REFUSED)
        if take is not None and take(value):
            return value
        return REFUSED

    return field(default=default, extra=Kind(expected or listed(words), taken, words))


def words(default: tuple[str, ...], *known: str, also: Mapping[str, str] | None = None) -> Any:
    """A tuple with at least one of the words, in any case."""
    table = {**{one: one for one in known}, **(also or {})}

    def take(value: Any) -> Any:
        if not isinstance(value, tuple | list) or not value:
            return REFUSED
        found = [table.get(one.lower()) if isinstance(one, str) else None for one in value]
        return REFUSED if None in found else tuple(dict.fromkeys(found))

    return field(default=default, extra=Kind(f"a tuple of {listed(known)}", take, known))


def made_by(default: Any, expected: str, take: Callable[[Any], Any]) -> Any:
    """A value of another kind: `take` returns the value to keep, or REFUSED."""
    return field(default=default, extra=Kind(expected, take, hidden=True))
