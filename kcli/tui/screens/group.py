"""One group: its partitions, members, topics and timeline, and how its lag went."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TabPane

from kcli.admin.groups.groups import who
from kcli.lag.figures import lag_text, total
from kcli.lag.history import KEEP, GroupStanding, topics_of
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, rate
from kcli.tui import routes
from kcli.tui.actions.menus import of_group, of_member
from kcli.tui.screens.columns import lag_column, place_of, standing_columns, status_column
from kcli.tui.screens.groups import draw, until
from kcli.tui.screens.page import Page
from kcli.tui.text.by_registry import NextRecords
from kcli.tui.text.chart import spark
from kcli.tui.text.formatting import age, calm, clocked, exact, status_of
from kcli.tui.text.incidents import details, places_in
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.admin.groups.rows import Member as Described
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

SPARK = 12  # cells, with two moments in each


class Group(Page):
    """The page of a group; it stays when the group goes, and says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('partitions')", "Partitions", show=False, id="group.partitions"),
        Binding("2", "tab('members')", "Members", show=False, id="group.members"),
        Binding("3", "tab('topics')", "Topics", show=False, id="group.topics"),
        Binding("4", "tab('events')", "Events", show=False, id="group.events"),
        Binding("r", "reset", "Reset", id="group.reset"),
        Binding("t", "app.timely", "Lag or time lag", show=False, id="group.time"),
    ]

    def __init__(self, state: State, route: routes.Group) -> None:
        super().__init__(state, route)
        self.group = route.name
        self.standing: GroupStanding | None = None
        self._sparks: dict[TopicPartition, str] = {}
        self._next = NextRecords(self.session)

    @property
    def heading(self) -> str:
        standing = self.standing
        name = printable(self.group)
        if standing is None:
            return f"Group {name}{': it is not there (any more)' if self.state.snapshot is not None else ''}"
        word, _ = status_of(standing.total)
        undecoded = len(self._next.sentences)
        told = f"✖ {undecoded} next record{'s do' if undecoded > 1 else ' does'} not decode" if undecoded else ""
        pieces = [f"Group {name}", word, f"lag {lag_text([standing.total])}", standing.described.state or "", told]
        return "  ".join(filter(None, pieces))

    @property
    def same_as(self) -> str:
        if self.tab == "members":
            return f"kcli groups members {quoted(self.group)}"
        return f"kcli lag {quoted(self.group)}{'' if self.tab in ('topics', 'events') else ' --by partition'} --watch"

    def body(self) -> ComposeResult:
        with Vertical(id="details"):
            yield Plot(title="lag", id="plot")
            yield Lines(id="about")
        with Tabs():
            with TabPane("Partitions", id="tab-partitions"):
                yield Rows(
                    self._partition_columns(),
                    key=place_of,
                    order=_loudness,
                    enters="Read",
                    id="partitions",
                    empty="No partitions.",
                )
            with TabPane("Members", id="tab-members"):
                yield Rows(
                    _member_columns(),
                    key=lambda m: m.member_id,
                    id="members",
                    empty="No members: no consumer reads for this group now.",
                )
            with TabPane("Topics", id="tab-topics"):
                yield Rows(_topic_columns(), key=lambda t: t.total.topic, id="topics", empty="No topics.")
            with TabPane("Events", id="tab-events"):
                yield Rows(_event_columns(self.session.clock), key=id, id="events", opens=False, empty="No events yet.")

    # -- what arrives ---

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self.standing = next((group for group in snapshot.groups if group.described.group == self.group), None)
        if self.standing is None:
            for rows in self.query(Rows):
                rows.settle()
            self.call_after_refresh(self.recall, snapshot.time)
            return
        self.query_one("#partitions", Rows).put(self.standing.partitions)
        self.query_one("#members", Rows).put(self.standing.described.members)
        self.query_one("#topics", Rows).put(topics_of(self.standing))
        if self.state.trails is not None:
            draw(self.query_one(Plot), self.standing, snapshot, self.state.trails, timely=self.state.timely)
        self._tell(snapshot)
        self.learn(snapshot)
        self.call_after_refresh(self.recall, snapshot.time)  # once it is known which rows are seen

    def _tell(self, snapshot: LagSnapshot) -> None:
        """The lines beside the plot."""
        if self.state.trails is not None and self.standing is not None:
            sentences = list(self._next.sentences.values())
            events, aimed = self.state.trails.events(self.group), self.session.aimed
            most = places_in(self.size.height)
            lines = details(self.standing, snapshot, events, sentences, aimed, most)
            self.query_one("#about", Lines).put(lines)

    @work(group="learn")
    async def learn(self, snapshot: LagSnapshot) -> None:
        """Whether the records that stuck partitions read next decode."""
        if self.standing is not None and await self._next.learn(self.standing.partitions) and self.query("#about"):
            self._tell(snapshot)
            self.retitle()

    @work(exclusive=True, group="recall")
    async def recall(self, now: float) -> None:
        """The sparklines of the partitions that are seen, and the timeline."""
        if not self.query("#events"):
            return  # it is being made, or was left
        seen = [TopicPartition(*place_of(partition)) for partition in self.query_one("#partitions", Rows).in_view]
        whole = self.state.trails.of(self.group) if self.state.trails is not None else []
        begun = max(whole[0][0], now - KEEP) if whole else now
        step = max((now - begun) / (2 * SPARK - 1), self.session.interval)
        moments = [now - step * back for back in range(2 * SPARK - 1, -1, -1)]
        trails = await self.session.lags(self.group, seen, moments)
        happened = await self.session.events(self.group)
        if not self.query("#events"):
            return
        self._sparks.update({at: spark(trail) for at, trail in zip(seen, trails, strict=True)})
        if self.standing is not None:
            self.query_one("#partitions", Rows).put(self.standing.partitions)
        self.query_one("#events", Rows).put(reversed(happened))

    # -- where one goes from here ---

    @property
    def partition(self) -> PartitionFigures | None:
        """The partition under the cursor."""
        return self.query_one("#partitions", Rows).row

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "partitions" and not self.refused("reading records"):
            sample = event.row.lag.sample
            at = TopicPartition(sample.topic, sample.partition)
            offset = sample.committed if sample.committed is not None else sample.start or 0
            self.go(routes.Records((at.topic,), around=(at, offset), next_of=self.group))
        elif event.rows.id == "members":
            self.go(routes.Member(self.group, event.row.member_id))
        elif event.rows.id == "topics":
            self.go(routes.Topic(event.row.total.topic))

    @property
    def acts_about(self) -> str:
        return f"group {self.group}"

    def acts(self) -> list[Act]:
        acts = of_group(self, self.group, self.action_reset, self.standing)
        member = self.query_one("#members", Rows).row if self.tab == "members" else None
        return [*(of_member(self, self.group, member) if member is not None else []), *acts]

    def action_reset(self) -> None:
        """The scope of a reset: the partition or the topic under the cursor of the tab that is shown, or all."""
        if self.refused("a reset"):
            return
        from kcli.tui.dialogs.reset import Reset

        at: TopicPartition | str | None = None
        if self.tab == "partitions" and self.partition is not None:
            at = TopicPartition(*place_of(self.partition))
        elif self.tab == "topics" and (row := self.query_one("#topics", Rows).row) is not None:
            at = row.total.topic
        self.app.push_screen(Reset(self.session, [self.group], at))

    def on_mount(self) -> None:
        self.query_one("#partitions", Rows).focus()

    # -- columns ---

    def _partition_columns(self) -> list[Column]:
        return [
            *standing_columns(),
            Column(
                "spark",
                "LAST",
                nothing,
                draw=lambda p: Cell(self._sparks.get(TopicPartition(*place_of(p)), ""), calm(p.status)),
                right=True,
                rank=5,
            ),
            Column("committed", "COMMITTED", lambda p: p.lag.sample.committed, exact, right=True, letter="C", rank=3),
            Column("end", "END", lambda p: p.lag.sample.end, exact, right=True, rank=4),
            Column("in", "IN/S", lambda p: p.in_rate, rate, right=True, letter="I", rank=2),
            Column("out", "OUT/S", lambda p: p.out_rate, rate, right=True, letter="O", rank=2),
            Column("eta", "ETA", lambda p: p.eta, draw=until, right=True, letter="E"),
            Column(
                "time", "TIME LAG", lambda p: p.time_lag, draw=lambda p: Cell(age(p)), right=True, letter="T", rank=2
            ),
            *_reader_columns(),
        ]


def _reader_columns() -> list[Column]:
    return [
        Column("member", "MEMBER", lambda p: p.lag.sample.client_id, printable, letter="M", rank=6),
        Column("host", "HOST", lambda p: p.lag.sample.host, printable, rank=7),
    ]


def _member_columns() -> list[Column]:
    return [
        Column("member", "MEMBER", who, draw=lambda m: Cell(printable(who(m))), letter="N", rank=0, name=True),
        Column("client", "CLIENT", lambda m: m.client_id, printable, rank=2),
        Column("host", "HOST", lambda m: m.host, printable),
        Column("count", "PARTITIONS", lambda m: len(m.assignment), right=True, letter="P"),
        Column("owns", "OWNS", nothing, draw=lambda m: Cell(_owned(m.assignment)), rank=3, wide=True),
    ]


def _topic_columns() -> list[Column]:
    return [
        Column("topic", "TOPIC", lambda t: t.total.topic, printable, letter="N", rank=0, name=True),
        status_column(),
        lag_column(),
        Column("partitions", "PARTITIONS", lambda t: t.total.partitions, right=True),
        Column("in", "IN/S", lambda t: t.in_rate, rate, right=True, letter="I"),
        Column("out", "OUT/S", lambda t: t.out_rate, rate, right=True, letter="O"),
        Column("eta", "ETA", lambda t: t.eta, draw=until, right=True, letter="E"),
    ]


def _event_columns(clock: Callable[[], float]) -> list[Column]:
    return [
        Column(
            "time",
            "TIME",
            lambda e: e.time,
            draw=lambda e: Cell(clocked(e.time, clock()), "dim"),
            rank=0,
        ),
        Column("kind", "WHAT", lambda e: e.kind, letter="K"),
        Column("text", "", lambda e: e.text, printable, rank=0, wide=True, most=200),
    ]


def _loudness(standing: PartitionFigures) -> tuple[int, int, str, int]:
    return -SEVERITY.index(standing.status), -(standing.lag.lag or 0), *place_of(standing)


def _owned(assignment: list[TopicPartition]) -> str:
    """`orders 0 1 2, payments 4`."""
    topics: dict[str, list[int]] = {}
    for at in sorted(assignment):
        topics.setdefault(at.topic, []).append(at.partition)
    return printable(", ".join(f"{topic} {' '.join(map(str, some))}" for topic, some in topics.items()))


class Member(Page):
    """The page of a member; it stays when the member goes, and says so."""

    def __init__(self, state: State, route: routes.Member) -> None:
        super().__init__(state, route)
        self.group = route.group
        self.member_id = route.member_id
        self._member: Described | None = None
        self._lag = DASH

    @property
    def heading(self) -> str:
        if self._member is None:
            gone = ": it is not there (any more)" if self.state.snapshot is not None else ""
            return f"Member {printable(self.member_id)} of {printable(self.group)}{gone}"
        member = self._member
        at = f"{printable(who(member))}  {len(member.assignment)} partitions  lag {self._lag}"
        return f"Member {at}  of group {printable(self.group)}"

    @property
    def same_as(self) -> str:
        return f"kcli groups members {quoted(self.group)}"

    def body(self) -> ComposeResult:
        empty = "It owns no partitions now."
        yield Rows(_columns(), key=place_of, order=place_of, enters="Read", id="partitions", empty=empty)

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        group = next((group for group in snapshot.groups if group.described.group == self.group), None)
        members = group.described.members if group is not None else []
        self._member = next((member for member in members if member.member_id == self.member_id), None)
        if self._member is None or group is None:
            self.query_one(Rows).settle()
            return
        own = set(self._member.assignment)
        rows = [partition for partition in group.partitions if TopicPartition(*place_of(partition)) in own]
        self._lag = lag_text([total([row.lag for row in rows], self.group)])
        self.query_one(Rows).put(rows)

    @property
    def acts_about(self) -> str:
        return f"member {printable(who(self._member)) if self._member is not None else printable(self.member_id)}"

    def acts(self) -> list[Act]:
        return of_member(self, self.group, self._member) if self._member is not None else []

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if self.refused("reading records"):
            return
        sample = event.row.lag.sample
        at = TopicPartition(sample.topic, sample.partition)
        offset = sample.committed if sample.committed is not None else sample.start or 0
        self.go(routes.Records((at.topic,), around=(at, offset), next_of=self.group))


def _columns() -> list[Column]:
    return [
        *standing_columns(),
        Column("committed", "COMMITTED", lambda p: p.lag.sample.committed, exact, right=True, letter="C", rank=2),
        Column("end", "END", lambda p: p.lag.sample.end, exact, right=True, rank=3),
        Column("in", "IN/S", lambda p: p.in_rate, rate, right=True, letter="I"),
        Column("out", "OUT/S", lambda p: p.out_rate, rate, right=True, letter="O"),
        Column("time", "TIME LAG", lambda p: p.time_lag, draw=lambda p: Cell(age(p)), right=True, letter="T"),
    ]
