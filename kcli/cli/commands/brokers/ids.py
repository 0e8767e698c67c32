"""Broker ids as a line names them."""

from __future__ import annotations

from kcli.errors import UsageError


def broker_ids(words: list[str], flag: str = "") -> set[int]:
    """The broker ids that words, or the values of an option, name. Raises UsageError."""
    for word in words:
        if not word.isdecimal():
            raise UsageError(f"{f'{flag} {word}'.lstrip()}: expected the id of a broker, such as 1")
    return set(map(int, words))
