"""`:`: go anywhere by name, with completion."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from kcli.tui.routes import NAMES, Route, find


class Command(ModalScreen[Route | None]):
    """One line; the answer is the route to go, or None. `known` is offered for completion."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="command.close")]

    def __init__(self, known: list[str]) -> None:
        super().__init__()
        self._known = known

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Input(placeholder=NAMES, suggester=SuggestFromList(self._known))
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
