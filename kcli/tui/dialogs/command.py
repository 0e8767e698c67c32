"""`:`: go anywhere, do anything by name; what fits the typed text is listed, with its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from kcli.text.suggest import did_you_mean
from kcli.tui.actions.palette import Choice
from kcli.tui.routes import NAMES, Route, find, missing, offered
from kcli.tui.text.printable import fitted, printable
from kcli.tui.widgets.footer import Footer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST, MOST = 6, 24
"""Lines that are listed, on a small screen and on a large one."""
AROUND = 13
"""Lines of the screen that the list leaves free."""
FRAME = 9
"""Lines of the dialog beside its list."""
HINT = 44
"""Cells of a name, before its key."""


class Command(ModalScreen[Route | Choice | None]):
    """One line, and the places and choices that fit it; the answer is the route to go, what was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="command.close"),
        Binding("down", "move(1)", "Next", show=False, id="command.next"),
        Binding("up", "move(-1)", "Previous", show=False, id="command.previous"),
        Binding("tab", "complete", "Complete", id="command.complete"),
    ]

    def __init__(
        self, known: Sequence[str], choices: Sequence[Choice] = (), keys: Mapping[str, str] | None = None
    ) -> None:
        """`known` are the places, `keys` those of places that have one."""
        super().__init__()
        self._known = known
        self._choices = {printable(choice.text): choice for choice in reversed(choices)}
        self._keys = keys or {}
        self._whole = False  # until every topic that there is now is known
        self._listed: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Go to a page, or do something", classes="title", markup=False)
            with Horizontal(classes="line"):
                yield Static(":", classes="sign", markup=False)
                yield Input(placeholder="a part of a name: page, topic, group, action, profile", compact=True)
            listed = OptionList(id="places", markup=False)
            listed.can_focus = False
            yield listed
            yield Static("", id="wrong", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self._list("")

    def on_resize(self) -> None:
        """The line stays where it is, however many are listed below it."""
        self.query_one(OptionList).styles.max_height = self._most
        self.query_one(".dialog").styles.margin = (max((self.size.height - self._most - FRAME) // 2, 0), 0, 0, 0)
        self._list(self.query_one(Input).value)

    @property
    def _most(self) -> int:
        """How many lines are listed."""
        return min(max(self.size.height - AROUND, LEAST), MOST)

    def on_key(self, event: Key) -> None:
        """What is typed before the line has the focus belongs to it."""
        line = self.query_one(Input)
        if event.key == "enter":
            event.stop()
            line.post_message(Input.Submitted(line, line.value))
        elif event.is_printable and event.character is not None:
            event.stop()
            line.insert_text_at_cursor(event.character)

    def offer(self, known: Sequence[str]) -> None:
        """Every place is known now."""
        self._known, self._whole = known, True
        if self.is_mounted and self.is_attached:
            self._list(self.query_one(Input).value)

    def _list(self, typed: str) -> None:
        names = [*self._known, *reversed(self._choices)]
        self._listed = offered(typed, names, self._most)
        places = self.query_one(OptionList)
        places.clear_options()
        places.add_options([self._line(name) for name in self._listed])
        self._say("more: type a part of a name" if self._most <= len(self._listed) < len(names) else "", "hint")

    def _say(self, words: str, tone: str) -> None:
        """The line below the list."""
        line = self.query_one("#wrong", Static)
        line.set_classes(tone)
        line.update(words)

    def _line(self, name: str) -> Text:
        """A name, and the key that does the same."""
        key = self._choices[name].hint if name in self._choices else self._keys.get(name, "")
        return (
            Text.assemble(fitted(printable(name), HINT, middle=True), (f"  {key}", "dim"))
            if key
            else Text(printable(name))
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def action_move(self, by: int) -> None:
        """To the next place of the list, from the line into it."""
        places = self.query_one(OptionList)
        if self._listed:
            at = places.highlighted
            if at is None:
                at = -1 if by > 0 else 0
            places.highlighted = (at + by) % len(self._listed)

    def action_complete(self) -> None:
        """The place of the list, else the first, in the line."""
        if self._listed:
            line = self.query_one(Input)
            line.value = self._listed[self.query_one(OptionList).highlighted or 0]
            line.cursor_position = len(line.value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._go(self._listed[event.option_index])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        at = self.query_one(OptionList).highlighted
        self._go(event.value if at is None else self._listed[at])

    def _go(self, typed: str) -> None:
        """To a place of that name, else what has that name, else the first that is listed."""
        if typed in self._choices:
            self.dismiss(self._choices[typed])
            return
        if typed.strip() in ("q", "quit"):
            self.app.exit(0)
            return
        if not typed.strip():
            self._say(f"Type a part of a name, or choose with the arrows. Pages: {NAMES}.", "hint")
            return
        where = find(typed)
        if where is None and self._listed:
            if self._listed[0] in self._choices:
                self.dismiss(self._choices[self._listed[0]])
                return
            where = find(self._listed[0])  # part of a name: the closest place
        lacking = missing(where, self._known) if where is not None and self._whole else ""
        if where is None or lacking:
            kind, _, name = lacking.partition(" ") if lacking else ("place", "", typed.strip())
            places = [*self._known, *self._choices]
            if lacking:
                places = [place.removeprefix(f"{kind} ") for place in places if place.startswith(f"{kind} ")]
            near = did_you_mean(name, places) or "."
            pages = "" if lacking else f" Pages: {NAMES}."
            self._say(f"There is no {kind} called {printable(name)}{printable(near)}{pages}", "bad")
        else:
            self.dismiss(where)
