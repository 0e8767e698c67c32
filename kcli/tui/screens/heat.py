"""The heatmap: each partition of each topic, or of each broker, as a shade: lag, rate, size or age."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kcli.admin.storage import log_dirs
from kcli.admin.topics.topics import Topic as Described
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import good
from kcli.asking.offsets import LATEST, list_offsets
from kcli.lag.formats.page import STATUSES
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, count, duration, rate, size
from kcli.tui import routes
from kcli.tui.actions.menus import of_partition
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable
from kcli.tui.themes import STEPS, heat
from kcli.tui.widgets.columns import SPREAD, Cell, Column, nothing
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
NAMES = {"lag": "lag", "rate": "records written per second", "size": "bytes of the leader", "age": "time lag"}
EACH, LEAST, MOST = 3, 2, 9  # cells of a partition with the gap after it: usually, without room, on a wide screen
NAMED = 64  # cells of a wide table that are not of tiles
TILE, ZERO = "▆", "·"
SHADE = "shade "  # what a tone begins with that is a colour of the heatmap
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
    """Lag or time lag (seconds) of each partition that a group reads: of the group that has most of it. It is not 0
    while that of a group is unknown."""
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
            both = [found[at].value, value] if at in found else [value]
            largest = max((one for one in both if one is not None), default=None)
            if None in both and not largest:
                largest = None
            found[at] = Heat(at, largest, "accent" if measure == "rate" else tone)
    return found


def of_cluster(now: Cluster, before: Cluster | None, measure: str) -> dict[TopicPartition, Heat]:
    """Bytes of each partition, or what was written per second since the answer before."""
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
    return [low * (top / low) ** (n / STEPS) for n in range(STEPS)]


def shade(value: float, steps: Sequence[float]) -> int:
    """The place of a figure among the shades."""
    return max(sum(value >= one * (1 - 1e-9) for one in steps) - 1, 0) if low_to_top(steps) else STEPS - 1


def low_to_top(steps: Sequence[float]) -> bool:
    """Whether there are different figures at all."""
    return bool(steps) and steps[0] < steps[-1]


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
        yield Static(id="legend", markup=False)
        yield Grid(UNITS["lag"], id="heat", empty="Nothing is known of this.")

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
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
        if self.state.snapshot is None:
            return  # nothing is known of lag yet: the cursor is to begin at the worst row
        grid = self.query_one(Grid)
        heats = self._heats()
        topics = self._now.topics if self._now is not None else ()
        rows: list[HeatRow] = by_topic(heats, topics) if self._by == "topics" else by_broker(heats, topics)
        grid.empty = "Nothing is known of this." if self.session.live else "A recording does not hold this."
        grid.measure(UNITS[self._measure], rows)
        self.query_one("#legend", Static).update(grid.legend)
        self.retitle()

    def _heats(self) -> dict[TopicPartition, Heat]:
        """What groups know first: their rates are there from the first refresh on."""
        found: dict[TopicPartition, Heat] = {}
        if self.state.snapshot is not None and self._measure != "size":
            found = of_groups(self.state.snapshot, self._measure)
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
        self._top = 0.0
        self.partition = 0
        super().__init__(
            self._columns(), key=lambda row: row.name, order=lambda row: (-row.hottest, row.name), **options
        )

    def measure(self, unit: Callable[[float | None], str], rows: Sequence[HeatRow]) -> None:
        """Other figures."""
        self.unit = unit
        self._steps = steps(cell.value for row in rows for cell in row.cells)
        self._top = max((row.hottest for row in rows), default=0.0)
        self._widest.clear()
        self.put(rows)

    @property
    def legend(self) -> Text:
        """What the shades mean, in their colours."""
        found = Text()
        if self._steps:
            for n, style in enumerate(self._shades if low_to_top(self._steps) else self._shades[-1:]):
                if n % (STEPS // 3) == 0:
                    found.append(f"{' ' * bool(n)}{self.unit(self._steps[n])} ")
                found.append(TILE, style)
            found.append(f" {self.unit(self._top)}  ")
        return found.append(f"{ZERO} 0  {DASH} unknown", self._style("dim").without_color + Style(dim=True))

    @property
    def _shades(self) -> tuple[Style, ...]:
        return heat(dark=self.app.current_theme.dark)

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
            Column("name", "NAME", lambda row: row.name, draw=_name, letter="N", rank=0, name=True),
            Column("sum", "SUM", lambda row: row.total, lambda one: self.unit(one), right=True, letter="S", rank=0),
            Column("most", "MOST", _most, lambda one: self.unit(one), right=True, letter="M", rank=2),
            Column(
                "heat",
                " PARTITIONS",
                nothing,
                draw=lambda row: Cell(TILE * (self._each * len(row.cells) + 1)),
                pieces=self._tiles,
                rank=0,
                wide=True,
                most=1000,
            ),
        ]

    @property
    def _each(self) -> int:
        """The cells of a partition: more than usual where the terminal is wide and no topic has many."""
        longest = max((len(row.cells) for row in self.shown), default=1)
        return min(max((self.size.width - NAMED) // longest, EACH), MOST) if self.size.width >= SPREAD else EACH

    def _tiles(self, row: HeatRow, room: int) -> list[Cell]:
        """A tile for each partition, with a gap after it; where there are more partitions than room, each tile is the
        hottest of some. Brackets are around the one under the cursor."""
        each = next((each for each in (self._each, EACH) if len(row.cells) * each < room), LEAST)
        some = max(-(-len(row.cells) // max((room - 1) // each, 1)), 1)
        at = min(self.partition, len(row.cells) - 1) // some if row is self.row else -1
        pieces = [Cell("[" if at == 0 else " ", "head")]
        for n, first in enumerate(range(0, len(row.cells), some)):
            hottest = max(row.cells[first : first + some], key=lambda cell: -1.0 if cell.value is None else cell.value)
            if hottest.value:
                glyph, tone = TILE, f"{SHADE}{shade(hottest.value, self._steps)}"
            else:
                glyph, tone = DASH if hottest.value is None else ZERO, "dim"
            gap = "]" if n == at else "[" if n == at - 1 else " "
            pieces += [Cell(glyph * (each - 1), tone), Cell(gap, "head")]
        return pieces

    def _tone(self, cell: Cell, here: bool) -> Style:
        if cell.tone.startswith(SHADE):
            return self._shades[int(cell.tone.removeprefix(SHADE))]
        return Style(bold=True) if cell.tone == "head" else super()._tone(cell, here)


def _name(row: HeatRow) -> Cell:
    """In the tone of its worst partition."""
    tones = {cell.tone for cell in row.cells if cell.value}
    return Cell(printable(row.name), next((tone for tone in ("bad", "warn") if tone in tones), ""))


def _most(row: HeatRow) -> float | None:
    return row.hottest if row.total is not None else None
