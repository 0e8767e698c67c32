"""`c` over records: a field of their values as a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from kcli.tui.text.printable import printable, suggestible
from kcli.tui.widgets.footer import Footer

if TYPE_CHECKING:
    from collections.abc import Sequence

LISTED = 30
"""Fields that are named below the line."""


class FieldLine(ModalScreen[str | None]):
    """One line; the answer is the path of a field, or None. `→` completes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="column.close")]

    def __init__(self, known: Sequence[str], shown: Sequence[str]) -> None:
        super().__init__()
        self._known = list(known)
        self._shown = list(shown)

    def compose(self) -> ComposeResult:
        listed = "  ".join(map(printable, self._known[:LISTED])) or "The last records have no fields."
        now = f"columns now: {', '.join(map(printable, self._shown))} (again: no longer)" if self._shown else ""
        with Vertical(classes="dialog"):
            yield Static("A field as a column", classes="title", markup=False)
            yield Input(
                placeholder="such as customer.country",
                suggester=SuggestFromList(suggestible(self._known)),
                id="field",
                compact=True,
            )
            yield Static(listed, classes="hint", markup=False)
            yield Static(now, classes="hint", markup=False)
        yield Footer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)
