"""`r` on a group: the target of its offsets, the plan row by row, the group's name typed, and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Select, Static

from kcli.errors import KcliError, UsageError
from kcli.text.numbers import DASH
from kcli.tui.actions.resetting import FORMS, Resetting, now_ms, wish
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.groups.reset import Change
    from kcli.admin.groups.reset_plan import Target
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.tui.actions.resetting import Wish
    from kcli.tui.session import Session

TONES = {
    "reset": "good",
    "deleted": "good",
    "refused": "bad",
    "failed": "bad",
    "unknown": "warn",
    "would reset": "accent",
}


class Reset(Dialog):
    """The dialog. The plan is made again when the form, the text or the scope changes; the shown plan is applied."""

    def __init__(self, session: Session, group: str, at: TopicPartition | None) -> None:
        super().__init__(session)
        self.resetting = Resetting(group, at)
        self.title_text = f"Reset the offsets of group {printable(group)}"
        self._wish: Wish | None = None
        self._changes: list[Change] = []
        self._done = False

    @property
    def _word(self) -> str:
        """What has to be typed: the group's name, and on a protected profile the profile's."""
        return self.session.name if self.session.guard == "protected" else self.resetting.group

    @property
    def command(self) -> str:
        words = self._wish.words if self._wish is not None else "--to …"
        confirm = f" --confirm {quoted(self._word)}" if self.session.guard == "protected" else ""
        return self.resetting.command(words, self._scope) + confirm

    @property
    def _scope(self) -> str:
        scopes = self.query("#scope")
        return str(scopes.first(Select).value) if scopes else "partition"

    def fields(self) -> ComposeResult:
        with Horizontal(classes="line"):
            forms = [(label, name) for name, label, _ in FORMS]
            yield Select(forms, value="earliest", allow_blank=False, id="form", compact=True)
            yield Input(id="amount", compact=True, disabled=True)
            yield Select(self._scopes(), allow_blank=False, id="scope", compact=True)
        yield Rows(_columns(), key=lambda change: change.at, order=_changed_first, id="plan", empty="No plan yet.")
        with Horizontal(classes="line"):
            yield Static(f"Type {printable(self._word)} to do it:", id="ask", markup=False)
            yield Input(id="confirm", compact=True)

    def _scopes(self) -> list[tuple[Content, str]]:
        at = self.resetting.at
        whole = (Content("all its topics"), "group")
        if at is None:
            return [whole]
        topic = printable(at.topic)
        return [(Content(f"{topic}[{at.partition}]"), "partition"), (Content(f"all of {topic}"), "topic"), whole]

    def first_field(self) -> Select[str]:
        return self.query_one("#form", Select)

    def on_mount(self) -> None:
        self._aim()

    # -- the plan ---

    def on_select_changed(self, event: Select.Changed) -> None:
        asks = next(asks for name, _, asks in FORMS if name == self.query_one("#form", Select).value)
        field = self.query_one("#amount", Input)
        field.placeholder, field.disabled = asks, not asks
        self._aim()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "amount":
            self._aim()

    def _aim(self) -> None:
        """Understand what is wanted, and have the plan made."""
        if self._done:
            return
        self._changes = []
        try:
            form = str(self.query_one("#form", Select).value)
            self._wish = wish(form, self.query_one("#amount", Input).value, now_ms())
        except UsageError as problem:
            self._wish = None
            self.workers.cancel_group(self, "plan")
            self.query_one("#plan", Rows).put([])
            self.say(str(problem))
        else:
            self.say("planning …")
            self._plan(self._wish, self._scope)
        self.recommand()

    @work(exclusive=True, group="plan")
    async def _plan(self, wanted: Wish, scope: str) -> None:
        async def planned(client: Client) -> tuple[Target, list[Change]]:
            return await self.resetting.plan(client, wanted.prepare, scope)

        try:
            target, changes = await self.session.ask(planned)
        except KcliError as problem:
            self.query_one("#plan", Rows).put([])
            self.say(str(problem), "bad")
            return
        self._changes = changes
        self.query_one("#plan", Rows).put(changes)
        if target.refusal is not None:
            self.say(str(target.refusal), "bad")
            return
        ready = sum(change.open for change in changes)
        self.say(f"{ready} of {len(changes)} would change" if ready else "nothing to change")

    # -- the change ---

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "amount":
            self.query_one("#confirm", Input).focus()
            return
        if self._done:
            self.dismiss()
        elif not any(change.open for change in self._changes):
            self.say("nothing to change" if self._changes else "there is no plan yet", "bad")
        elif event.value != self._word:
            self.say(f"nothing was changed: {event.value!r} is not {self._word}", "bad")
        else:
            self._done = True
            event.input.disabled = True
            self.say("changing …")
            self.app.run_worker(self._execute(event.value), group="execute")  # to the end, whoever leaves meanwhile

    async def _execute(self, typed: str) -> None:
        async def executed(client: Client) -> str:
            return await self.resetting.execute(client, self._changes)

        try:
            path = await self.session.change(executed, confirmed=typed)
        except KcliError as problem:
            if self.is_open:
                self._done = False
                self.query_one("#confirm", Input).disabled = False
            self.say(str(problem), "bad")
            return
        if self.is_open:
            self.query_one("#plan", Rows).put(self._changes)
        counts: dict[str, int] = {}
        for change in self._changes:
            counts[change.result] = counts.get(change.result, 0) + 1
        bad = next((change.error for change in self._changes if change.error is not None), None)
        told = ", ".join(f"{count} {result}" for result, count in counts.items())
        back = f"kcli groups reset --from-file {quoted(path)} --execute"
        self.say(f"{told}. {bad if bad is not None else ''} To undo this: {back}", "bad" if bad is not None else "good")
        self.session.look_now()


def _columns() -> list[Column]:
    return [
        Column("topic", "TOPIC", lambda c: c.at.topic, printable, letter="N", rank=0, name=True),
        Column("partition", "P", lambda c: c.at.partition, right=True, letter="P", rank=0),
        Column("old", "OLD", lambda c: c.old and c.old.offset, exact, right=True, letter="O", rank=0),
        Column("new", "NEW", lambda c: c.new and c.new.offset, exact, right=True, letter="W", rank=0),
        Column(
            "delta",
            "DELTA",
            lambda c: c.delta,
            draw=lambda c: Cell(DASH if c.delta is None else f"{c.delta:+,}"),
            right=True,
            letter="D",
            rank=2,
        ),
        Column("lag", "LAG THEN", lambda c: c.end, draw=_lag, right=True, letter="L", rank=0),
        Column(
            "result",
            "RESULT",
            lambda c: c.result,
            draw=lambda c: Cell(c.result, TONES.get(c.result, "dim")),
            letter="R",
            rank=0,
        ),
        Column("note", "NOTE", _note, draw=lambda c: Cell(printable(_note(c))), wide=True, rank=3, most=200),
    ]


def _changed_first(change: Change) -> tuple[bool, TopicPartition]:
    """What the reset changes, or fails to, comes before what stays."""
    return change.result in ("unchanged", "skipped"), change.at


def _lag(change: Change) -> Cell:
    return Cell(DASH if change.new is None or change.end is None else f"{max(change.end - change.new.offset, 0):,}")


def _note(change: Change) -> str:
    return str(change.error) if change.error is not None else "; ".join(change.notes)
