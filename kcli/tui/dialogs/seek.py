"""`@` and `#` over records: go to a time or to an offset."""

from __future__ import annotations

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.offsets import one_place
from kcli.tui.widgets.footer import Footer

FORMS = """
@-1h               an hour ago
@2026-11-22T07:00  the first records of that time
#12345             that offset
#-100              100 records before the end
start, end         the ends of the log"""


def place_of(text: str, now: int) -> Bound:
    """`@-1h`, `@2026-11-22T07:00`, `#12345`, `#-100` (before the end), `start`, `end`. Raises UsageError."""
    word = text.strip()
    if word == "start":
        return Bound("earliest")
    return one_place(word.removeprefix("#") if word.startswith("#") else word, now)


class Seek(ModalScreen[Bound | None]):
    """One line; the answer is the place, or None."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="seek.close")]

    def __init__(self, begins: str) -> None:
        super().__init__()
        self._begins = begins

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Go to a time or an offset, in all partitions", classes="title", markup=False)
            yield Input(self._begins, select_on_focus=False, compact=True)
            yield Static(FORMS, classes="hint", markup=False)
            yield Static("", id="wrong", classes="bad", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        line = self.query_one(Input)
        line.focus()
        line.cursor_position = len(self._begins)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            self.dismiss(place_of(event.value, time.time_ns() // 1_000_000))
        except UsageError as problem:
            self.query_one("#wrong", Static).update(str(problem))
