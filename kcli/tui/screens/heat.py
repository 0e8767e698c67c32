"""The heatmap: each partition of each topic, or of each broker, as a shade: lag, rate, size or age."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from kcli.admin.storage.disks import log_dirs
from kcli.admin.topics.topics import Topic as Described
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import good
from kcli.asking.offsets import LATEST, list_offsets
from kcli.lag.formats.marks import STATUSES
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition
from kcli.text.numbers import count, duration, rate, size
from kcli.tui import routes
from kcli.tui.actions.menus import of_partition
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kcli.admin.topics.topics import Topic
    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

UNITS: dict[str, Any] = {
    "lag": lambda value: count(None if value is None else round(value)),
    "rate": lambda value: f"{rate(value)}/s",
    "size": lambda value: size(None if value is None else round(value)),
    "age": duration,
}
NAMES = {"lag": "lag", "rate": "records written a second", "size": "bytes of the leader", "age": "time lag"}
EACH = 2  # cells of a partition, where there is room
SHADES = "·░▒▓█"
"""From nothing to the hottest; unknown is a blank."""
MEASURES = ("lag", "rate", "size", "age")


class Heat(NamedTuple):
    """A partition: `value` None is unknown; `tone` is that of its worst group, or accent."""

    at: TopicPartition
    value: float | None
    tone: str = "accent"


class HeatRow(NamedTuple):
    """A topic or a broker, with its partitions in order."""

    name: str
    cells: tuple[Heat, ...]

    @property
    def hottest(self) -> float:
        """Its largest figure."""
        return max((cell.value or 0.0 for cell in self.cells), default=0.0)

    @property
    def total(self) -> float | None:
        """The sum of what is known."""
        known = [cell.value for cell in self.cells if cell.value is not None]
        return sum(known) if known else None


class Cluster(NamedTuple):
    """What the cluster was asked: partitions with their leaders, ends at a time, and bytes."""

    topics: Sequence[Topic]
    ends: Mapping[TopicPartition, int]
    sizes: Mapping[TopicPartition, int]
    time: float


def of_groups(snapshot: LagSnapshot, measure: str) -> dict[TopicPartition, Heat]:
    """Lag or time lag (seconds) of each partition that a group reads: of the group that has most of it."""
    found: dict[TopicPartition, Heat] = {}
    worst: dict[TopicPartition, int] = {}
    for group in snapshot.groups:
        for part in group.partitions:
            at = TopicPartition(part.lag.sample.topic, part.lag.sample.partition)
            value = {"lag": part.lag.lag, "age": part.time_lag, "rate": part.in_rate}.get(measure)
            if measure == "age" and value is None and part.lag.lag == 0:
                value = 0.0
            severity = SEVERITY.index(part.status)
            tone = STATUSES[part.status][1] if severity >= worst.get(at, -1) else found[at].tone
            worst[at] = max(severity, worst.get(at, -1))
            before = found[at].value if at in found else None
            largest = max((one for one in (before, value) if one is not None), default=None)
            found[at] = Heat(at, largest, "accent" if measure == "rate" else tone)
    return found


def of_cluster(now: Cluster, before: Cluster | None, measure: str) -> dict[TopicPartition, Heat]:
    """Bytes of each partition, or what was written a second since the answer before."""
    if measure == "size":
        return {at: Heat(at, float(size)) for at, size in now.sizes.items()}
    if before is None or now.time <= before.time:
        return {}
    return {
        at: Heat(at, max(end - before.ends[at], 0) / (now.time - before.time))
        for at, end in now.ends.items()
        if at in before.ends
    }


def by_topic(heats: Mapping[TopicPartition, Heat], topics: Iterable[Topic]) -> list[HeatRow]:
    """A row for each topic; partitions of which nothing is known are blank."""
    every = {TopicPartition(topic.topic, one.partition) for topic in topics for one in topic.partitions} | heats.keys()
    rows: dict[str, list[Heat]] = {}
    for at in sorted(every):
        rows.setdefault(at.topic, []).append(heats.get(at) or Heat(at, None))
    return [HeatRow(name, tuple(cells)) for name, cells in rows.items()]


def by_broker(heats: Mapping[TopicPartition, Heat], topics: Iterable[Topic]) -> list[HeatRow]:
    """A row for each broker, of the partitions that it leads, the hottest first."""
    rows: dict[int, list[Heat]] = {}
    for topic in topics:
        for one in topic.partitions:
            at = TopicPartition(topic.topic, one.partition)
            rows.setdefault(one.leader, []).append(heats.get(at) or Heat(at, None))
    return [
        HeatRow(
            f"broker {number}" if number >= 0 else "no leader",
            tuple(sorted(cells, key=lambda cell: (-(cell.value or 0.0), cell.at))),
        )
        for number, cells in sorted(rows.items())
    ]


def steps(values: Iterable[float | None]) -> list[float]:
    """The figures from which each shade begins, from the second on: equal ratios between the smallest and the largest.
    [] where there is nothing but zeros."""
    known = [value for value in values if value]
    if not known:
        return []
    low, top = min(known), max(known)
    many = len(SHADES) - 1
    return [low * (top / low) ** (n / many) for n in range(many)]


def shade(value: float | None, steps: Sequence[float]) -> str:
    """The glyph of a figure."""
    if value is None:
        return " "
    if not value or not steps:
        return SHADES[0]
    return SHADES[max(sum(value >= one * (1 - 1e-9) for one in steps), 1)]


class Heatmap(Page):
    """The page of the heatmap. In a recording there are the partitions that groups read, and no sizes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(n), f"measure('{name}')", NAMES[name].capitalize(), show=False, id=f"heatmap.{name}")
            for n, name in enumerate(MEASURES, 1)
        ),
        Binding("b", "turn", "By broker", id="heatmap.turn"),
    ]

    def __init__(self, state: State, route: routes.Heatmap) -> None:
        super().__init__(state, route)
        self._by = "topics"
        self._measure = "lag"
        self._now: Cluster | None = None
        self._before: Cluster | None = None

    @property
    def heading(self) -> str:
        pieces = [f"Heatmap: {NAMES[self._measure]} by {'topic' if self._by == 'topics' else 'leader'}"]
        grid = self.query_one(Grid) if self.is_mounted else None
        if grid is not None:
            here = grid.here
            if here is not None:
                pieces.append(f"{printable(here.at.topic)}[{here.at.partition}] {grid.unit(here.value)}")
            pieces.append(grid.legend)
        return "  ".join(filter(None, pieces))

    @property
    def same_as(self) -> str:
        if self._measure in ("lag", "age"):
            return "kcli lag --by partition --watch"
        return "kcli logdirs replicas" if self._measure == "size" else "kcli topics stats --sort rate"

    @property
    def topic_here(self) -> str:
        here = self.query_one(Grid).here
        return here.at.topic if here is not None else ""

    def body(self) -> ComposeResult:
        yield Grid(UNITS["lag"], id="heat", empty="Nothing is known of this.")

    def looked(self, snapshot: LagSnapshot) -> None:
        self._draw()

    async def fetch(self, client: Client) -> Any:
        described = await describe_topics(client.cluster, None, internal=False)
        topics = [topic for topic in described.values() if isinstance(topic, Described)]
        led = [
            TopicPartition(topic.topic, one.partition)
            for topic in topics
            for one in topic.partitions
            if one.leader >= 0
        ]

        async def timed_ends() -> tuple[dict[TopicPartition, int], float]:
            answers = good(await list_offsets(client.cluster, dict.fromkeys(led, LATEST)))
            return {at: answer.offset for at, answer in answers.items() if answer.offset >= 0}, time.time()

        (ends, now), (places, _) = await asyncio.gather(timed_ends(), log_dirs(client.cluster))
        leaders = {(topic.topic, one.partition): one.leader for topic in topics for one in topic.partitions}
        sizes = {
            TopicPartition(replica.topic, replica.partition): replica.size
            for place in places
            for replica in place.replicas
            if not replica.future and leaders.get((replica.topic, replica.partition)) == replica.broker
        }
        return Cluster(topics, ends, sizes, now)

    def fetched(self, answer: Cluster) -> None:
        if self._now is None or answer.time - self._now.time >= self.session.interval / 2:
            self._before = self._now
        self._now = answer
        self._draw()

    def _draw(self) -> None:
        if self.state.look is None:
            return  # nothing is known of lag yet: the cursor is to begin at the worst row
        grid = self.query_one(Grid)
        heats = self._heats()
        topics = self._now.topics if self._now is not None else ()
        rows: list[HeatRow] = by_topic(heats, topics) if self._by == "topics" else by_broker(heats, topics)
        grid.empty = "Nothing is known of this." if self.session.live else "A recording does not hold this."
        grid.measure(UNITS[self._measure], rows)
        self.retitle()

    def _heats(self) -> dict[TopicPartition, Heat]:
        """What groups know first: their rates are there from the first refresh on."""
        found: dict[TopicPartition, Heat] = {}
        if self.state.look is not None and self._measure != "size":
            found = of_groups(self.state.look, self._measure)
        if self._now is not None and self._measure in ("rate", "size"):
            found |= of_cluster(self._now, self._before, self._measure)
        return found

    def on_rows_moved(self, event: Rows.Moved) -> None:
        self.retitle()

    def on_rows_entered(self, event: Rows.Entered) -> None:
        here = self.query_one(Grid).here
        if here is not None:
            self.go(routes.Topic(here.at.topic))

    @property
    def acts_about(self) -> str:
        here = self.query_one(Grid).here
        return "no partition" if here is None else f"{printable(here.at.topic)}[{here.at.partition}]"

    def acts(self) -> list[Act]:
        here = self.query_one(Grid).here
        return [] if here is None else of_partition(self, here.at.topic, here.at.partition)

    def action_measure(self, name: str) -> None:
        self._measure = name
        self._draw()

    def action_turn(self) -> None:
        """Rows are brokers, or topics again."""
        self._by = "topics" if self._by == "brokers" else "brokers"
        self._draw()


class Grid(Rows):
    """Rows of partitions. left and right move among those of the row; `unit` makes the text of a figure."""

    def __init__(self, unit: Callable[[float | None], str], **options: Any) -> None:
        self.unit = unit
        self._steps: list[float] = []
        self.partition = 0
        super().__init__(
            self._columns(), key=lambda row: row.name, order=lambda row: (-row.hottest, row.name), **options
        )

    def measure(self, unit: Callable[[float | None], str], rows: Sequence[HeatRow]) -> None:
        """Other figures."""
        self.unit = unit
        self._steps = steps(cell.value for row in rows for cell in row.cells)
        self._widest.clear()
        self.put(rows)

    @property
    def legend(self) -> str:
        """What the shades mean."""
        return "  ".join(f"{glyph} ≥{self.unit(one)}" for glyph, one in zip("░▒▓█", self._steps, strict=False))

    @property
    def here(self) -> Heat | None:
        """The partition under the cursor."""
        row = self.row
        return row.cells[min(self.partition, len(row.cells) - 1)] if row is not None and row.cells else None

    def action_shift(self, by: int) -> None:
        row = self.row
        if row is not None:
            self.partition = max(0, min(min(self.partition, len(row.cells) - 1) + by, len(row.cells) - 1))
            self.refresh()
            self.post_message(self.Moved(self, row))

    def _columns(self) -> list[Column]:
        return [
            Column("name", "NAME", lambda row: row.name, printable, letter="N", rank=0, name=True),
            Column("sum", "SUM", lambda row: row.total, lambda one: self.unit(one), right=True, letter="S", rank=0),
            Column("most", "MOST", _most, lambda one: self.unit(one), right=True, letter="M", rank=2),
            Column(
                "heat",
                "PARTITIONS",
                nothing,
                draw=lambda row: Cell("█" * EACH * len(row.cells)),
                pieces=self._shades,
                rank=0,
                wide=True,
                most=1000,
            ),
        ]

    def _shades(self, row: HeatRow, room: int) -> list[Cell]:
        """As many cells a partition as there is room for; where there are more partitions than cells, each cell is the
        hottest of some."""
        each = EACH if len(row.cells) * EACH <= room else 1
        some = max(-(-len(row.cells) // room), 1) if room else 1
        pieces = []
        for first in range(0, len(row.cells), some):
            cells = row.cells[first : first + some]
            hottest = max(cells, key=lambda cell: -1.0 if cell.value is None else cell.value)
            here = row is self.row and first <= min(self.partition, len(row.cells) - 1) < first + some
            glyph = shade(hottest.value, self._steps)
            quiet = hottest.tone == "good" or not hottest.value
            pieces.append(Cell(glyph * each, "here" if here else "dim" if quiet else hottest.tone))
        return pieces


def _most(row: HeatRow) -> float | None:
    return row.hottest if row.total is not None else None
