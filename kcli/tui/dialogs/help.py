"""`?`: what the keys do, written from the bindings in force, so it cannot be wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from kcli.tui.text.printable import fitted
from kcli.tui.widgets.footer import Footer
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App

GAP = 4
FRAME = 7  # cells of the dialog's frame, padding and scrollbar
TITLES: dict[str, tuple[str, ...]] = {
    "This page": (),
    "Everywhere": ("Dashboard",),
    "Every page": ("Page",),
    "The table": ("Rows",),
}
"""The blocks, with the kinds of things whose keys are in each; the page's own are those of no other."""
NAMED = frozenset(kind for kinds in TITLES.values() for kind in kinds)


class Key(NamedTuple):
    """What some keys do; `of` is the kind of thing that they belong to."""

    of: str
    keys: str
    what: str


class Help(ModalScreen[None]):
    """The keys of the screen it was opened on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "Close", id="help.close"),
        Binding("j", "scroll_by(1)", "Scroll", key_display="↑↓", id="help.down"),
        Binding("k", "scroll_by(-1)", "Scroll up", show=False, id="help.up"),
    ]

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        lines = self.text(self.app.size.width).split("\n")
        with VerticalScroll(classes="dialog") as dialog:
            yield Static("Keys", classes="title", markup=False)
            yield Static(self._toned(lines), id="keys", markup=False)
        dialog.styles.width = max(map(cell_len, lines)) + FRAME
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Help that fits is not scrolled."""
        return action != "scroll_by" or any(box.max_scroll_y > 0 for box in self.query(".dialog"))

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_bindings)

    def action_scroll_by(self, lines: int) -> None:
        self.query_one(".dialog").scroll_relative(y=lines, animate=False)

    def text(self, width: int) -> str:
        """The keys by what they are of, in as many columns as there is room for; below what sorts."""
        keys, sorts, room = keys_of(self.app, self._about), sorting(self._about), width * 96 // 100 - FRAME
        self._keys = sorted({key.keys for key in keys}, key=len, reverse=True)
        blocks = [
            [title, *_lines([key for key in keys if key.of in kinds or (not kinds and key.of not in NAMED)])]
            for title, kinds in TITLES.items()
        ]
        lines = side_by_side([block for block in blocks if len(block) > 1], room)
        sorts = [part for line in sorts for part in wrap(line, room, subsequent_indent="  ")]
        return "\n".join([*lines, "", *sorts] if sorts else lines).replace("\xa0", " ")

    def _toned(self, lines: list[str]) -> Text:
        """Titles and keys in colours: a key is what stands before two blanks, or after them before a word."""
        colors = self.app.theme_variables
        text = Text("\n".join(lines))
        titles = "|".join(TITLES)
        keys = "|".join(map(re.escape, self._keys))
        text.highlight_regex(rf"(?m)(?:^|(?<= {{{GAP}}}))(?:{titles})(?= |$)", f"bold {colors['secondary']}")
        text.highlight_regex(rf"(?m)(?:^|(?<= {{{GAP}}}))(?:{keys})(?=  )", colors["accent"])
        return text


def side_by_side(blocks: list[list[str]], width: int) -> list[str]:
    """Blocks of lines in columns: as many as fit in the width, of much the same height; a block stays whole."""
    for many in range(len(blocks), 0, -1):
        columns = _stacked(blocks, many)
        sizes = [max(map(cell_len, column)) for column in columns]
        if many == 1 or sum(sizes) + GAP * (len(sizes) - 1) <= width:
            break
    lines = []
    for n in range(max(map(len, columns))):
        cells = [column[n] if n < len(column) else "" for column in columns]
        lines.append((" " * GAP).join(fitted(cell, size) for cell, size in zip(cells, sizes, strict=True)).rstrip())
    return lines


def _stacked(blocks: list[list[str]], many: int) -> list[list[str]]:
    """Blocks over one another, with a blank line between, each in the column that is the shortest then."""
    columns: list[list[str]] = [[] for _ in range(many)]
    for block in blocks:
        shortest = min(columns, key=len)
        shortest += ["", *block] if shortest else block
    return columns


def keys_of(app: App[Any], screen: Screen[Any]) -> list[Key]:
    """The bindings in force that are kcli's (they have ids), aliases on one line, those of the footer first."""
    rows: dict[tuple[str, str], list[str]] = {}
    for node, binding, _, _ in sorted(screen.active_bindings.values(), key=lambda one: not one.binding.show):
        if binding.id is not None and binding.description:
            of = "Page" if binding.id.startswith("page.") else type(node).__name__
            keys = rows.setdefault((of, binding.description), [])
            shown = app.get_key_display(replace(binding, key_display=None) if keys else binding)
            if shown not in keys:
                keys.append(shown)
    return [Key(of, " ".join(keys), what) for (of, what), keys in rows.items()]


def sorting(screen: Screen[Any]) -> list[str]:
    """What the capital letters sort by, of the table that is seen; no line is broken after a letter."""
    for rows in screen.query(Rows):
        letters = [
            f"{column.letter}\xa0{(column.label or column.id).lower()}" for column in rows.columns if column.letter
        ]
        if rows.is_on_screen and letters:
            return ["Sort by (again: the other way, a third time: the usual order):", "  " + "  ".join(letters)]
    return []


def _lines(keys: list[Key]) -> list[str]:
    room = max((cell_len(key.keys) for key in keys), default=0)
    return [f"{key.keys}{' ' * (room - cell_len(key.keys) + 2)}{key.what}" for key in keys]
