"""Names and patterns of subjects on a command line. A context before a pattern limits it: `:.staging:orders*` matches
names in the context `.staging`, `:.staging:` alone matches all of them; `:*:` means every context, and `:.:` the
default one. A pattern without a context matches whole names, as everywhere."""

from __future__ import annotations

from kcli.registry.subjects import listed_by, split
from kcli.text.names import NamePattern, Names, is_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EVERY = "*"


class SubjectPattern(NamePattern):
    """The names in one context, or in every one, that match a pattern. Raises UsageError if it is invalid."""

    def __init__(self, word: str, *, literal: bool = False) -> None:
        """`literal`: what follows the context is a name."""
        context, name = split(word)
        if literal and name:
            matches: Callable[[str], object] = name.__eq__
        else:
            super().__init__(name or "*")
            matches = self.fits
        self.text = word

        def fits(subject: str) -> object:
            own, rest = split(subject)
            return context in (EVERY, own) and matches(rest)

        self.fits = fits


def subject_names(words: Iterable[str], *, literal: bool = False, context: str = "") -> Names:
    """Return the names of a command line; those without a context are in `context`, if given: `*` is every one. Raises
    UsageError."""
    names = Names((_qualified(word, context) for word in words), literal=literal)
    for word in names.words:
        context, name = split(word)
        if name != word and (context == EVERY or not name or (is_pattern(name) and not literal)):
            names.patterns[word] = SubjectPattern(word, literal=literal)
    return names


def _qualified(word: str, context: str) -> str:
    own, name = split(word)
    if name == word:
        return f"{listed_by(context)}{word}" if context else word
    return name if not own and name and not is_pattern(name) else word
