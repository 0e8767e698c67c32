"""Words that mean themselves in every shell."""

from __future__ import annotations

INSIDE = "._-:/@+,="
"""The characters of a word besides letters and digits: nothing that bash, zsh or fish would act on."""


def safe(word: str) -> bool:
    """Whether a word means itself in every shell: letters, digits and INSIDE, and it does not begin as an
    option or as zsh's `=command`."""
    return bool(word) and word[0] != "=" and all(char.isalnum() or char in INSIDE for char in word)
