"""`:`: go anywhere by name, with completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from kcli.tui.routes import NAMES, find, places

if TYPE_CHECKING:
    from kcli.tui.app import Dashboard


class Command(ModalScreen[Screen[Any] | None]):
    """One line; the answer is the screen to open, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="command.close")]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            known = places(cast("Dashboard", self.app).look)
            yield Input(placeholder=NAMES, suggester=SuggestFromList(known))
            yield Static("", id="wrong", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() in ("q", "quit"):
            self.app.exit(0)
            return
        where = find(event.value) if event.value.strip() else None
        if where is None:
            self.query_one("#wrong", Static).update(f"There is no place called {event.value.strip()}.")
        else:
            self.dismiss(where)
