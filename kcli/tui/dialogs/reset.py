"""`r` on a group, or on those that are marked: the target of the offsets, the plan row by row, a name typed, and the
outcome. With live members the reset waits until they have left."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Select, Static

from kcli.admin.groups.reset_plan import GroupLive, numbers_of
from kcli.asking.leaders import TopicMissing
from kcli.changes import offset_forms, offsets
from kcli.changes.offset_forms import Rewind, by_time, now_ms, ready
from kcli.changes.offsets import OffsetRow
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import duration
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, counted
from kcli.tui.actions.changes.change import Change, title_of, word_of
from kcli.tui.dialogs.change import EMPTY, Changing, note_of, result_cell
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kcli.changes.change import Plan
    from kcli.changes.offset_forms import Prepare
    from kcli.client import Client
    from kcli.model import Cluster
    from kcli.tui.actions.changes.change import Given
    from kcli.tui.session import Session

AGAIN = 1.0  # seconds between two questions whether the members have left


class Reset(Changing):
    """The dialog of a reset: what is chosen in it, the partitions row by row, and the waiting for members to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "form(-1)", "Form before", id="reset.before"),
        Binding("down", "form(1)", "Next form", id="reset.next"),
    ]
    change: Resetting
    shows_refused = True

    def __init__(self, session: Session, groups: Sequence[str], at: TopicPartition | str | None) -> None:
        super().__init__(session, Resetting(groups, at))

    @property
    def _given(self) -> dict[str, str]:
        if not self.query("#scope"):
            return {"form": "earliest", "amount": "", "scope": self._scopes()[0][1]}
        form, scope = (str(self.query_one(f"#{name}", Select).value) for name in ("form", "scope"))
        return {"form": form, "amount": self.query_one("#amount", Input).value, "scope": scope}

    def fields(self) -> ComposeResult:
        with Horizontal(classes="line"):
            forms = [(label, name) for name, label, _ in FORMS]
            yield Select(forms, value="earliest", allow_blank=False, id="form", compact=True)
            yield Input(id="amount", compact=True, disabled=True)
            yield Static("of", id="of", markup=False)
            yield Select(self._scopes(), allow_blank=False, id="scope", compact=True)
        columns = _columns(several=len(self.change.groups) > 1)
        rows = Rows(columns, key=lambda row: (row.name, row.at), order=_changed_first, id="plan", empty=EMPTY)
        yield from self.plan_fields(rows)

    def _scopes(self) -> list[tuple[Content, str]]:
        at, topic = self.change.at, printable(self.change.topic)
        partition = [(Content(f"{topic}[{at.partition}]"), "partition")] if at is not None else []
        whole_topic = [(Content(f"all partitions of {topic}"), "topic")] if topic else []
        return [*partition, *whole_topic, (Content("all its topics"), "group")]

    def first_field(self) -> Input:
        return self.query_one("#confirm", Input)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The arrows go through the forms from the fields that are typed into."""
        if action == "form":
            return isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def on_descendant_focus(self) -> None:
        self.refresh_bindings()

    def action_form(self, by: int) -> None:
        """The next of the forms, or the one before."""
        names = [name for name, _, _ in FORMS]
        field = self.query_one("#form", Select)
        field.value = names[(names.index(str(field.value)) + by) % len(names)]

    def on_select_changed(self, event: Select.Changed) -> None:
        """The keys go to the field that is asked for next."""
        self._offer_amount()
        if event.select.id == "form" and self.focused is not None:
            self.query_one("#amount" if self._asks else "#confirm", Input).focus()
        self._aim()

    @property
    def _asks(self) -> str:
        """What the form asks for; "" for nothing."""
        return next(asks for name, _, asks in FORMS if name == self._given["form"])

    def _offer_amount(self) -> None:
        """The field beside the form, where that asks for anything."""
        asks = self._asks
        field = self.query_one("#amount", Input)
        field.placeholder, field.disabled, field.visible = asks, not asks, bool(asks)

    def freeze(self, frozen: bool) -> None:
        super().freeze(frozen)
        if not frozen:
            self._offer_amount()

    # -- the plan ---

    @property
    def _live(self) -> list[GroupLive]:
        """The groups that have members."""
        rows = self._plan.rows if self._plan is not None else []
        return [row.error for row in rows if isinstance(row.error, GroupLive)]

    @property
    def when(self) -> str:
        return " once Empty" if self._live else ""

    def summary(self, plan: Plan) -> tuple[str, str]:
        refusal = next((note_of(row) for row in plan.rows if row.result == "refused"), None)
        without = len(self.change.groups) - len({row.name for row in plan.rows})
        told = [super().summary(plan)[0]] if plan.apply is not None or refusal is None else []
        told += [f"{without} without committed offsets"] if without else []
        skipped = sum(row.skipped for row in plan.rows if isinstance(row, OffsetRow))
        told += [f"✖ skips {counted(skipped, 'unread record')}"] if skipped else []
        told += [_again(plan)] if _again(plan) else []
        if skipped and refusal is None:
            return "; ".join(told), "bad"
        return "; ".join([*told, refusal] if refusal is not None else told), "" if refusal is None else "bad"

    # -- the change ---

    def begin(self, plan: Plan, typed: str, problem: KcliError | None = None) -> None:
        if not self._live:
            super().begin(plan, typed)
            return
        self.say(f"waiting; escape cancels the reset. {problem or self._live[0]}", "bad" if problem is not None else "")
        self.set_timer(AGAIN, partial(self._again, plan, typed))

    @work(exclusive=True, group="wait")
    async def _again(self, plan: Plan, typed: str) -> None:
        """Plan again, and do it, or wait on. To close the dialog ends this."""
        try:
            plan = await self.planned(self._given)
        except KcliError as problem:
            self.begin(plan, typed, problem)
            return
        if self._live or plan.apply is not None:
            self.begin(plan, typed)
        else:
            self.begin_again()


def _again(plan: Plan) -> str:
    """How many records that were read are read again; unknown where it is not known where a log begins."""
    rows = [row for row in plan.rows if isinstance(row, OffsetRow) and row.result == "would reset"]
    known = [row.again for row in rows if row.again is not None]
    unknown = len(rows) - len(known)
    told = [f"reads {counted(sum(known), 'record')} again"] if any(known) else []
    told += [f"how many it reads again of {counted(unknown, 'partition')} is unknown"] if unknown else []
    return "; ".join(told)


def _columns(*, several: bool) -> list[Column]:
    """`several` groups have a column of their names."""
    group = Column("group", "GROUP", lambda row: row.name, printable, letter="G", rank=0, name=True)
    return [
        *([group] if several else []),
        Column("topic", "TOPIC", lambda row: row.at.topic, printable, letter="N", rank=0, name=True),
        Column("partition", "P", lambda row: row.at.partition, right=True, letter="P", rank=0),
        Column("old", "OLD", lambda row: row.before and row.before.offset, exact, right=True, letter="O", rank=0),
        Column("new", "NEW", lambda row: row.after and row.after.offset, exact, right=True, letter="W", rank=0),
        Column(
            "delta",
            "DELTA",
            lambda row: row.delta,
            draw=lambda row: Cell(DASH if row.delta is None else f"{row.delta:+,}", "bad" if row.skipped else ""),
            right=True,
            letter="D",
            rank=2,
        ),
        Column("lag", "LAG THEN", lambda row: row.end, draw=_lag, right=True, letter="L", rank=0),
        Column("result", "RESULT", lambda row: row.result, draw=result_cell, letter="R", rank=0),
        Column("note", "NOTE", note_of, printable, wide=True, rank=3, most=200),
    ]


def _changed_first(row: OffsetRow) -> tuple[bool, str, TopicPartition]:
    """What the reset changes, or fails to, comes before what stays."""
    return row.result in ("unchanged", "skipped"), row.name, row.at


def _lag(row: OffsetRow) -> Cell:
    return Cell(DASH if row.lag is None else f"{row.lag:,}")


class Wish(NamedTuple):
    """What is wanted, understood: how to make the form, and the words of the command line that say the same."""

    prepare: Prepare | Rewind
    words: str


FORMS = (
    ("earliest", "to the beginning", ""),
    ("latest", "to the end", ""),
    ("offset", "to offset", "an offset, such as 1200"),
    ("shift", "shift by", "how many records: 100 forward, -100 back"),
    ("time", "to a time", "2026-01-31T10:00 (here), …Z, epoch s or ms, -1h"),
    ("rewind", "back by", "a duration, such as 5m: reads that much again of what it has read"),
    ("duration", "to … before now", "a duration, such as 90m or 1h30m"),
    ("place", "to the place", "stored, -100 before the end, +100 after the start, 0=5,1=end …"),
)
"""(name, label, what the field asks for; "" needs none)."""


def wish(form: str, text: str, now: int) -> Wish:
    """What a form and the text beside it mean; `now` is in ms since the epoch. Raises UsageError with what is wrong."""
    text = text.strip()
    if form in ("earliest", "latest"):
        return Wish(ready(offset_forms.earliest if form == "earliest" else offset_forms.latest), f"--to-{form}")
    if not text:
        raise UsageError(next(asks for name, _, asks in FORMS if name == form))
    if form in ("offset", "shift"):
        digits = text.removeprefix("-").removeprefix("+") if form == "shift" else text
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise UsageError(f"expected a whole number, not {text!r}")
        number = int(text)
        if form == "offset":
            return Wish(ready(offset_forms.offset(number)), f"--to-offset {number}")
        return Wish(ready(offset_forms.shifted(number)), f"--shift-by {number}")
    if form in ("rewind", "duration"):
        if (back := duration(text)) is None:
            raise UsageError(f"{text!r} is not a duration; expected 90m, 1h30m or 2d")
        if form == "rewind":
            return Wish(Rewind(back=back), f"--rewind {text}")
        return Wish(by_time(now - back), f"--by-duration {text}")
    place = f"@{text.removeprefix('@')}" if form == "time" else text
    return Wish(offset_forms.place(place, now)[0], f"--to {quoted(place)}")


class Resetting(Change):
    """A reset of one group, or of several. `at` is the partition or the topic under the cursor, None without one: then
    only whole groups can be meant. The form has a `form`, the `amount` beside it, and a `scope`."""

    def __init__(self, groups: Sequence[str], at: TopicPartition | str | None) -> None:
        self.groups = tuple(groups)
        self.at = at if isinstance(at, TopicPartition) else None
        self.topic = at.topic if isinstance(at, TopicPartition) else at or ""
        self.word = word_of(self.groups, "group")
        self.title = title_of("Reset the offsets of", self.groups, "group")

    def command(self, given: Given) -> str:
        where = "--all-topics"
        if self.at is not None and given["scope"] == "partition":
            where = f"--topic {quoted(f'{self.topic}:{self.at.partition}')}"
        elif self.topic and given["scope"] != "group":
            where = f"--topic {quoted(self.topic)}"
        try:
            words = wish(given["form"], given["amount"], now_ms()).words
        except UsageError:
            words = "--to …"
        return f"kcli groups reset {' '.join(map(quoted, self.groups))} {where} {words} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        at, topic, scope = self.at, self.topic, given["scope"]
        prepare = wish(given["form"], given["amount"], now_ms()).prepare

        async def where(cluster: Cluster, committed: Collection[TopicPartition]) -> list[TopicPartition]:
            if at is not None and scope == "partition":
                return [at]
            whole = not topic or scope == "group"
            ats = set(committed) if whole else set()
            for name in {one.topic for one in committed} if whole else {topic}:
                numbers = await numbers_of(cluster, name)
                if isinstance(numbers, TopicMissing) and whole:
                    continue  # what is committed of a topic that was deleted says so in its own row
                if isinstance(numbers, KcliError):
                    raise numbers
                ats.update(TopicPartition(name, number) for number in numbers)
            return sorted(ats)

        return await offsets.plan(client.cluster, self.groups, where, prepare, skip=True)
