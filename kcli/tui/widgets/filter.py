"""The line in which a table is filtered: hidden until it is asked for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from kcli.tui.widgets.rows import Rows


class Filter(Input):
    """Posts `Filter.Wanted` at each letter; it stays while it has words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Keep the filter", id="filter.keep"),
        Binding("escape", "clear_words", "Show all", id="filter.clear"),
    ]

    class Wanted(Message):
        """Show only rows that match these words."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self) -> None:
        super().__init__(placeholder="words that must be there, !words that must not", id="filter")

    def open(self) -> None:
        """Show it, for words to be typed."""
        self.show(True)
        self.screen.set_focus(self)  # at once: the next letter may be here already

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """A slash is a letter here: the footer does not offer what it does elsewhere."""
        return key == "slash" or super().check_consume_key(key, character)

    async def action_clear_words(self) -> None:
        """Escape is the page's: it may have something else to take back first."""
        await self.screen.run_action("back")

    def show(self, shown: bool) -> None:
        """Show its line, or hide it."""
        self.display = shown
        if isinstance(self.parent, FilterLine):
            self.parent.display = shown

    def leave(self) -> None:
        """Give the keys back to the table."""
        self.show(bool(self.value))
        for rows in self.screen.query(Rows):
            if rows.is_on_screen:
                rows.focus()
                break

    def put(self, words: str) -> None:
        """Filter by these words, as if they were typed; the table keeps the keys."""
        self.value = words
        self.leave()

    def clear_words(self) -> None:
        """Show everything again, and leave."""
        self.put("")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave()


class FilterLine(Horizontal):
    """`/` and the words, and at the right how many rows fit them."""

    def compose(self) -> ComposeResult:
        yield Static("/", classes="slash", markup=False)
        yield Filter()
        yield Static("", id="fits", markup=False)

    def on_mount(self) -> None:
        self.query_one(Filter).show(False)
