"""`kcli __complete SHELL …`: what a shell's TAB may offer. Asked by the scripts of `completion_scripts`.

bash sends the line up to the cursor and its own idea of the word; zsh and fish the words. The answer is a line of
directives (`files`, `nospace`, or nothing), then `VALUE<TAB>DESCRIPTION` lines. Nothing here fails, and nothing is
printed on stderr: a prompt is no place for errors. Everything that is offered needs no quoting in any shell (`safe`).
"""

from __future__ import annotations

import sys

from kcli.cli.completion.line import place_of, split
from kcli.cli.completion.place import Place, safe
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.completion.place import Offer

MOST = 200
"""The most candidates that are offered; of more names, their beginnings are."""
ENDS = "-._/:"
"""Characters that end a part of a name."""


def run(words: list[str]) -> int:
    """The hidden command. The exit code is 0, whatever was typed."""
    shell, rest = words[0] if words else "", words[1:]
    typed = ""  # what the shell will not replace
    if shell == "bash":
        line, own = (*rest, "", "")[:2]
        rest = split(line)
        typed = _kept(rest[-1], own)
    elif shell == "fish" and rest:
        rest[-1] = split(rest[-1])[-1]  # it comes with its quote
    text = _answer(rest or [""], typed, plain=shell == "bash")
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "ignore"))
        sys.stdout.flush()
    except OSError:
        return 0  # the shell does not want it any more
    return 0


def _answer(words: list[str], typed: str, *, plain: bool) -> str:
    try:
        place = place_of(words)
        offers, files = _offers(place)
    except (KcliError, OSError, ValueError, LookupError):
        return "\n"  # a broken configuration: the command itself will tell
    if files:
        return "files\n"
    every = dict(one for one in offers if one[0].startswith(words[-1]) and safe(one[0]))
    fitting = every if len(every) <= MOST else beginnings(every, len(words[-1]))
    nospace = bool(fitting) and (fitting is not every or all(value[-1] in "=,:/" for value in fitting))
    lines = ["nospace" if nospace else ""]
    for value, help in fitting.items():
        shown = value[len(typed) :] if value.startswith(typed) else value
        lines.append(shown if plain else f"{value}\t{help}")
    return "\n".join(lines) + "\n"


def beginnings(names: Iterable[str], typed: int) -> dict[str, str]:
    """The beginnings of many names: the `typed` characters up to the end of a part, or with one character more where
    there would be too many of those; each with the number of its names."""
    for cut in (_part, _character):
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(cut(name, typed), []).append(name)
        if len(groups) <= MOST:
            break
    return {
        begin if len(every) > 1 else every[0]: f"{len(every)} names" if len(every) > 1 else ""
        for begin, every in list(groups.items())[:MOST]
    }


def _part(name: str, typed: int) -> str:
    return name[: next((at + 1 for at in range(typed, len(name)) if name[at] in ENDS), len(name))]


def _character(name: str, typed: int) -> str:
    return name[: typed + 1]


def _kept(word: str, own: str) -> str:
    """The beginning of a word that bash keeps, because it takes `:` and `=` for ends of words (COMP_WORDBREAKS)."""
    end = split(own)[-1]
    if not end.strip(":="):
        return word  # the break itself: what follows it is replaced, which is nothing yet
    return word.removesuffix(end) if word.endswith(end) else ""


def _offers(place: Place) -> tuple[Iterable[Offer], bool]:
    if place.kind == "files":
        return (), True
    from kcli.cli.completion.names import names

    prefix = place.prefix
    return [*place.offers, *((prefix + value, help) for value, help in names(place) if _named(value))], False


def _named(value: str) -> bool:
    return value[:1] != "-"
