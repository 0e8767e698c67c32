"""A list with a pane beside it on wide screens: about the row under the cursor, and its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui import routes
from kcli.tui.screens.page import Page
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.lag.watch import LagSnapshot


class WithPane(Page):
    """A kind of list says what is in its pane, `Lines` with the id `about`."""

    def _about(self) -> None:
        """Fill the pane, where there is room for one."""
        raise NotImplementedError

    def looked(self, snapshot: LagSnapshot) -> None:
        self._about()

    def on_rows_moved(self, event: Rows.Moved) -> None:
        self._about()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """A click on a group of the pane opens it."""
        self.go(routes.Group(event.key))

    def on_resize(self) -> None:
        self.call_after_refresh(self._about)
