"""Which cluster to open, where no command line, variable or profile names one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Footer, OptionList, Static

from kcli.tui.text.printable import printable
from kcli.tui.themes import THEMES

if TYPE_CHECKING:
    from collections.abc import Sequence


class Chooser(App[tuple[int, bool] | None]):
    """A list of clusters. The answer is the number of one and whether to keep it, or None."""

    TITLE = "kcli"
    ENABLE_COMMAND_PALETTE = False
    CSS = "Vertical { padding: 1 2; } OptionList { height: auto; margin: 1 0; } #wrong { color: $error; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose(False)", "Open this time", priority=True),
        Binding("w", "choose(True)", "Open, and keep as a profile"),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
        Binding("q,escape", "quit", "Quit"),
    ]

    def __init__(self, rows: Sequence[tuple[str, str, str]], keeps: Sequence[bool], usable: Sequence[bool]) -> None:
        """`rows` are name, servers and where each was found; `keeps` says which can be kept, `usable` which opened."""
        super().__init__()
        self._rows, self._keeps, self._usable = rows, keeps, usable

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("No cluster is set. Open one of these:", markup=False)
            yield OptionList(*map(self._line, self._rows), markup=False)
            yield Static("", id="wrong", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.query_one(OptionList).focus()

    def _line(self, row: tuple[str, str, str]) -> Text:
        """Two lines, which are cut rather than wrapped."""
        name, servers, where = map(printable, row)
        text = Text.assemble(f"{name}  {servers}\n", (f"  {where}", "dim"))
        text.no_wrap, text.overflow = True, "ellipsis"
        return text

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()

    def action_choose(self, keep: bool) -> None:
        self._choose(self.query_one(OptionList).highlighted or 0, keep)

    def _choose(self, at: int, keep: bool) -> None:
        if not self._usable[at]:
            self.query_one("#wrong", Static).update(printable(self._rows[at][2]))
        elif keep and not self._keeps[at]:
            self.query_one("#wrong", Static).update("There is nothing to keep: enter opens it.")
        else:
            self.exit((at, keep))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        event.stop()
        self._choose(event.option_index, False)
