"""What a terminal is like: its size, and whether it shows colours."""

from __future__ import annotations

import os

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

WIDTH, HEIGHT = 80, 24  # where it does not say


class Terminal(Frozen):
    """A terminal that a person reads."""

    width: int = WIDTH
    height: int = HEIGHT
    color: bool = False


def terminal_of(stream: TextIO) -> Terminal | None:
    """The terminal behind a stream; None for a pipe or a file. COLUMNS and LINES override its size; NO_COLOR and
    TERM=dumb switch colours off."""
    if not stream.isatty():
        return None
    try:
        width, height = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):  # a stream that is no file
        width, height = WIDTH, HEIGHT
    color = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Terminal(
        width=_number("COLUMNS") or width or WIDTH, height=_number("LINES") or height or HEIGHT, color=color
    )


def painted(text: str, code: str, color: bool) -> str:
    """The text in a colour of the terminal's own palette."""
    return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else 0
