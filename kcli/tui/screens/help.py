"""`?`: what the keys do, written from the bindings in force, so it cannot be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from typing import Any


class Help(ModalScreen[None]):
    """The keys of the screen it was opened on."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close", id="help.close")]

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static(self.text(), markup=False)

    def text(self) -> str:
        """A line per binding, in the order: this screen, its table, everywhere; then what sorts."""
        lines = []
        for node, binding, _, _ in self._about.active_bindings.values():
            if binding.system or not binding.description:
                continue
            lines.append((type(node).__name__, self.app.get_key_display(binding), binding.description))
        found = [f"{key:>12}  {what}" for _, key, what in dict.fromkeys(lines)]
        for rows in self._about.query(Rows):
            if rows.is_on_screen:
                sorts = [f"{one.letter:>12}  Sort by {one.label.lower()}" for one in rows.columns if one.letter]
                found += ["", *sorts]
                break
        return "\n".join(["Keys", "", *found])
