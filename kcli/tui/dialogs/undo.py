"""`z`: undo a change of this cluster, from the journal that `kcli undo` reads. The newest comes first; the arrows go to
older ones."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static

from kcli.changes import undo
from kcli.tui.actions.changes.change import Change, word_of
from kcli.tui.dialogs.change import Changing
from kcli.tui.text.formatting import elapsed
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from kcli.changes.change import Plan, Row
    from kcli.changes.journal import Entry
    from kcli.tui.actions.changes.change import Given
    from kcli.tui.session import Session


class Undoing(Change):
    """The undo of a change. What was replaced comes back by enter alone, as this can be undone, too; where something is
    deleted for good, such as a topic that was created, its name is typed."""

    def __init__(self, entry: Entry, *, registry: bool, option: str) -> None:
        self.entry, self.of_registry, self.option = entry, registry, option if registry else ""
        self.title = f"Undo change {entry.number}"

    def command(self, given: Given) -> str:
        return f"kcli undo {self.entry.number} --execute{self.option}"

    async def plan(self, client: Any, given: Given) -> Plan:
        target = client if self.of_registry else client.cluster
        made = await undo.plan(self.entry, target, registry=self.of_registry)
        names = list(dict.fromkeys(row.name for row in made.rows if row.is_open))
        self.word = word_of(names, "resource") if made.final else ""
        return made

    def label(self, row: Row) -> str:
        return undo.item_of(row.as_json())


class Undo(Changing):
    """The dialog: the change, and the plan that undoes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older(1)", "Older change", id="undo.older", priority=True),
        Binding("down", "older(-1)", "Newer change", id="undo.newer", priority=True),
    ]
    change: Undoing

    def __init__(self, session: Session, entries: Sequence[Entry]) -> None:
        """`entries` are the changes that can be undone, the newest first."""
        self._entries, self._at = entries, 0
        super().__init__(session, self._undoing(session))

    def _undoing(self, session: Session) -> Undoing:
        entry = self._entries[self._at]
        of_registry = bool(session.registry_name) and entry.cluster == session.registry_name
        return Undoing(entry, registry=of_registry, option=session.registry_option)

    def fields(self) -> ComposeResult:
        yield Static(self._about, id="about-change", markup=False)
        yield from super().fields()

    @property
    def _about(self) -> str:
        entry = self.change.entry
        ago = elapsed(max(self.session.clock() - entry.time / 1000, 0))
        when = f"{datetime.fromtimestamp(entry.time / 1000):%H:%M:%S}, {ago} ago, by {entry.user or 'unknown'}"
        where = f"{self._at + 1} of {len(self._entries)} that can be undone"
        return (
            printable(f"{when}: {entry.result}, {entry.changed} changed ({where})") + f"\n$ {printable(entry.command)}"
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "older":
            return super().check_action(action, parameters)
        return not self._done and 0 <= self._at + int(str(parameters[0])) < len(self._entries)

    def action_older(self, by: int) -> None:
        """Choose the next older change, or a newer one."""
        self._at += by
        self.change = self._undoing(self.session)
        self.query_one(".title", Static).update(self.change.title)
        self.query_one("#about-change", Static).update(self._about)
        self.put([])
        self._aim()
        self.refresh_bindings()
