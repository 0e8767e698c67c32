"""A change of the cluster: its fields, the plan row by row, a word to type, the outcome, and how to take it back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from kcli.changes import journal
from kcli.errors import KcliError, UnknownOutcome, UsageError
from kcli.tui.actions.changes.change import carry_out
from kcli.tui.beat.leaving import CHANGES
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import Drawn, printable, quoted, with_each
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from textual.widget import Widget

    from kcli.changes.change import Plan, Row
    from kcli.tui.actions.changes.change import Change
    from kcli.tui.session import Session

TONES = {
    "failed": "bad", "refused": "bad", "unknown": "warn", "unchanged": "dim", "not needed": "dim", "skipped": "dim",
}  # fmt: skip
EMPTY = "No plan yet."


class Changing(Dialog):
    """The dialog of a change. The plan is made again when a field changes; the shown plan is carried out."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("z", "undo", "Undo", id="change.undo")]

    shows_refused = False
    """Whether a plan of which nothing can be done is shown, rather than its error alone."""

    def __init__(self, session: Session, change: Change) -> None:
        super().__init__(session)
        self.change = change
        self.title_text = change.title
        self._plan: Plan | None = None
        self._done = False
        self._undo = ""  # the command that undoes what was done

    @property
    def _word(self) -> str:
        """What has to be typed: the name of the thing, and on a protected profile the profile's."""
        return self.session.name if self.session.guard == "protected" else self.change.word

    @property
    def _given(self) -> dict[str, str]:
        given = {ask.name: ask.value for ask in self.change.asks}
        return given | {name: self.query_one(f"#f-{name}", Input).value for name in given if self.query(f"#f-{name}")}

    @property
    def command(self) -> str:
        if self._undo:
            return self._undo
        line = self.change.command(self._given)
        guarded = bool(line) and self.session.guard == "protected"
        return with_each(line, f"--confirm {quoted(self._word)}") if guarded else line

    def fields(self) -> ComposeResult:
        yield from self.ask_fields()
        yield from self.plan_fields(
            Rows(_columns(self.change), key=self.change.label, id="plan", opens=False, empty=EMPTY)
        )

    def ask_fields(self) -> ComposeResult:
        """The fields of the form, their labels as wide as the longest."""
        room = max((len(ask.label) for ask in self.change.asks), default=0) + 2
        for ask in self.change.asks:
            with Horizontal(classes="line"):
                label = Static(ask.label, classes="label", markup=False)
                label.styles.width = room
                yield label
                yield Input(ask.value, placeholder=ask.hint, highlighter=Drawn(), id=f"f-{ask.name}", compact=True)

    def plan_fields(self, rows: Rows) -> ComposeResult:
        """The rows of the plan, and the line in which its word is typed."""
        rows.can_focus = False  # tab leads from field to field; pageup and pagedown scroll it
        yield rows
        with Horizontal(classes="line"):
            yield Static("", id="ask", markup=False)
            yield Input(id="confirm", compact=True)

    def first_field(self) -> Widget:
        return self.query(Input).first()

    def on_mount(self) -> None:
        self._aim()

    # -- the plan ---

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id != "confirm":
            self._aim()

    def _aim(self, before: str = "") -> None:
        """Have the plan made; `before` is what went wrong, and stays to be read."""
        if not self._done:
            self._plan = None
            self.say(before or "planning …", "bad" if before else "")
            self._make_plan(self._given, before)
        self.recommand()

    @work(exclusive=True, group="plan")
    async def _make_plan(self, given: dict[str, str], before: str) -> None:
        try:
            plan = await self.planned(given)
        except KcliError as problem:
            self.put([])
            if not before:
                self.say(str(problem), "" if isinstance(problem, UsageError) else "bad")
            return
        how = f"Type {printable(self._word)} to do it" if self._word else "enter does it"
        self.query_one("#ask", Static).update(f"{how}{self.when}:")
        if not before:
            self.say(*self.summary(plan))

    async def planned(self, given: dict[str, str]) -> Plan:
        """Make the plan and show its rows. Raises KcliError, also for a plan of which nothing can be done."""

        async def made(client: Any) -> Plan:
            return await self.change.plan(client, given)

        plan = await (self.session.ask_registry if self.change.of_registry else self.session.ask)(made)
        errors = [*plan.failed.values(), *(row.error for row in plan.rows if row.error is not None)]
        if errors and plan.apply is None and not self.shows_refused:
            raise errors[0]
        self._plan = plan
        self.put(plan.rows)
        return plan

    @property
    def when(self) -> str:
        """What the plan waits for once its word is typed."""
        return ""

    def summary(self, plan: Plan) -> tuple[str, str]:
        """A sentence about the plan, and its tone."""
        if plan.apply is None:
            return "nothing to change", "bad" if any(map(_is_bad, plan.rows)) else ""
        many = sum(row.is_open for row in plan.rows)
        return "; ".join([f"{many:,} of {len(plan.rows):,} would change", *plan.warnings]), ""

    # -- the change ---

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id != "confirm":
            self.query_one("#confirm", Input).focus()
        elif self._done:
            self.dismiss()
        elif self._plan is None or (self._plan.apply is None and not self.when):
            self.say("there is no plan yet" if self._plan is None else "nothing to change", "bad")
        elif event.value != self._word:
            refusal = f"{event.value!r} is not {self._word}" if self._word else "nothing is typed here, enter does it"
            self.say(f"nothing was changed: {refusal}", "bad")
        else:
            self._done = True
            self.freeze(True)
            self.begin(self._plan, event.value)

    def freeze(self, frozen: bool) -> None:
        """Nothing can be typed or chosen while it is done."""
        for field in self.query("Input, Select"):
            field.disabled = frozen

    def begin(self, plan: Plan, typed: str) -> None:
        """Make the change, to the end, also when the dialog is closed meanwhile."""
        self.say("changing …")
        self.app.run_worker(self._carry_out(plan, typed), group=CHANGES)

    async def _carry_out(self, plan: Plan, typed: str) -> None:
        said: list[str] = []

        def undoes(number: int) -> None:
            self._undo = f"kcli undo {number} --execute{self.change.option}"
            said.append(f"To undo this: z, or {self.session.aimed(self._undo)}")

        async def applied(target: Any) -> None:
            await carry_out(plan, target, self.change.command(self._given) or "kcli", said.append, undoes)

        try:
            change = self.session.change_registry if self.change.of_registry else self.session.change
            await change(applied, confirmed=typed)
        except KcliError as problem:
            if not isinstance(problem, UnknownOutcome):
                self.begin_again(problem)
                return
            for row in plan.rows:
                if row.is_open:
                    row.settle(problem)
        if self.is_open:
            self.put(plan.rows)
            self.recommand()
            self.refresh_bindings()
        bad = next((note_of(row) for row in plan.rows if _is_bad(row)), "")
        self.say(" ".join(filter(None, (f"{_counted(plan.rows)}.", bad, *said))), "bad" if bad else "good")
        self.session.refresh_now()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """`z` undoes what was done here."""
        return bool(self._undo) if action == "undo" else super().check_action(action, parameters)

    def action_undo(self) -> None:
        self.dismiss()
        self.app.call_later(self.app.run_action, "app.undo")

    def begin_again(self, problem: KcliError | str = "") -> None:
        """Nothing was changed: once more, with a plan of what is there by now."""
        if not self.is_open:
            self.say(str(problem), "bad")
            return
        self._done = False
        self.freeze(False)
        self._aim(str(problem))


def _is_bad(row: Row) -> bool:
    return row.result in journal.BAD


def note_of(row: Row) -> str:
    """Why a row is as it is."""
    return row.note or "" if row.error is None else str(row.error)


def _counted(rows: list[Row]) -> str:
    """`3 trimmed, 1 unchanged`."""
    counts = Counter(row.result for row in rows)
    return ", ".join(f"{many} {result}" for result, many in counts.items())


def _columns(change: Change) -> list[Column]:
    return [
        Column("what", "WHAT", change.label, printable, letter="N", rank=0, wide=True),
        Column("old", "NOW", lambda row: _value(row, "old"), printable, letter="O", rank=0),
        Column("new", "THEN", lambda row: _value(row, "new"), printable, letter="W", rank=0),
        Column("result", "RESULT", lambda row: row.result, draw=result_cell, letter="R", rank=0),
        Column("note", "NOTE", note_of, printable, wide=True, rank=2, most=200),
    ]


def _value(row: Row, name: str) -> str:
    """The value before or after a change; of rows that keep it elsewhere, such as commits, as JSON has it."""
    value = getattr(row, name)
    value = row.as_json().get(name) if value is None else value
    return exact(value) if isinstance(value, int) else "" if value is None else str(value)


def result_cell(row: Row) -> Cell:
    return Cell(row.result, TONES.get(row.result, "accent" if row.is_open else "good"))
