"""`?`: what the keys do, written from the bindings in force, so it cannot be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App

GAP = 3


class Key(NamedTuple):
    """What some keys do; `of` is the kind of thing that they belong to."""

    of: str
    keys: str
    what: str


class Help(ModalScreen[None]):
    """The keys of the screen it was opened on."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close", id="help.close")]

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            yield Static("Keys", classes="title", markup=False)
            yield Static(self.text(self.app.size.width), id="keys", markup=False)

    def text(self, width: int) -> str:
        """In two columns where there is room: the screen's and everywhere's, then the table's; below what sorts."""
        keys = keys_of(self.app, self._about)
        table = [key for key in keys if key.of == "Rows"]
        first, second = _lines([key for key in keys if key.of != "Rows"]), _lines(table)
        wide = max(map(cell_len, first), default=0)
        lines = []
        if wide + GAP + max(map(cell_len, second), default=0) > min(width * 8 // 10, 100) - 6:
            lines = [*first, "", *second]
        else:
            for n in range(max(len(first), len(second))):
                left = first[n] if n < len(first) else ""
                right = second[n] if n < len(second) else ""
                lines.append(f"{left}{' ' * (wide - cell_len(left) + GAP)}{right}".rstrip())
        sorts = sorting(self._about)
        return "\n".join([*lines, "", *sorts] if sorts else lines)


def keys_of(app: App[Any], screen: Screen[Any]) -> list[Key]:
    """The bindings in force that are kcli's (they have ids), aliases on one line, in the order they were declared."""
    rows: dict[tuple[str, str], list[str]] = {}
    for node, binding, _, _ in screen.active_bindings.values():
        if binding.id is not None and binding.description:
            keys = rows.setdefault((type(node).__name__, binding.description), [])
            shown = app.get_key_display(replace(binding, key_display=None) if keys else binding)
            if shown not in keys:
                keys.append(shown)
    return [Key(of, " ".join(keys), what) for (of, what), keys in rows.items()]


def sorting(screen: Screen[Any]) -> list[str]:
    """What the capital letters sort by, of the table that is seen."""
    for rows in screen.query(Rows):
        letters = [f"{column.letter} {(column.label or column.id).lower()}" for column in rows.columns if column.letter]
        if rows.is_on_screen and letters:
            return ["Sort by (again: the other way, a third time: the usual order):", "  " + "  ".join(letters)]
    return []


def _lines(keys: list[Key]) -> list[str]:
    room = max((cell_len(key.keys) for key in keys), default=0)
    return [f"{key.keys}{' ' * (room - cell_len(key.keys) + 2)}{key.what}" for key in keys]
