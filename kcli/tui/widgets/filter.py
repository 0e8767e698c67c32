"""The line in which a table is filtered: hidden until it is asked for."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Input

from kcli.tui.widgets.rows import Rows


class Filter(Input):
    """Posts `Filter.Wanted` at each letter; it stays while it has words."""

    class Wanted(Message):
        """Show only rows that match these words."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    def __init__(self) -> None:
        super().__init__(placeholder="words that must be there, !words that must not", id="filter")
        self.display = False

    def open(self) -> None:
        """Show it, for words to be typed."""
        self.display = True
        self.focus()

    def leave(self) -> None:
        """Give the keys back to the table."""
        self.display = bool(self.value)
        for rows in self.screen.query(Rows):
            if rows.is_on_screen:
                rows.focus()
                break

    def clear_words(self) -> None:
        """Show everything again, and leave."""
        self.value = ""
        self.leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.leave()
