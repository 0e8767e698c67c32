"""`d` over records: the difference of the two that are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kcli.tui.records.difference import count
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.pager.pager import Pager

if TYPE_CHECKING:
    from collections.abc import Sequence


class Difference(ModalScreen[None]):
    """The lines of both, those of one alone with a sign and a colour."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,d,q", "dismiss", "Close", id="difference.close")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = f"{title}: {count(lines)} lines differ"
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall"):
            yield Static(self._title, classes="title", markup=False)
            yield Pager(lambda: self._lines, signs=True, id="difference")
        yield Footer()
