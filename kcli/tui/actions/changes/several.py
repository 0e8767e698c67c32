"""What changes of several things have in common: a title, and a word to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


def word_of(names: Sequence[str], noun: str) -> str:
    """What has to be typed: the name, or how many there are: `3 topics`."""
    return names[0] if len(names) == 1 else f"{len(names)} {noun}s"


def title_of(verb: str, names: Sequence[str], noun: str) -> str:
    """`Delete topic orders`, `Delete 3 topics`."""
    return f"{verb} {noun} {printable(names[0])}" if len(names) == 1 else f"{verb} {word_of(names, noun)}"
