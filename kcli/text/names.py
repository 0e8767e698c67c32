"""Names on a command line: exact ones, and patterns. `^RE` is a regular expression for how a name begins, `*`, `?` and
`[…]` make a glob for the whole name; everything else is a name. One syntax for topics, groups and what `export` reads.

`consume` asks whether a topic is a pattern: nothing is imported before one is read.
"""

from __future__ import annotations

from kcli.errors import KcliError, UsageError
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GLOB = "*?["


def is_pattern(text: str) -> bool:
    """Is this a pattern and no name?"""
    return text.startswith("^") or any(sign in text for sign in GLOB)


class NamePattern:
    """One pattern. Raises UsageError for one that is not valid."""

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
        """Does a name match? Raises KcliError for a name that takes more than a second."""

    def begins(self, prefix: str) -> bool:
        """Does the pattern itself spell out how names begin?"""
        return self.text.removeprefix("^").startswith(prefix)


class NoMatch(KcliError):
    """A pattern matches nothing."""


class Match(Value):
    """What `Names.among` finds: the names, the patterns that match none, and a name that was hidden from these."""

    names: list[str] = field(factory=list)
    unmatched: list[str] = field(factory=list)
    passed: str | None = None

    def refusal(self, kind: str) -> NoMatch:
        """The error for the patterns that match nothing of a `kind`: topic or group."""
        problem = NoMatch(f"{', '.join(self.unmatched)}: no {kind} matches")
        if self.passed is not None:
            return NoMatch(f"{problem} but {self.passed}, which only its own name means")
        return problem.hinted("list-names", kind=kind)


class Names:
    """The names and patterns of a line, `literal` ones being names whatever they hold. Raises UsageError."""

    def __init__(self, words: Iterable[str] = (), *, literal: bool = False) -> None:
        self.words = list(dict.fromkeys(words))
        self.patterns = {} if literal else {word: NamePattern(word) for word in self.words if is_pattern(word)}

    @property
    def exact(self) -> list[str]:
        """The words that are no patterns."""
        return [word for word in self.words if word not in self.patterns]

    def fits(self, word: str, name: str) -> bool:
        """Does one of the words mean this name?"""
        return word == name or (word in self.patterns and bool(self.patterns[word].fits(name)))

    def covers(self, name: str) -> bool:
        """Does any of the words mean this name? All are meant where nothing is named."""
        return not self.words or any(self.fits(word, name) for word in self.words)

    def among(self, known: Iterable[str], hidden: Callable[[str, NamePattern], bool] | None = None) -> Match:
        """The exact names, whether they are known or not, and the known names that match, each once and in the order of
        the line. A pattern that is the exact name of something is that name. `hidden` says which names a pattern does
        not match."""
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
    """A pattern as a regular expression that matches names whole, and that Python and RE2 read alike."""
    if not text.startswith("^"):
        return glob_expression(text)
    closed = f"(?:{text})" if "|" in text else text
    return closed if text.endswith(("$", ".*")) else f"{closed}.*"


def glob_expression(text: str) -> str:
    """A glob as a regular expression that Python and RE2 read alike."""
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
    """`[a-z]` or `[!a-z]`, without the brackets, as a class of characters."""
    negated = inside.startswith("!")
    plain = "".join(sign if sign.isalnum() or sign in "-_." else f"\\{sign}" for sign in inside[negated:])
    return f"[{'^' if negated else ''}{plain}]"
