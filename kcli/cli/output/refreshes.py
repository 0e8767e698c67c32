"""The refreshes of a watch on stdout: a table on a terminal in place of the last one, else one after another."""

from __future__ import annotations

import sys

from kcli.cli.output.screen import Screen
from kcli.cli.output.tables.render import render, whole, write
from kcli.cli.output.terminal import painted, terminal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.render import Made
    from kcli.cli.output.terminal import Terminal

TITLED = ("csv", "csv-safe", "tsv")


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
