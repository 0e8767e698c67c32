"""Records as they come, of one topic or many, merged by time; or those around one offset, such as where a group is
stuck. Drawing takes what is new ten times a second, however many pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from kcli.errors import KcliError, UsageError
from kcli.serde.decoded import value_of
from kcli.serde.filters import Filter
from kcli.serde.formats import MAPS
from kcli.text.numbers import DASH, count
from kcli.tui import routes
from kcli.tui.actions.toast import toast
from kcli.tui.screens.page import Page
from kcli.tui.tail import KEEP, Seen, Tail
from kcli.tui.text.formatting import exact, moment
from kcli.tui.text.printable import printable, quoted, shown
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.state import State

FRAME = 0.1  # seconds
BEFORE = 3  # records before the one that is looked at
DECODED = 4096  # bytes of a value that is decoded in the list
AROUND = 500  # records that are read from there on


class Records(Page):
    """A tail of `topics`; with `around`, the records of one partition from shortly before an offset on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "freeze", "Hold", id="records.hold"),
        Binding("f", "follow", "Follow", show=False, id="records.follow"),
    ]

    def __init__(self, state: State, route: routes.Records) -> None:
        super().__init__(state, route)
        self.topics = route.topics
        self.around = route.around
        self._why = f"what {printable(route.next_of)} reads next" if route.next_of else route.why
        self._marked = bool(route.next_of)
        self._words = ""
        self._held = False
        self._tail = self._fresh(None)
        self._rows: list[Seen] = []
        self._drawn = 0

    @property
    def heading(self) -> str:
        counts = self._tail.counts
        where = ", ".join(printable(topic) for topic in self.topics)
        if self.around is not None:
            at, offset = self.around
            where = f"{printable(at.topic)}[{at.partition}] at {offset}"
        many = f"{count(counts.passed)} read" if self.around is None else f"{count(len(self._rows))} shown"
        told = [f"Records of {where}", self._why, many]
        if self._words:
            told.append(f"{count(counts.wanted)} match {self._words!r}")
        if self._held:
            told.append("HELD")
        if self._tail.gone:
            told.append(f"✖ {printable(', '.join(self._tail.gone))}: the topic is not there (any more)")
        if self._tail.problem:
            told.append(printable(self._tail.problem))
        return "  ".join(filter(None, told))

    @property
    def same_as(self) -> str:
        grep = f" --grep {quoted(self._words)}" if self._words else ""
        if self.around is not None:
            at, offset = self.around
            return f"kcli consume {quoted(at.topic)} -p {at.partition} -o {offset}{grep}"
        return f"kcli tail {' '.join(quoted(topic) for topic in self.topics)}{grep}"

    @property
    def narrowed(self) -> str:
        return ""  # --grep says it

    @property
    def topic_here(self) -> str:
        return self.topics[0]

    def body(self) -> ComposeResult:
        yield Rows(self._columns(), key=lambda record: record.number, id="records", empty="Nothing yet.")

    def on_mount(self) -> None:
        self.query_one("#filter", Input).placeholder = "a regular expression that the value holds"
        self.read()
        self.set_interval(FRAME, self._frame)

    unrecorded = "records"
    asks = False

    def counted(self) -> list[tuple[str, int]]:
        return [("records in ring", len(self._tail)), ("shown", len(self._rows))]

    def inquire(self) -> None:
        """A snapshot changes nothing here."""

    def _fresh(self, wanted: Filter | None) -> Tail:
        if self.around is None:
            return Tail(list(self.topics), wanted=wanted)
        at, offset = self.around
        return Tail([at.topic], starts={at: max(offset - BEFORE, 0)}, wanted=wanted, keep=AROUND, first=True)

    @work(exclusive=True, group="tail")
    async def read(self) -> None:
        """Follow, until another filter is set or the page is left."""
        if not self.session.live:
            return
        tail = self._tail

        async def follow(client: Client) -> None:
            await tail.follow(client)

        try:
            await self.session.ask(follow)
        except KcliError as problem:
            self.asking.trouble = f"✖ {printable(str(problem))}"
            toast(self.app, problem)

    def _frame(self) -> None:
        """Draw what is new; while it is held, or while the view is scrolled up, the rows stay."""
        if self._held or not self.is_current:
            return
        new = self._tail.since(self._drawn)
        if new:
            self._drawn = new[-1].number
            rows = self.query_one(Rows)
            at_end = rows.cursor >= len(rows.shown) - 1
            self._rows = (self._rows + new)[-KEEP:]
            rows.put(self._rows)
            if self.around is not None and len(self._rows) == len(new):
                rows.cursor = next((n for n, record in enumerate(rows.shown) if record.offset >= self.around[1]), 0)
            elif at_end and self.around is None:
                rows.cursor = len(rows.shown) - 1
        self.retitle()

    def filtered(self, words: str) -> None:
        """The filter is a regular expression over values, and applies to what passes, not only to what is shown."""
        try:
            wanted = Filter(grep=[words]) if words else None
        except UsageError:
            return  # not finished typing
        self._words = words
        self._tail = self._fresh(wanted)
        self._rows, self._drawn = [], 0
        self.query_one(Rows).put([])
        self.read()

    def action_freeze(self) -> None:
        self._held = not self._held
        self.retitle()

    def action_follow(self) -> None:
        self._held = False
        rows = self.query_one(Rows)
        rows.cursor = len(rows.shown) - 1

    def on_rows_entered(self, event: Rows.Entered) -> None:
        seen = event.row
        self.go(routes.Record(seen.topic, seen.partition, seen.offset, seen))

    def _columns(self) -> list[Column]:
        columns = [
            Column("time", "TIME", lambda record: record.timestamp, draw=_time, letter="T", rank=0),
            Column("partition", "P", lambda record: record.partition, tone="dim", right=True, letter="P", rank=2),
            Column("offset", "OFFSET", lambda record: record.offset, exact, tone="dim", right=True, letter="O", rank=2),
            Column(
                "key", "KEY", lambda record: record.key, draw=lambda record: _bytes(record.key), letter="K", most=24
            ),
            Column("value", "VALUE", lambda record: record.value, draw=_value, letter="V", rank=0, wide=True, most=400),
        ]
        if self._marked:
            columns.insert(0, Column("mark", "", lambda record: record.offset, draw=self._mark, rank=0))
        if len(self.topics) > 1:
            columns.insert(1, Column("topic", "TOPIC", lambda record: record.topic, printable, letter="N", most=24))
        return columns

    def _mark(self, record: Seen) -> Cell:
        """Which one the group reads next, and which it has read."""
        next_one = self.around[1] if self.around is not None else 0
        return (
            Cell("▶ next", "bad")
            if record.offset == self._at_or_after(next_one)
            else Cell("read" if record.offset < next_one else "", "dim")
        )

    def _at_or_after(self, offset: int) -> int | None:
        """The first record there is from an offset on: compaction and markers leave gaps."""
        return next((record.offset for record in self._rows if record.offset >= offset), None)


def _time(record: Seen) -> Cell:
    when = moment(record.timestamp)
    if when is None:
        return Cell(DASH if record.timestamp < 0 else str(record.timestamp), "dim")
    return Cell(f"{when:%H:%M:%S.%f}"[:-3], "dim")


def _value(record: Seen) -> Cell:
    """As text; a msgpack map for what it says, as JSON."""
    data = record.value
    if data and data[0] in MAPS and len(data) <= DECODED:
        seen = value_of(data)
        if not isinstance(seen, str):
            return Cell(printable(json.dumps(seen, ensure_ascii=False, default=str)))
    return _bytes(data)


def _bytes(data: bytes | None) -> Cell:
    return Cell("null", "dim") if data is None else Cell(shown(data))
