"""`r` on a group, or on those that are marked: the target of the offsets, the plan row by row, a name typed, and the
outcome. With live members the reset waits until they have left."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Select, Static

from kcli.admin.groups.reset_plan import GroupLive
from kcli.errors import KcliError, UsageError
from kcli.text.numbers import DASH
from kcli.tui.actions.changes.several import title_of
from kcli.tui.actions.resetting import FORMS, Resetting, now_ms, wish
from kcli.tui.beat.leaving import CHANGES
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

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

AGAIN = 1.0  # seconds between two questions whether the members have left


class Reset(Dialog):
    """The dialog. The plan is made again when the form, the text or the scope changes; the shown plan is applied."""

    def __init__(self, session: Session, groups: Sequence[str], at: TopicPartition | None) -> None:
        super().__init__(session)
        self.resetting = Resetting(groups, at)
        self.title_text = title_of("Reset the offsets of", groups, "group")
        self._wish: Wish | None = None
        self._changes: list[Change] = []
        self._live: list[GroupLive] = []  # groups that have members
        self._done = False

    @property
    def _word(self) -> str:
        """What has to be typed: the group's name, of several how many, and on a protected profile its name."""
        return self.session.name if self.session.guard == "protected" else self.resetting.word

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
            yield Static("of", id="of", markup=False)
            yield Select(self._scopes(), allow_blank=False, id="scope", compact=True)
        columns = _columns(several=len(self.resetting.groups) > 1)
        yield Rows(columns, key=lambda row: (row.group, row.at), order=_changed_first, id="plan", empty="No plan yet.")
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
        field.placeholder, field.disabled, field.visible = asks, not asks, bool(asks)
        self._aim()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "amount":
            self._aim()

    def _aim(self, before: str = "") -> None:
        """Understand what is wanted, and have the plan made; `before` is what went wrong, and stays to be read."""
        if self._done:
            return
        self._changes = []
        try:
            form = str(self.query_one("#form", Select).value)
            self._wish = wish(form, self.query_one("#amount", Input).value, now_ms())
        except UsageError as problem:
            self._wish = None
            self.workers.cancel_group(self, "plan")
            self.put([])
            self.say(str(problem))
        else:
            self.say(before or "planning …", "bad" if before else "")
            self._plan(self._wish, self._scope, before)
        self.recommand()

    @work(exclusive=True, group="plan")
    async def _plan(self, wanted: Wish, scope: str, before: str) -> None:
        try:
            targets = await self._planned(wanted, scope)
        except KcliError as problem:
            self.put([])
            self.say(before or str(problem), "bad")
            return
        when = " once Empty" if self._live else ""
        self.query_one("#ask", Static).update(f"Type {printable(self._word)} to do it{when}:")
        if before:
            return
        refusal = next((target.refusal for target in targets if target.refusal is not None), None)
        without = len(targets) - len({change.group for change in self._changes})
        told = [f"{self._open} of {len(self._changes)} would change" if self._open else "nothing to change"]
        told += [f"{without} without committed offsets"] if without else []
        if refusal is not None:
            told = [*(told if self._open else []), str(refusal)]
        self.say("; ".join(told), "" if refusal is None else "bad")

    async def _planned(self, wanted: Wish, scope: str) -> list[Target]:
        """Make the plan and show it; the groups as they are now. Raises KcliError."""

        async def planned(client: Client) -> tuple[list[Target], list[Change]]:
            return await self.resetting.plan(client, wanted.prepare, scope)

        targets, self._changes = await self.session.ask(planned)
        self._live = [target.refusal for target in targets if isinstance(target.refusal, GroupLive)]
        self.put(self._changes)
        return targets

    @property
    def _open(self) -> int:
        """How many rows would change."""
        return sum(change.open for change in self._changes)

    # -- the change ---

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "amount":
            self.query_one("#confirm", Input).focus()
            return
        if self._done:
            self.dismiss()
        elif not self._open and not self._live:
            self.say("nothing to change" if self._changes else "there is no plan yet", "bad")
        elif event.value != self._word:
            self.say(f"nothing was changed: {event.value!r} is not {self._word}", "bad")
        else:
            self._done = True
            self._lock(True)
            if self._live and self._wish is not None:
                self._wait(self._wish, self._scope, event.value)
            else:
                self._begin(event.value)

    def _lock(self, locked: bool) -> None:
        """Nothing can be typed or chosen while it is done."""
        form = str(self.query_one("#form", Select).value)
        for field in self.query("#form, #scope, #confirm"):
            field.disabled = locked
        self.query_one("#amount", Input).disabled = locked or not next(asks for name, _, asks in FORMS if name == form)

    def _wait(self, wanted: Wish, scope: str, typed: str, problem: KcliError | None = None) -> None:
        """Until no group has members. To close the dialog ends this."""
        self.say(f"waiting; escape: no reset. {problem or self._live[0]}", "bad" if problem is not None else "")
        self.set_timer(AGAIN, partial(self._again, wanted, scope, typed))

    @work(exclusive=True, group="wait")
    async def _again(self, wanted: Wish, scope: str, typed: str) -> None:
        """Plan again, and do it, or wait on."""
        try:
            await self._planned(wanted, scope)
        except KcliError as problem:
            self._wait(wanted, scope, typed, problem)
            return
        if self._live:
            self._wait(wanted, scope, typed)
        else:
            self._begin(typed)

    def _begin(self, typed: str) -> None:
        """Do it, to the end, also when the dialog is closed meanwhile."""
        self.say("changing …")
        self.app.run_worker(self._execute(typed), group=CHANGES)

    async def _execute(self, typed: str) -> None:
        async def executed(client: Client) -> str:
            return await self.resetting.execute(client, self._changes, self.command)

        try:
            back = await self.session.change(executed, confirmed=typed)
        except KcliError as problem:
            self.say(str(problem), "bad")
            if self.is_open:
                self._done = False
                self._lock(False)
                self._aim(str(problem))
            return
        if self.is_open:
            self.put(self._changes)
        counts: dict[str, int] = {}
        for change in self._changes:
            counts[change.result] = counts.get(change.result, 0) + 1
        bad = next((change.error for change in self._changes if change.error is not None), None)
        told = ", ".join(f"{count} {result}" for result, count in counts.items())
        why = "" if bad is None else f" {bad}"
        undo = f" To undo this: {self.session.aimed(back)}" if back else ""
        self.say(f"{told}.{why}{undo}", "bad" if bad is not None else "good")
        self.session.look_now()


def _columns(*, several: bool) -> list[Column]:
    """`several` groups have a column of their names."""
    group = Column("group", "GROUP", lambda c: c.group, printable, letter="G", rank=0, name=True)
    return [
        *([group] if several else []),
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


def _changed_first(change: Change) -> tuple[bool, str, TopicPartition]:
    """What the reset changes, or fails to, comes before what stays."""
    return change.result in ("unchanged", "skipped"), change.group, change.at


def _lag(change: Change) -> Cell:
    return Cell(DASH if change.new is None or change.end is None else f"{max(change.end - change.new.offset, 0):,}")


def _note(change: Change) -> str:
    return str(change.error) if change.error is not None else "; ".join(change.notes)
