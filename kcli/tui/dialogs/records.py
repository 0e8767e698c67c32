"""Dialogs over records: `@` and `#` go somewhere, `c` makes a field a column, `d` shows the difference of two, `w`
writes records to a file."""

from __future__ import annotations

import os
import time
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.offsets import one_place
from kcli.tui.text.formatting import dated, moment
from kcli.tui.text.printable import printable, suggestible
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.pager import Pager

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.tui.tail import Counts, Seen

FORMS = """
@-1h               an hour ago
@2026-11-22T07:00  the first records of that time
#12345             that offset
#-100              100 records before the end
start, end         the ends of the log"""


LISTED = 30
"""Fields that are named below the line."""


MOST = 2000
"""Lines of a value that are compared: 0.2 s where all of them are the same line."""


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


class Export(ModalScreen[str | None]):
    """One line; the answer is the path of the file, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="export.close")]

    def __init__(self, path: str, about: str) -> None:
        super().__init__()
        self._path = path
        self._about = about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Write records to a file", classes="title", markup=False)
            yield Input(self._path, select_on_focus=False, compact=True)
            yield Static(self._about, classes="hint", markup=False)
            yield Static("", id="wrong", classes="bad", markup=False)
        yield Footer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        path = os.path.expanduser(event.value.strip())
        folder = os.path.dirname(path)
        if os.path.lexists(path):
            wrong = f"{path} exists; choose another name"
        elif not path or (folder not in ("", os.path.dirname(self._path)) and not os.path.isdir(folder)):
            wrong = f"there is no folder {folder}" if path else "type the name of a file"
        else:
            self.dismiss(path)
            return
        self.query_one("#wrong", Static).update(wrong)


class Progress(ModalScreen[None]):
    """How far an export is, until `end`; escape leaves it before that."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel", id="progress.cancel")]

    def __init__(self, path: str, counts: Counts) -> None:
        super().__init__()
        self._path = path
        self._counts = counts

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(f"Writing {self._path}", classes="title", markup=False)
            yield Static("", id="far", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self._beat()
        self.set_interval(0.1, self._beat)

    def _beat(self) -> None:
        counts = self._counts
        words = f"searched {counts.searched:,} of {counts.total:,}, found {counts.wanted:,}"
        self.query_one("#far", Static).update(words if counts.total else "asking where the log ends …")

    def end(self) -> None:
        """Close it, if it is still there."""
        if self.is_current:
            self.dismiss()


class FieldLine(ModalScreen[str | None]):
    """One line; the answer is the path of a field, or None. `→` completes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", id="column.close")]

    def __init__(self, known: Sequence[str], shown: Sequence[str]) -> None:
        super().__init__()
        self._known = list(known)
        self._shown = list(shown)

    def compose(self) -> ComposeResult:
        listed = "  ".join(map(printable, self._known[:LISTED])) or "The last records have no fields."
        now = f"columns now: {', '.join(map(printable, self._shown))} (again: no longer)" if self._shown else ""
        with Vertical(classes="dialog"):
            yield Static("A field as a column", classes="title", markup=False)
            yield Input(
                placeholder="such as customer.country",
                suggester=SuggestFromList(suggestible(self._known)),
                id="field",
                compact=True,
            )
            yield Static(listed, classes="hint", markup=False)
            yield Static(now, classes="hint", markup=False)
        yield Footer()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)


class Difference(ModalScreen[None]):
    """The lines of both, those of one alone with a sign and a colour."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,d,q", "dismiss", "Close", id="difference.close")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = f"{title}: {count(lines)} lines differ"
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall"):
            yield Static(self._title, classes="title", markup=False)
            yield Pager(lambda: self._lines, signs=True, id="difference")
        yield Footer()


def difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """All lines: `- ` only in the first text, `+ ` only in the second, two blanks in both."""
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [f"  {line}" for line in old[a:b]]
        else:
            lines += [f"- {line}" for line in old[a:b]] + [f"+ {line}" for line in new[c:d]]
    return lines


def of_records(old: Seen, new: Seen, written: Callable[[bytes | None], str]) -> list[str]:
    """Of two records: where they are, time, key, headers, value; `written` makes text of a value."""
    first, second = _facts(old), _facts(new)
    values = [written(one.value).split("\n") for one in (old, new)]
    lines = [*difference(first, second), "", *difference(*(value[:MOST] for value in values))]
    if max(map(len, values)) > MOST:
        lines.append(f"  … only the first {MOST:,} lines of each value are compared")
    return lines


def count(lines: Sequence[str]) -> int:
    """How many lines of the longer side differ."""
    return max(sum(line.startswith(sign) for line in lines) for sign in ("- ", "+ "))


def _facts(record: Seen) -> list[str]:
    then = moment(record.timestamp)
    when = str(record.timestamp) if then is None else dated(then, "milliseconds")
    key = "null" if record.key is None else printable(record.key.decode("utf-8", "backslashreplace"))
    rows = [("at", f"{record.topic}[{record.partition}] {record.offset}"), ("time", when), ("key", key)]
    for name, value in record.headers:
        rows.append((f"header {name}", "null" if value is None else value.decode("utf-8", "backslashreplace")))
    return [printable(f"{name:<6} {text}") for name, text in rows]
