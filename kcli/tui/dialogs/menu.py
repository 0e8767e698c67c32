"""`a`: what can be done with the row under the cursor, each with its key and its kcli command."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from kcli.tui.text.printable import printable
from kcli.tui.widgets.footer import Footer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.tui.actions.acts import Act
    from kcli.tui.session import Session


class Menu(ModalScreen["Act | None"]):
    """A list of acts: those that only show something, those that change it, those that delete. The answer is the one
    that was chosen, by its key or by enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,a", "dismiss(None)", "Close", id="menu.close"),
        Binding("j", "move('down')", "Down", show=False, id="menu.down"),
        Binding("k", "move('up')", "Up", show=False, id="menu.up"),
        Binding("ctrl+o", "copy", "Copy command", id="menu.copy"),
    ]

    def __init__(self, session: Session, about: str, acts: Sequence[Act]) -> None:
        super().__init__()
        self._session = session
        self._about = about
        self._acts = sorted(acts, key=lambda act: (act.destroys, act.changes))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(f"Actions on {printable(self._about)}", classes="title", markup=False)
            yield OptionList(*map(self._option, self._acts), id="acts", markup=False)
            yield Static("", id="command", markup=False)
        yield Footer()

    def _refusal(self, act: Act) -> str:
        return self._session.refusal("this") if act.changes else ""

    def _option(self, act: Act) -> Option:
        """Its key and its name; where it cannot be done, why."""
        text = Text.assemble((f" {act.key:<6}", "bold"), act.label)
        refusal = self._refusal(act)
        if refusal:
            text.append(f"  {printable(refusal)}", "dim")
        return Option(text, disabled=bool(refusal))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        safe = (n for n, act in enumerate(self._acts) if not (self._refusal(act) or act.destroys))
        listed.highlighted = next(safe, None)

    def action_move(self, where: str) -> None:
        listed = self.query_one(OptionList)
        listed.action_cursor_down() if where == "down" else listed.action_cursor_up()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        line = self._command(self._acts[event.option_index])
        self.query_one("#command", Static).update(f"$ {line}" if line else "no single command does this")

    def _command(self, act: Act) -> str:
        return act.command if act.elsewhere else self._session.aimed(act.command)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._acts[event.option_index])

    def on_key(self, event: events.Key) -> None:
        act = next((act for act in self._acts if act.key in (event.key, event.character)), None)
        if act is not None and not self._refusal(act):
            event.stop()
            self.dismiss(act)

    def action_copy(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            command = self._command(self._acts[at])
            self.app.copy_to_clipboard(command)
            self.notify(command, title="Copied", markup=False)
