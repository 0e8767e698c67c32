"""Names and patterns on a command line. `^RE` is a regular expression for the beginning of a name; `*`, `?` and `[…]`
make a glob for the whole name; anything else is an exact name. The syntax is the same for topics, groups and everything
that `export` reads.

`consume` checks whether a topic is a pattern, so nothing is imported until there is one.
"""

from __future__ import annotations

from kcli.errors import KcliError, UsageError
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GLOB = "*?["


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern and not a name."""
    return text.startswith("^") or any(sign in text for sign in GLOB)


class NamePattern:
    """A pattern. Raises UsageError if it is invalid."""

    def __init__(self, text: str) -> None:
        import re

        from kcli.text.patterns import compiled, matcher

        self.text = text
        whole = not text.startswith("^")
        try:
            read = compiled(f"(?s:{glob_expression(text)})" if whole else text)
        except re.error as problem:
            column = "" if whole or problem.pos is None else f" at column {problem.pos + 1}"
            raise UsageError(f"{text}: not a valid pattern: {problem.msg}{column}") from None
        self.fits: Callable[[str], object] = matcher(read, text, whole=whole)
        """Whether a name matches. Raises KcliError if that takes more than a second."""

    def begins(self, prefix: str) -> bool:
        """Whether the pattern itself starts with these literal characters."""
        return self.text.removeprefix("^").startswith(prefix)


class NoMatch(KcliError):
    """A pattern matches nothing."""


class Match(Value):
    """The result of `Names.among`: the names, the patterns without matches, and a hidden name that they would have
    matched."""

    names: list[str] = field(factory=list)
    unmatched: list[str] = field(factory=list)
    passed: str | None = None

    def refusal(self, kind: str) -> NoMatch:
        """Return the error for patterns that match no `kind` (topic or group)."""
        problem = NoMatch(f"{', '.join(self.unmatched)}: no {kind} matches")
        if self.passed is not None:
            return NoMatch(f"{problem} but {self.passed}, which only its own name means")
        return problem.hinted("list-names", kind=kind)


class Names:
    """The names and patterns of a command line; `literal` ones are always names. Raises UsageError."""

    def __init__(self, words: Iterable[str] = (), *, literal: bool = False) -> None:
        self.words = list(dict.fromkeys(words))
        self.patterns = {} if literal else {word: NamePattern(word) for word in self.words if is_pattern(word)}

    @property
    def exact(self) -> list[str]:
        """The words that are not patterns."""
        return [word for word in self.words if word not in self.patterns]

    def fits(self, word: str, name: str) -> bool:
        """Whether a word is or matches this name."""
        return word == name or (word in self.patterns and bool(self.patterns[word].fits(name)))

    def covers(self, name: str) -> bool:
        """Whether any of the words is or matches this name; without words, every name is included."""
        return not self.words or any(self.fits(word, name) for word in self.words)

    def among(self, known: Iterable[str], hidden: Callable[[str, NamePattern], bool] | None = None) -> Match:
        """Return the exact names, known or not, and the known names that match, each once and in the order of the
        command line.

        A pattern that is also the exact name of something means that name. `hidden` tells which names patterns do not
        match.
        """
        there = sorted(known)
        match, names = Match(), dict[str, None]()
        for word in self.words:
            pattern = self.patterns.get(word)
            if pattern is None or word in there:
                names[word] = None
                continue
            fitting = [name for name in there if pattern.fits(name)]
            shown = [name for name in fitting if hidden is None or not hidden(name, pattern)]
            names.update(dict.fromkeys(shown))
            if not shown:
                match.unmatched.append(word)
                match.passed = match.passed or next(iter(fitting), None)
        match.names = list(names)
        return match


def expression(text: str) -> str:
    """Return a pattern as a regular expression for whole names that means the same in Python and RE2."""
    if not text.startswith("^"):
        return glob_expression(text)
    closed = f"(?:{text})" if "|" in text else text
    return closed if text.endswith(("$", ".*")) else f"{closed}.*"


def glob_expression(text: str) -> str:
    """Return a glob as a regular expression that means the same in Python and RE2."""
    from re import escape

    parts: list[str] = []
    place = 0
    while place < len(text):
        sign, place = text[place], place + 1
        end = text.find("]", place + 1 + (text[place : place + 1] == "!")) if sign == "[" else -1
        if sign == "*":
            if parts[-1:] != [".*"]:
                parts.append(".*")
        elif sign == "?":
            parts.append(".")
        elif end > 0:
            parts.append(_class(text[place:end]))
            place = end + 1
        else:
            parts.append(escape(sign))
    return "".join(parts)


def _class(inside: str) -> str:
    """Return `[a-z]` or `[!a-z]`, given without the brackets, as a character class."""
    negated = inside.startswith("!")
    plain = "".join(sign if sign.isalnum() or sign in "-_." else f"\\{sign}" for sign in inside[negated:])
    return f"[{'^' if negated else ''}{plain}]"
