"""The refreshes of a watch on stdout: a table on a terminal in place of the last one, else one after another."""

from __future__ import annotations

import sys

from kcli.cli.output.tables.render import render, whole, write
from kcli.cli.output.terminal import painted, terminal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self, TextIO

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.render import Made
    from kcli.cli.output.terminal import Terminal

TITLED = ("csv", "csv-safe", "tsv")
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"


class News:
    """The sentences of the last refresh: those that still hold are not printed again."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def of(self, sentences: list[str]) -> list[str]:
        """Those that were not among the last ones."""
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._before]
        self._before = set(sentences)
        return new


class Refreshes:
    """`with` it, `show` prints a refresh. A JSON document takes a line; titles are printed once. `made` makes the text
    of a document."""

    def __init__(self, format: str, made: Made = render, *, drawn: bool = True) -> None:
        self._format = format
        self._made = made
        self._screen = Screen(sys.stdout) if drawn and format == "table" and sys.stdout.isatty() else None
        self._first = True

    def __enter__(self) -> Self:
        if self._screen is not None:
            self._screen.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._screen is not None:
            self._screen.__exit__(kind, error, at)

    def show(self, document: Document, head: str) -> None:
        """Print a refresh; `head` is a line above it where it is drawn. Raises BrokenPipeError."""
        terminal = terminal_of(sys.stdout)
        if self._screen is None or terminal is None:
            write(document, self._format, made=self._next)
        else:
            table = self._made(document, self._format, terminal)
            self._screen.show(f"{painted(head, '2', terminal.color)}\n\n{table}")

    def _next(self, document: Document, format: str, terminal: Terminal | None) -> str:
        """The text of one of several refreshes."""
        first, self._first = self._first, False
        if format == "json":
            from json import dumps

            text = dumps(whole(document), ensure_ascii=False, separators=(",", ":")) + "\n"
            return text if terminal is None else _shown(text)
        text = self._made(document, format, terminal)
        if first:
            return text
        if format in TITLED and document.view.headers:
            return text.partition("\n")[2]
        return f"\n{text}" if format == "table" else text


def _shown(text: str) -> str:
    from kcli.text.escape import visible

    return visible(text, keep="\n")


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
