"""Text that came from a cluster, made fit for a screen; and words made fit for a shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.highlighter import Highlighter

from kcli.text.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.text import Text

LONG = 15.0
"""Seconds that a one-time sentence stays on the screen."""


AND = " && kcli "
JOINED = re.compile("(?<=[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f])\u200d(?=[\U0001f000-\U0001faff\u2600-\u27bf])")
"""What makes one emoji of several. Terminals do not agree on its width; its parts side by side have one."""
MARK = "…"


def printable(text: str | None) -> str:
    """Names, keys and messages with everything a terminal would act on spelled out; joined emoji as their parts."""
    if not text or text.isascii():
        return visible(text) if text else ""
    return visible(JOINED.sub("", text))


class _Symbols(dict[int, str]):
    """What is drawn for a character, found once each."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        if one != "\t" and visible(one) != one:
            one = chr(0x2400 + code) if code < 0x20 else "\N{SYMBOL FOR DELETE}" if code == 0x7F else "\ufffd"
        self[code] = one
        return one


_SYMBOLS = _Symbols()


def drawn(text: str) -> str:
    """A text that can be edited, letter by letter as long as it is: a symbol for each that a terminal would act on."""
    return text if text.isascii() and text.isprintable() else text.translate(_SYMBOLS)


class Drawn(Highlighter):
    """Draws the line of a field so."""

    def highlight(self, text: Text) -> None:
        text.plain = drawn(text.plain)


def suggestible(names: Iterable[str]) -> list[str]:
    """Names without anything a terminal would act on: a line draws what completes it as it is."""
    return [name for name in names if printable(name) == name]


def named(text: str) -> str:
    """A sentence in which `name` is what one gives: as NAME, for there are no backticks on a screen."""
    return re.sub(r"`(\w+)`", lambda match: match[1].upper(), printable(text))


def quoted(word: str) -> str:
    """A word as one would type it in a command."""
    return shlex.quote(visible(word))


def with_each(command: str, words: str) -> str:
    """A line with words at the end of each of its commands: `kcli … && kcli …` are two."""
    commands: list[str] = []
    for piece in command.split(AND):
        if commands and not _closed(commands[-1]):
            commands[-1] += AND + piece  # a word of the command has it
        else:
            commands.append(piece)
    return AND.join(f"{one} {words}" for one in commands)


def _closed(command: str) -> bool:
    """Whether each quote in it has its end."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def piped(words: list[str]) -> str:
    """The pipe that leaves the lines which a filter of these words leaves; after `!` is what must not be there."""
    needed = [f" | grep -iF {quoted(word)}" for word in words if not word.startswith("!")]
    return "".join(needed + [f" | grep -viF {quoted(word[1:])}" for word in words if word[0] == "!" and word[1:]])


def shown(data: bytes, most: int = 400) -> str:
    """The beginning of a key or a value on one line."""
    return printable(data[:most].decode("utf-8", "backslashreplace")) + ("…" if len(data) > most else "")


def fitted(text: str, cells: int, *, right: bool = False, middle: bool = False) -> str:
    """The text in exactly this number of cells: padded at its right, or at its left with `right`. Text that is too long
    is cut at its end, or in the middle with `middle`: the end of a name distinguishes it as much as its beginning."""
    wide = cell_len(text)
    if wide > cells:
        return _without_middle(text, cells) if middle else set_cell_size(text, max(cells - 1, 0)) + MARK
    return " " * (cells - wide) + text if right else text + " " * (cells - wide)


def cut(text: str, cells: int) -> str:
    """The text in at most this number of cells, without its middle where it is longer."""
    return _without_middle(text, cells) if cell_len(text) > cells else text


def _without_middle(text: str, cells: int) -> str:
    """`kcli-copy…3b93ca67`: the beginning gets the odd cell."""
    room = max(cells - 1, 0)
    tail = ""
    while tail != text and cell_len(text[-len(tail) - 1 :]) <= room // 2:
        tail = text[-len(tail) - 1 :]
    return set_cell_size(text, room - cell_len(tail)) + MARK + tail
