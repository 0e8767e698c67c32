"""Where the looks of a watch are shown: on a terminal the newest in place of the last, in a pipe one after another."""

from __future__ import annotations

import sys

from kcli.cli.commands.lag.report import document_of, text_of
from kcli.cli.commands.lag.rows import stamp
from kcli.cli.output.screen import Screen
from kcli.cli.output.tables.render import render, write
from kcli.cli.output.terminal import painted, terminal_of
from kcli.cli.runtime.answer import plural
from kcli.text.escape import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from kcli.cli.commands.lag.plan import Plan
    from kcli.lag.watch import Look


class Looks:
    """Stdout is drawn on only when it is a terminal and a table is wanted."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._screen = Screen(sys.stdout) if sys.stdout.isatty() and plan.format == "table" and plan.watch else None
        self._first = True

    def __enter__(self) -> Self:
        if self._screen is not None:
            self._screen.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._screen is not None:
            self._screen.__exit__(kind, error, at)

    def show(self, look: Look) -> None:
        """The newest look."""
        terminal = terminal_of(sys.stdout)
        if self._screen is None or terminal is None:
            self.print(look)
            return
        head = f"{stamp(look.time)}  {plural(len(look.groups), 'group')}, refreshed in {look.took:.2f} s"
        table = render(document_of(self._plan, look), "table", terminal)
        self._screen.show(f"{painted(head, '2', terminal.color)}\n\n{table}")

    def print(self, look: Look) -> None:
        """One look as text."""
        if sys.stdout.isatty() and self._plan.format == "table":
            write(document_of(self._plan, look), "table")
        else:
            put(text_of(self._plan, look, first=self._first))
            sys.stdout.flush()
        self._first = False
