"""A text on a terminal that is replaced by the next one, as of a watch; messages on stderr go above it."""

from __future__ import annotations

import sys

from kcli.cli.output.terminal import terminal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self, TextIO

NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"


class Screen:
    """`with` it, `show` draws on a stream that is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._drawn = 0  # lines
        self._cut = False  # whether the terminal is too low for all lines
        self._stderr: TextIO | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._stderr = sys.stderr
            sys.stderr = _Above(self, sys.stderr)  # it has what is used of one
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave the last text standing, with all its lines."""
        if self._stderr is not None:
            sys.stderr = self._stderr
        if self._cut and error is None:
            self.clear()
            self._put(self._text)

    def show(self, text: str) -> None:
        """Replace what is shown. Raises BrokenPipeError."""
        self._text = text
        terminal = terminal_of(self._stream)
        lines = text.splitlines(keepends=True)
        shown = lines if terminal is None else lines[: max(terminal.height - 1, 1)]
        self._cut = len(shown) < len(lines)
        self._put(f"{self._up()}{NO_WRAP}{''.join(shown)}{WRAP}")
        self._drawn = len(shown)

    def clear(self) -> None:
        """Take the text away, until it is shown again."""
        self._put(self._up())
        self._drawn = 0

    def again(self) -> None:
        """Show the same text."""
        self.show(self._text)

    def _up(self) -> str:
        return f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class _Above:
    """stderr while a screen is drawn: what is written goes above the text."""

    def __init__(self, screen: Screen, stderr: TextIO) -> None:
        self._screen = screen
        self._real = stderr

    def write(self, text: str) -> int:
        self._screen.clear()
        written = self._real.write(text)
        self._real.flush()
        self._screen.again()
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)
