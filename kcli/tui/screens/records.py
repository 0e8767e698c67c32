"""Records as they come, of one topic or many, merged by time; or those around one offset, such as where a group is
stuck. Drawing takes what is new ten times a second, however many pass."""

from __future__ import annotations

import time
from copy import copy
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from kcli.errors import KcliError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.serde.decoded import value_of
from kcli.serde.formats import MAPS
from kcli.text.numbers import DASH, count
from kcli.tui import routes
from kcli.tui.actions.menus import of_record
from kcli.tui.actions.producing import draft_of
from kcli.tui.alerts.alerting import toast
from kcli.tui.records.fields import Condition, FieldColumns, as_json, completed, offered
from kcli.tui.screens.topics.pane import WithPane
from kcli.tui.tail import KEEP, Counts, Seen, Tail, by_offset, merged, stretch
from kcli.tui.text.formatting import dated, exact, moment
from kcli.tui.text.printable import printable, quoted, shown
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.filter import Filter
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.pager import Pager
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.timer import Timer

    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State
    from kcli.tui.text.by_registry import ListDecoder

    Starts = Mapping[TopicPartition, Bound | int] | None

FRAME = 0.1  # seconds
TYPED = 0.5  # seconds after the last letter of a filter in which the cluster is asked
TOGETHER = 1.0  # seconds after a list was begun in which what brokers answer is merged
BEFORE = 3  # records before the one that is looked at
DECODED = 4096  # bytes of a value that is decoded in the list
AROUND = 500  # records that are read from there on


class Place(NamedTuple):
    """Where a list begins, why, and whether it marks what a group reads next."""

    around: tuple[TopicPartition, int] | None
    start: Bound | None
    why: str
    marked: bool


class RecordRows(Rows):
    """Rows that have more records before the first and after the last."""

    class Beyond(Message):
        """Read on, backwards (-1) or forwards (1); `whole`: to the end of the log."""

        def __init__(self, by: int, *, whole: bool) -> None:
            super().__init__()
            self.by = by
            self.whole = whole

    def action_page(self, by: int) -> None:
        if self.cursor == (0 if by < 0 else max(len(self.shown) - 1, 0)):
            self.post_message(self.Beyond(by, whole=False))
        else:
            super().action_page(by)

    def action_top(self) -> None:
        self.post_message(self.Beyond(-1, whole=True))

    def action_bottom(self) -> None:
        self.post_message(self.Beyond(1, whole=True))


class Records(WithPane):
    """A tail of `topics`; with `around`, the records of one partition from shortly before an offset on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "freeze", "Hold", id="records.hold"),
        Binding("f", "follow", "Follow", show=False, id="records.follow"),
        Binding("at", "seek('@')", "Seek", id="records.seek", key_display="@"),
        Binding("number_sign", "seek('#')", "Seek an offset", show=False, id="records.offset", key_display="#"),
        Binding("c", "column", "A field as a column", show=False, id="records.column"),
        Binding("d", "differ", "Difference of two marked", show=False, id="records.difference"),
        Binding("w", "export", "Write to a file", show=False, id="records.export"),
        Binding("e", "edit", "Edit and send again", show=False, id="records.edit"),
    ]

    def __init__(self, state: State, route: routes.Records) -> None:
        super().__init__(state, route)
        self.topics = route.topics
        self.around = route.around
        self.start = route.start
        self.partition = None if route.around is None else route.around[0]  # the only one that is read
        self._why = f"what {printable(route.next_of)} reads next" if route.next_of else route.why
        self._marked = bool(route.next_of)
        self._opened = self._place  # what escape leads back to
        self._condition = Condition("")
        self._asked = self._condition  # what the tail reads by
        self._typed: Timer | None = None
        self._held = False
        self._when_held = Counts()  # what was read then
        self._stopped = False  # whether a search was stopped by its user
        self._tail = self._fresh()
        self._loaded: dict[tuple[object, ...], Seen] = {}  # the last records that were read, by whatever filter
        self._fitting: list[Seen] = []  # those of them that fit the filter
        self._stuck_on: int | None = None  # the offset that the group reads next, once it was decoded
        self._undecoded = ""  # why that record does not decode
        self._decoder: ListDecoder | None = None
        self._decoded: dict[tuple[object, ...], tuple[bytes | None, bytes | None]] = {}  # keys and values as JSON
        self._drawn = 0
        self._at_place = True  # whether the cursor stays on the first row while others come
        self._began = time.monotonic()
        self._beside: Seen | None = None  # the record in the pane, as it is shown
        self._fields = FieldColumns(self.as_shown)

    @property
    def fixed(self) -> bool:
        """Whether these are records of one place, which stay, and not the newest ones."""
        return self.around is not None or self.start is not None

    @property
    def heading(self) -> str:
        where = self._where
        if self.around is not None:
            where += f" at {self.around[1]}"
        elif self.start is not None:
            where += f" from {from_words(self.start)}"
        raw = "" if self._decoder is None else printable(self._decoder.reason)
        told = [f"Records of {where}", self._why, self._undecoded or raw, self._progress]
        if self._condition.problem and self._typed is None:
            told.append(f"✖ {printable(self._condition.problem)}")
        if self._held:
            told.append("HELD")
        if self._tail.gone:
            told.append(f"✖ {printable(', '.join(self._tail.gone))}: the topic is not there (any more)")
        told += [printable(self._tail.problem), printable(self._tail.waiting)]
        return "  ".join(filter(None, told))

    @property
    def _where(self) -> str:
        """The topics, or the only partition that is read."""
        at = self.partition
        return ", ".join(map(printable, self.topics)) if at is None else f"{printable(at.topic)}[{at.partition}]"

    @property
    def _progress(self) -> str:
        """How much was searched, and what was found there; while the rows are held, until then."""
        counts = self._when_held if self._held else self._tail.counts
        shown_now = len(self.query_one(Rows).shown) if self.is_mounted else 0
        if self._condition.filter is None:
            return f"{count(shown_now)} shown" if self.fixed else f"{count(counts.passed)} read"
        if not self.fixed or not counts.total:
            return (
                f"searched {count(max(counts.passed, len(self._loaded)))}, found {count(shown_now)}; g: from the start"
            )
        searched = f"searched {count(counts.searched)} of {count(counts.total)}, found {count(shown_now)}"
        if self._is_searching:
            return f"{searched}; esc stops"
        return searched + ("; stopped" if self._stopped else "; page down continues" if self._tail.full else "")

    @property
    def _is_searching(self) -> bool:
        """Whether records are searched that were there before."""
        return self.fixed and self._condition.filter is not None and self._tail.searches and not self._stopped

    async def action_back(self) -> None:
        """Take back one thing at a time: the search, the filter, the place; then leave."""
        if self._is_searching:
            self._stopped = True
            self.workers.cancel_group(self, "tail")
            self.retitle()
        elif self._place != self._opened and not self.query_one(Filter).display and not self.state.waits:
            self._show(self._opened)
        else:
            await super().action_back()

    @property
    def _place(self) -> Place:
        return Place(self.around, self.start, self._why, self._marked)

    @property
    def same_as(self) -> str:
        option = self._condition.option + self.session.registry_option
        at, start = self.partition, self.start
        where = " ".join(map(quoted, self.topics)) if at is None else f"{quoted(at.topic)} -p {at.partition}"
        if self.around is not None:
            return f"kcli consume {where} -o {self.around[1]}{option}"
        if start is not None:
            return f"kcli consume {where} -o {quoted(option_of(start))}{option}"
        return f"kcli tail {where}{option}"

    @property
    def narrowed(self) -> str:
        return ""  # --grep or --where says it

    @property
    def topic_here(self) -> str:
        return self.topics[0]

    def body(self) -> ComposeResult:
        yield RecordRows(self._columns(), key=_identity, marks=True, id="records", empty="Nothing yet.")
        with Vertical(id="details"):
            yield Lines(id="about")
            yield Pager(list, id="beside")

    def on_mount(self) -> None:
        line = self.query_one("#filter", Input)
        line.placeholder = "text, a condition such as total > 9 (→ completes a field), or ~ and a regular expression"
        line.suggester = _Fields(self)
        self.read()
        self.set_interval(FRAME, self._frame)

    unrecorded = "records"
    asks = False

    def counted(self) -> list[tuple[str, int]]:
        return [("records in ring", len(self._tail)), ("loaded", len(self._loaded))]

    def inquire(self) -> None:
        """A snapshot changes nothing here."""

    def _fresh(self, starts: Starts = None) -> Tail:
        """What reads the records of this place, or what is from some offsets on."""
        tail = partial(Tail, self.topics, wanted=self._condition.filter, isolation=self.session.isolation)
        if starts is None and self.around is not None:
            starts = {self.around[0]: max(self.around[1] - BEFORE, 0)}
        if starts is None and self.partition is not None:
            starts = {self.partition: self.start or Bound("relative", AROUND)}
        if self.fixed:
            return tail(starts=starts or self.start, keep=AROUND, first=True, by_offset=self._by_offset)
        return tail(starts=starts)

    def _restart(self, starts: Starts = None) -> None:
        """Read, from this place or from some offsets on."""
        self._stopped = False
        self._tail, self._drawn, self._began = self._fresh(starts), 0, time.monotonic()
        self.read()

    @work(exclusive=True, group="tail")
    async def read(self) -> None:
        """Follow, until another filter is set or the page is left."""
        if not self.session.live:
            return
        tail = self._tail

        async def follow(client: Client) -> None:
            await tail.follow(client)

        try:
            if tail.filters and self.session.has_registry:
                from kcli.tui.text.by_registry import batches

                tail.decode = await self.session.ask_registry(batches)
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
            first, at_start, at_end = not self._loaded, rows.cursor == 0, rows.cursor >= len(rows.shown) - 1
            self._load(new)
            if self.around is not None and first:
                rows.cursor = next((n for n, record in enumerate(rows.shown) if record.offset >= self.around[1]), 0)
            elif at_start and self._at_place and self.around is None and self.fixed:
                rows.cursor = 0  # at the place that was asked for, whichever partition answered first
            elif at_end and not self.fixed:
                rows.cursor = len(rows.shown) - 1
        self.retitle()

    def _load(self, new: list[Seen]) -> None:
        """Keep and show records beside those that were read before: as they arrive, those of one frame merged, or in
        the order of their place."""
        unseen = {_identity(record): record for record in merged(new) if _identity(record) not in self._loaded}
        self._loaded |= unseen
        self._fitting += filter(self._fits, unseen.values())
        if not self.fixed:
            if time.monotonic() - self._began < TOGETHER:
                self._loaded = {_identity(one): one for one in merged(self._loaded.values())}
                self._fitting = merged(self._fitting)
            for gone in list(self._loaded)[:-KEEP]:
                del self._loaded[gone]
                self._decoded.pop(gone, None)
            self._fitting = self._fitting[-KEEP:]
        else:
            self._loaded = {_identity(one): one for one in self._in_order(self._loaded.values())}
            fitting = {_identity(one) for one in self._fitting}
            self._fitting = [one for name, one in self._loaded.items() if name in fitting]
        self.query_one(Rows).put(self._fitting)
        if self.session.has_registry and unseen:
            self._decode(list(unseen.values()))

    @property
    def _by_offset(self) -> bool:
        """Whether an offset was asked for: all partitions begin there, whatever the time of their records."""
        return self.around is not None or (self.start is not None and self.start.kind == "offset")

    def _in_order(self, records: Iterable[Seen]) -> list[Seen]:
        """By offset, or by time with each partition in its own order."""
        ordered = sorted(records, key=by_offset)
        return ordered if self._by_offset else merged(ordered)

    def _decode(self, records: list[Seen]) -> None:
        """Show keys and values by the registry's schemas, as soon as they are known."""
        if self._decoder is None:
            from kcli.tui.text.by_registry import ListDecoder

            self._decoder = ListDecoder()

        def known(found: list[tuple[bytes | None, bytes | None]]) -> None:
            self._decoded |= {
                _identity(record): cells
                for record, cells in zip(records, found, strict=True)
                if cells != (record.key, record.value) and _identity(record) in self._loaded
            }
            if self._condition.filter is not None:
                self._fit_again(records)
            self.query_one(Rows).put(self._fitting)
            self._about()
            self.retitle()

        self.asking.once_registry(partial(self._decoder.decoded, records), known)
        self._explain()

    def _fits(self, record: Seen) -> bool:
        """Whether the filter wants it as it is shown."""
        return self._condition.fits(self.as_shown(record))

    def _fit_again(self, records: list[Seen]) -> None:
        """Ask the filter again about records that were decoded since; all stay in their order."""
        wanted = {_identity(record) for record in self._fitting} - {_identity(record) for record in records}
        wanted |= {_identity(record) for record in records if self._fits(record)}
        self._fitting = [record for name, record in self._loaded.items() if name in wanted]

    def _explain(self) -> None:
        """Whether the record that the group reads next decodes: if not, that may be why it is stuck."""
        offset = self._at_or_after(self.around[1]) if self._marked and self.around is not None else None
        if offset is None or offset == self._stuck_on:
            return
        from kcli.tui.text.by_registry import Both, ask

        def told(both: Both) -> None:
            reasons = [(kind, found.reason) for kind, found in zip(("key", "value"), both, strict=True) if found.reason]
            self._undecoded = "".join(f"✖ its {kind} does not decode: {printable(why)}" for kind, why in reasons[-1:])
            self.retitle()

        self._stuck_on = offset
        record = next(one for one in self._loaded.values() if one.offset == offset)
        self.asking.once_registry(partial(ask, record), told)

    def as_shown(self, record: Seen) -> Seen:
        """The record with its key and value as they are shown."""
        cells = self._decoded.get(_identity(record))
        return record if cells is None else record._replace(key=cells[0], value=cells[1])

    def _about(self) -> None:
        """The pane is of the record under the cursor, the only one that is decoded for it."""
        if not self.is_there or not self.has_class("-wide"):
            return
        row = self.query_one(Rows).row
        record = None if row is None else self.as_shown(row)
        if record == self._beside:
            return
        from kcli.tui.records.pane import is_json, record_lines, value_lines
        from kcli.tui.screens.record import consumed

        self._beside = record
        about, pager = self.query_one("#about", Lines), self.query_one(Pager)
        if row is None or record is None:
            about.put([])
            pager.put([])
            return
        form = self.session.registry_option if record is not row else " -J"
        about.put(record_lines(record, row, self.session.aimed(consumed(row, form))))
        value = value_lines(record.value)
        pager.json = is_json(value)
        pager.put(value)

    # -- other places of the log ---

    def action_seek(self, begins: str) -> None:
        if self.refused("reading records"):
            return
        from kcli.tui.dialogs.records import Seek

        self.app.push_screen(Seek(begins), self._seek)

    def _seek(self, place: Bound | None) -> None:
        """Show what is there: the filter, the columns and a partition that was alone stay."""
        if place is not None:
            self._show(Place(None, None if place.kind == "latest" else place, "", marked=False))

    def _show(self, place: Place) -> None:
        self.around, self.start, self._why, self._marked = place
        self._undecoded, self._stuck_on = "", None
        self._held, self._at_place = False, True
        self._loaded, self._fitting, self._decoded = {}, [], {}
        rows = self.query_one(Rows)
        rows.have(self._columns())
        rows.put([])
        self._asked = self._condition  # or the pause in the typing would start the search again, even a stopped one
        self._restart()
        self.retitle()

    def on_record_rows_beyond(self, event: RecordRows.Beyond) -> None:
        """To an end of the log, or past the first row or the last: read what is there."""
        rows = self.query_one(Rows)
        if not self.session.live or self.refused("reading records"):
            return
        if event.whole and event.by < 0 and self.start != Bound("earliest"):
            self._seek(Bound("earliest"))
        elif event.whole and event.by > 0 and self.fixed:
            self._seek(Bound("latest"))
        elif event.whole and event.by > 0:
            self.action_follow()
        elif event.whole:
            rows.cursor = 0
        elif event.by < 0 and self._loaded:
            self._read_before()
        elif event.by > 0 and self.fixed and self._tail.full:
            self._held = False
            if self._tail.since(self._drawn):
                self._frame()  # what was read already comes first: with its tail it would be lost
            else:
                self._restart(self._tail.following)

    def _read_before(self) -> None:
        """Show older records than those that are loaded: of all partitions back to the same time."""
        edges = dict(self._tail.following)
        for record in self._loaded.values():
            at = TopicPartition(record.topic, record.partition)
            edges[at] = min(edges.get(at, record.offset), record.offset)

        each = min(max(4 * AROUND // max(len(edges), 1), 1), AROUND)

        async def read(client: Client) -> list[Seen]:
            spans = {at: (max(edge - each, 0), edge) for at, edge in edges.items()}
            found = self._in_order(await stretch(client, spans, self.session.isolation))
            return found[-AROUND:] if self._by_offset else newest_of(found, spans, AROUND)

        self.asking.once(read, self._before)

    def _before(self, found: list[Seen]) -> None:
        """Show them with the others, in order; the cursor stays on its record."""
        if not found:
            self.notify("There are no more records in this direction.", timeout=2, markup=False)
            return
        if self.around is None:
            offset = self._by_offset
            self.start = Bound("offset", found[0].offset) if offset else from_time(found[0].timestamp)
        self._hold(held=True)
        self._load(found)
        self.retitle()

    # -- a record, and all that are shown, elsewhere ---

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return f"topic {self.topics[0]}" if row is None else f"{row.topic}[{row.partition}] at {row.offset}"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return of_record(self, row, self.topics[0] if row is None else row.topic, self.action_export)

    def action_export(self) -> None:
        """Ask for a name, and write every record there that the filter wants, from this place to the end of the log."""
        if self.refused("reading records") or self._condition.problem:
            return
        from kcli.tui.actions.saving import new_path
        from kcli.tui.dialogs.records import Export

        where = f"{self._where}, from {'the start' if self.start is None else from_words(self.start)} to the end now"
        wanted = f"that match {printable(self._condition.words)}" if self._condition.filter is not None else ""
        command = self.session.aimed(f"{self._whole} -e -J")
        lines = f"{' '.join(filter(None, ('Records of', where, wanted)))}\n$ {command}"
        path = new_path(self.topics[0], "records", ".ndjson")
        self.app.push_screen(Export(path, lines), self._begin_export)

    @property
    def _whole(self) -> str:
        """The command that reads what an export writes."""
        at, start = self.partition, option_of(self.start or Bound("earliest"))
        where = " ".join(map(quoted, self.topics)) if at is None else f"{quoted(at.topic)} -p {at.partition}"
        return f"kcli consume {where} -o {quoted(start)}{self._condition.option}"

    def _begin_export(self, path: str | None) -> None:
        if path is not None:
            self._export(path)

    @work(group="export", exclusive=True)
    async def _export(self, path: str) -> None:
        """Write to the file; escape in the dialog that shows how far it is cancels it, and leaves no file."""
        from kcli.tui.actions.saving import saving
        from kcli.tui.dialogs.records import Progress

        start, at = self.start or Bound("earliest"), self.partition
        tail = Tail(
            self.topics,
            starts=start if at is None else {at: start},
            wanted=self._condition.filter,
            isolation=self.session.isolation,
        )
        shown = Progress(path, tail.counts)
        self.app.push_screen(shown, lambda _: self._cancel_export())
        try:
            if tail.filters and self.session.has_registry:
                from kcli.tui.text.by_registry import batches

                tail.decode = await self.session.ask_registry(batches)
            with saving(path) as write:
                await self.session.ask(lambda client: tail.export(client, write))
        except KcliError as problem:
            toast(self.app, problem)
        else:
            self.notify(f"{path}\n{count(tail.counts.wanted)} records, as consume -J writes them", markup=False)
        finally:
            shown.end()

    def _cancel_export(self) -> None:
        self.workers.cancel_group(self, "export")

    def action_edit(self) -> None:
        """The form of a new record, with the fields of the one under the cursor."""
        row = self.query_one(Rows).row
        if row is not None:
            self.produce(row.topic, draft_of(row))

    def action_column(self) -> None:
        """Ask for a field of the values; it is a column then, or no longer."""
        from kcli.tui.dialogs.records import FieldLine

        known = offered(map(self.as_shown, self._loaded.values()))
        self.app.push_screen(FieldLine(known, self._fields.paths), self._turn)

    def _turn(self, path: str | None) -> None:
        if path is not None:
            self._fields.turn(path)
            self.query_one(Rows).have(self._columns())

    def action_differ(self) -> None:
        """Compare the two marked records; with one marked, it and the one under the cursor."""
        rows = self.query_one(Rows)
        pair = rows.marked
        if len(pair) == 1 and rows.row is not None and rows.row not in pair:
            pair = [*pair, rows.row]
        if len(pair) != 2:
            self.notify("Mark two records with m, then d shows what differs.", timeout=3, markup=False)
            return
        from kcli.tui.dialogs.records import Difference, of_records
        from kcli.tui.screens.record import decoded

        old, new = map(self.as_shown, pair)
        title = " and ".join(f"{printable(one.topic)}[{one.partition}] at {one.offset}" for one in pair)
        self.app.push_screen(Difference(title, of_records(old, new, decoded)))

    def filtered(self, words: str) -> None:
        """The filter applies at once to what is loaded, and to the cluster when the typing pauses."""
        self._condition = Condition(words, decoded=self.session.has_registry)
        self._at_place = False
        self._fitting = list(filter(self._fits, self._loaded.values()))
        rows = self.query_one(Rows)
        follows = not self.fixed and rows.cursor >= len(rows.shown) - 1
        rows.empty = "No record fits the filter (yet); escape shows all." if words else "Nothing yet."
        rows.put(self._fitting)
        if follows:
            rows.cursor = len(rows.shown) - 1
        self._about()
        if self._typed is not None:
            self._typed.stop()
        self._typed = self.set_timer(TYPED, self._settle)
        self.retitle()

    def _settle(self) -> None:
        """Read by the filter that was typed, unless the rows are held: they stay."""
        self._typed = None
        if not self._held and not self._condition.problem and self._condition.words != self._asked.words:
            self._asked = self._condition
            starts = None
            if self.fixed and not self._asked.words:  # between the records that were found there are others
                starts = self._near(self.query_one(Rows).row) if self._tail.counts.searched > AROUND else None
                self._loaded, self._fitting = {}, []
            self._restart(starts)
        self.retitle()

    def _near(self, row: Seen | None) -> Starts:
        """Where each partition is at a record that a search has found; its neighbours are shown without the filter."""
        if row is None:
            return None
        here = TopicPartition(row.topic, row.partition)
        others = Bound("offset", row.offset) if self._by_offset else from_time(row.timestamp)
        starts: dict[TopicPartition, Bound | int] = dict.fromkeys(self._tail.following, others)
        return starts | {here: max(row.offset - BEFORE, 0)}

    def completed(self, words: str) -> str | None:
        """The words of the filter with the field at their end completed."""
        return completed(words, map(self.as_shown, self._loaded.values()))

    def action_freeze(self) -> None:
        self._hold(held=not self._held)
        self._settle()

    def _hold(self, *, held: bool) -> None:
        self._held, self._when_held = held, copy(self._tail.counts)

    def action_follow(self) -> None:
        self._held = False
        self._settle()
        rows = self.query_one(Rows)
        rows.cursor = len(rows.shown) - 1

    def on_rows_entered(self, event: Rows.Entered) -> None:
        seen = event.row
        self.go(routes.Record(seen.topic, seen.partition, seen.offset, seen))

    def _columns(self) -> list[Column]:
        columns = [
            Column(
                "time",
                f"TIME {datetime.now().astimezone():%Z}",
                lambda record: record.timestamp,
                draw=_time,
                letter="T",
                rank=0,
            ),
            Column("partition", "P", lambda record: record.partition, tone="dim", right=True, letter="P", rank=2),
            Column("offset", "OFFSET", lambda record: record.offset, exact, tone="dim", right=True, letter="O", rank=2),
            Column(
                "key",
                "KEY",
                lambda record: record.key,
                draw=lambda record: _bytes(self.as_shown(record).key),
                letter="K",
                most=24,
            ),
            Column(
                "value",
                "VALUE",
                lambda record: record.value,
                draw=lambda record: _value(self.as_shown(record)),
                letter="V",
                rank=0,
                wide=True,
                most=400,
            ),
        ]
        columns[-1:-1] = self._fields.columns()
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
        return next((record.offset for record in self._loaded.values() if record.offset >= offset), None)


class _Fields(Suggester):
    """Completes the fields of the records that a page has loaded."""

    def __init__(self, page: Records) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._page = page

    async def get_suggestion(self, value: str) -> str | None:
        return self._page.completed(value)


def _identity(record: Seen) -> tuple[object, ...]:
    """With the time: of a topic that was created again the offsets repeat."""
    return record.topic, record.partition, record.offset, record.timestamp


def newest_of(found: list[Seen], spans: Mapping[TopicPartition, tuple[int, int]], most: int) -> list[Seen]:
    """The newest of these merged records, back to a time from which on nothing is missing: a partition may have more
    before the first record that was read of it."""
    oldest: dict[TopicPartition, Seen] = {}
    for record in found:
        oldest.setdefault(TopicPartition(record.topic, record.partition), record)
    cut = max((one.timestamp for at, one in oldest.items() if 0 < one.offset <= spans[at][0]), default=0)
    first = next((n for n, record in enumerate(found) if record.timestamp >= cut), len(found))
    return found[first:][-most:]


def from_time(timestamp: int) -> Bound:
    """Where other partitions begin beside a record: one without a timestamp has -1, which as a place is the end."""
    return Bound("time", timestamp) if timestamp >= 0 else Bound("earliest")


def option_of(place: Bound) -> str:
    """The place as the value of -o."""
    words = {"earliest": "beginning", "latest": "end", "relative": f"-{place.value}", "from_start": f"+{place.value}"}
    return words.get(place.kind, f"@{place.value}" if place.kind == "time" else str(place.value))


def from_words(place: Bound) -> str:
    """The place in a heading."""
    when = moment(place.value) if place.kind == "time" else None
    return dated(when) if when is not None else option_of(place)


def _time(record: Seen) -> Cell:
    """The time here, with its date unless it is of today."""
    when = moment(record.timestamp)
    if when is None:
        return Cell(DASH if record.timestamp < 0 else str(record.timestamp), "dim")
    day = "" if when.date() == datetime.now().date() else f"{when:%Y-%m-%d} "
    return Cell(f"{day}{when:%H:%M:%S.%f}"[:-3], "dim")


def _value(record: Seen) -> Cell:
    """As text; a msgpack map for what it says, as JSON."""
    data = record.value
    if data and data[0] in MAPS and len(data) <= DECODED:
        seen = value_of(data)
        if not isinstance(seen, str):
            return Cell(printable(as_json(seen)))
    return _bytes(data)


def _bytes(data: bytes | None) -> Cell:
    return Cell("null", "dim") if data is None else Cell(shown(data))
