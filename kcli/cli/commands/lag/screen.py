"""Where the looks of a watch are shown: on a terminal the newest in place of the last, in a pipe one after another."""

from __future__ import annotations

import sys

from kcli.cli.commands.lag.report import document_of, text_of
from kcli.cli.commands.lag.rows import stamp
from kcli.cli.output.tables.render import write
from kcli.text.escape import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

    from kcli.cli.commands.lag.plan import Plan
    from kcli.lag.watch import Look


class Screen:
    """Stdout is drawn on only when it is a terminal and a table is wanted."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._drawn = sys.stdout.isatty() and plan.format == "table" and plan.watch
        self._live: Live | None = None
        self._first = True

    def show(self, look: Look) -> None:
        """The newest look."""
        if not self._drawn:
            self.print(look)
            return
        from rich.console import Console
        from rich.live import Live

        if self._live is None:
            console = Console(highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, screen=False, vertical_overflow="crop")
            self._live.start()
        self._live.update(self._table(look), refresh=True)

    def print(self, look: Look) -> None:
        """One look as text."""
        if sys.stdout.isatty() and self._plan.format == "table":
            write(document_of(self._plan, look), "table")
        else:
            put(text_of(self._plan, look, first=self._first))
            sys.stdout.flush()
        self._first = False

    def close(self) -> None:
        """Leave the terminal as it was, the last look standing."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _table(self, look: Look) -> Group:
        from rich.console import Group as Rows
        from rich.text import Text

        from kcli.cli.output.tables.rich_tables import table_of

        document = document_of(self._plan, look)
        (section,) = document.shape.sections
        head = Text(f"{stamp(look.time)}  {len(look.groups)} groups  looked for {look.took:.2f} s", style="dim")
        return Rows(head, table_of(section, document.section(section)))
