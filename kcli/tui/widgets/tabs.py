"""The tabs of a page."""

from __future__ import annotations

from textual.widgets import TabbedContent


class Tabs(TabbedContent):
    """Each pane has the id `tab-NAME`, and one table or text that takes the keys."""

    def __init__(self) -> None:
        super().__init__(id="tabs")

    @property
    def name_of_open(self) -> str:
        """Which tab is open; "" before there is any."""
        return self.active.removeprefix("tab-")

    def open(self, name: str) -> None:
        """Show a tab, and give it the keys."""
        self.active = f"tab-{name}"
        next(part for part in self.get_pane(self.active).query("*") if part.can_focus).focus()
