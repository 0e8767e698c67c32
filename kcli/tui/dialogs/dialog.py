"""What dialogs have in common: a frame, a title, a line that says what is wrong or what was done, and the kcli command
that does the same."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kcli.tui.text.printable import LONG, printable
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.widget import Widget

    from kcli.tui.session import Session


MANY = 16  # rows of a plan for which the dialog gets higher


class Dialog(ModalScreen[None]):
    """A dialog about a session. A kind says its `title_text`, its `fields` and its `command`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", id="dialog.close"),
        Binding("ctrl+o", "copy", "Copy command", id="dialog.copy"),
        Binding("pageup", "scroll_plan(-1)", "Plan up", show=False, id="dialog.plan_up"),
        Binding("pagedown", "scroll_plan(1)", "Plan down", show=False, id="dialog.plan_down"),
    ]

    AUTO_FOCUS = ""  # a key that was typed before the dialog is seen is for none of its fields
    seen_at = 0.0  # time.monotonic() when the first field got the keys
    title_text = ""
    offered_first: ClassVar[tuple[str, ...]] = ()
    """Actions whose keys are first in the footer."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    @property
    def command(self) -> str:
        """The kcli command that does the same."""
        return ""

    def first_field(self) -> Widget | None:
        """The field that gets the keys, once the dialog is drawn."""
        return None

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._give_keys)

    def _give_keys(self) -> None:
        field = self.first_field() if self.is_open and self.focused is None else None
        if field is not None:
            field.focus()
            self.seen_at = time.monotonic()

    def fields(self) -> ComposeResult:
        """The lines between the title and the last two."""
        yield from ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall"):
            yield Static(self.title_text, classes="title", markup=False)
            yield from self.fields()
            yield Static("", id="said", markup=False)
            yield Static(f"$ {self.session.aimed(self.command)}", id="command", markup=False)
        yield Footer()

    def put(self, plan: Sequence[object]) -> None:
        """Show the rows of a plan; the dialog gets higher for many of them."""
        self.query_one("#plan", Rows).put(plan)
        self.query_one(".dialog").set_class(len(plan) > MANY, "-long")

    def say(self, words: str, tone: str = "") -> None:
        """One line about its state; `tone` is "", bad or good. A dialog that was left meanwhile says it in a toast:
        the work is done, and its outcome matters."""
        if not self.is_open:
            severity: Literal["error", "information"] = "error" if tone == "bad" else "information"
            self.app.notify(printable(words), title=self.title_text, severity=severity, markup=False, timeout=LONG)
            return
        line = self.query_one("#said", Static)
        line.set_classes(tone)
        line.update(printable(words))

    @property
    def is_open(self) -> bool:
        """Whether there is still anything to say it on."""
        return self.is_attached and bool(self.query("#said"))

    def recommand(self) -> None:
        """The command, as it is now."""
        line = self.session.aimed(self.command)
        self.query_one("#command", Static).update(f"$ {line}" if line else "")

    def action_scroll_plan(self, by: int) -> None:
        """The plan is scrolled from the field that has the keys."""
        for rows in self.query("#plan").results(Rows):
            rows.action_page(by)

    def action_copy(self) -> None:
        command = self.session.aimed(self.command)
        self.app.copy_to_clipboard(command)
        self.notify(command, title="Copied", markup=False)
