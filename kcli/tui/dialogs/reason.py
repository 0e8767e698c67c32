"""A reason in one line: why a status is acknowledged."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kcli.tui.widgets.footer import Footer

LONGEST = 200


class Reason(ModalScreen[str | None]):
    """The answer is the reason; None for a dialog that was left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="reason.close")]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="title", markup=False)
            yield Input(placeholder="such as: the pods are being moved until 14:00", max_length=LONGEST, compact=True)
            yield Static("No alert and no line on the board until its status changes.", classes="hint", markup=False)
        yield Footer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())
