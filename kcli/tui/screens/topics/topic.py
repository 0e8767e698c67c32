"""One topic: its partitions and how evenly they are filled, its configs, the groups that read it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TabPane

from kcli.admin.configs import Resource
from kcli.admin.storage import log_dirs
from kcli.admin.topics.stats import ends_before
from kcli.admin.topics.topics import add_eligible, describe_topics
from kcli.asking.fan_out import good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, TieredOffsets, list_offsets, tiered_offsets
from kcli.errors import KcliError
from kcli.lag.history import topics_of
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition
from kcli.text.numbers import rate, size
from kcli.tui import routes
from kcli.tui.actions.menus import of_config, of_partition, of_topic
from kcli.tui.dialogs.configs import about
from kcli.tui.screens.columns import lag_column, status_column
from kcli.tui.screens.groups import until
from kcli.tui.screens.page import Page
from kcli.tui.text.chart import Chart
from kcli.tui.text.formatting import bar, exact
from kcli.tui.text.incidents import Line, Word, group_lines
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.configs import Configs, ask_configs, value_of
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.admin.configs import Config
    from kcli.admin.topics.topics import Partition
    from kcli.admin.topics.topics import Topic as Described
    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

CONFIG = 38  # cells of the name of a config beside the plot
LAST = 20  # records of a partition that are shown
POINTS = 360  # of the plot


class Answer(NamedTuple):
    """All that is asked about a topic at once; `at` is when its ends were read, `before` what they were at moments of
    the minute before, asked for once."""

    topic_id: str | None
    rows: list[PartitionRow]
    configs: list[Config] | KcliError
    at: float
    before: list[tuple[float, int]] = []  # noqa: RUF012  # nothing writes to it


class Topic(Page):
    """The page of a topic."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('partitions')", "Partitions", show=False, id="topic.partitions"),
        Binding("2", "tab('groups')", "Groups", show=False, id="topic.groups"),
        Binding("3", "tab('configs')", "Configs", show=False, id="topic.configs"),
        Binding("t", "records", "Records", id="topic.records"),
    ]

    unrecorded = "partitions and configs of a topic"
    recorded = ("groups",)

    def __init__(self, state: State, route: routes.Topic) -> None:
        super().__init__(state, route)
        self.topic = route.name
        self._gone = False
        self._topic_id: str | None = None
        self._tiered = False
        self._configs: list[Config] = []
        self._documented: dict[str, str] = {}  # configs by name, asked for once
        self._readers: list[Line] = []
        self._end: tuple[float, int] | None = None
        self._written: deque[tuple[float, float]] = deque(maxlen=POINTS)

    @property
    def heading(self) -> str:
        return f"Topic {printable(self.topic)}{': it is not there (any more)' if self._gone else ''}"

    @property
    def same_as(self) -> str:
        if self.tab == "configs":
            return f"kcli configs get topic {quoted(self.topic)} --all"
        return f"kcli topics describe {quoted(self.topic)}"

    @property
    def resource(self) -> Resource:
        return Resource("topic", self.topic)

    @property
    def topic_here(self) -> str:
        return self.topic

    def body(self) -> ComposeResult:
        with Vertical(id="details"):
            yield Plot(title="written per second", empty="A rate needs two answers: wait for the next one.", id="plot")
            yield Lines(id="about")
        with Tabs():
            with TabPane("Partitions", id="tab-partitions"):
                yield Rows(
                    partition_columns(),
                    key=number_of,
                    order=number_of,
                    enters="Read",
                    id="partitions",
                    empty="No partitions known.",
                )
            with TabPane("Groups", id="tab-groups"):
                yield Rows(
                    group_columns(),
                    key=lambda g: g.described.group,
                    id="groups",
                    empty="No group has committed a position here.",
                )
            with TabPane("Configs", id="tab-configs"):
                yield Configs()

    def on_mount(self) -> None:
        self.query_one("#partitions", Rows).focus()

    @on(Tabs.TabActivated)
    def make_room(self) -> None:
        """A low screen has no plot beside the configs, which it is not about."""
        self.set_class(self.tab == "configs", "-configs")
        self._draw_about()

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self.read_by(snapshot)

    @work(exclusive=True, group="read_by")
    async def read_by(self, snapshot: LagSnapshot) -> None:
        """The groups that read this topic; keys get their turns while many groups are gone through."""
        here = []
        for number, group in enumerate(snapshot.groups):
            here += topics_of(group, self.topic)
            if number % 20 == 19:
                await asyncio.sleep(0)
        groups = sorted(here, key=lambda g: -SEVERITY.index(g.status))
        self.query_one("#groups", Rows).put(groups)
        self._readers = group_lines("GROUPS", groups)[1:]
        self._draw_about()

    def _draw_about(self) -> None:
        """Beside the plot: the groups that read the topic, and its configs; on the tab of configs the one under the
        cursor, with what Kafka says about it."""
        if not self.is_there:
            return
        about, config = self.query_one("#about", Lines), self.query_one("#configs", Rows).row
        room = self.query_one("#details").region.bottom - about.region.y - len(self._readers)
        if self.tab == "configs" and config is not None:
            below = config_facts(config, self._documented)
        else:
            below = config_lines(self._configs, room)
        about.put([*self._readers, *below])

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._draw_about)

    def on_rows_moved(self, event: Rows.Moved) -> None:
        if event.rows.id == "configs":
            self._draw_about()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """A click on a group beside the plot opens it."""
        self.go(routes.Group(event.key))

    async def fetch(self, client: Client) -> Any:
        topic = (await describe_topics(client.cluster, [self.topic])).get(self.topic)
        if topic is None:
            raise KcliError(f"{self.topic}: the broker's response does not contain it")
        if isinstance(topic, TopicMissing):
            return None
        if isinstance(topic, KcliError):
            raise topic
        at = [
            TopicPartition(self.topic, partition.partition) for partition in topic.partitions if partition.leader >= 0
        ]
        wanted = {self.topic: [partition.partition for partition in topic.partitions]}

        async def timed_ends() -> tuple[Any, float]:
            return await list_offsets(client.cluster, dict.fromkeys(at, LATEST)), time.time()

        (ends, now), starts, tiers, (places, _), configs, _ = await asyncio.gather(
            timed_ends(),
            list_offsets(client.cluster, dict.fromkeys(at, EARLIEST)),
            tiered_offsets(client.cluster, at),
            log_dirs(client.cluster, wanted),
            ask_configs(client, "topic", self.topic, documentation=not self._documented),
            add_eligible(client.cluster, [topic]),
        )
        sizes = {
            (replica.partition, replica.broker): replica.size
            for place in places
            for replica in place.replicas
            if not replica.future
        }
        known = {at: one.offset for at, one in good(ends).items() if one.offset >= 0}
        before = []
        if self._end is None and len(known) == len(ends):
            before = await ends_before(client.cluster, known, now=now)
        rows = partition_rows(topic, starts, ends, sizes, tiers)
        return Answer(topic.topic_id, rows, configs, now, before)

    def _plot(self, rows: list[PartitionRow], now: float, before: list[tuple[float, int]]) -> None:
        """How much was written since the answer before, a second; a partition that did not answer leaves a gap. Answers
        that follow one another at once (the first two do) say nothing about a rate: writers write in batches. The first
        one knows the minute before."""
        if any(row.end is None for row in rows):
            self._end = None
            return
        end = sum(row.end or 0 for row in rows)
        if self._end is None and before:
            self._add(rates_between([*before, (now, end)]))
        elif self._end is not None:
            if now < self._end[0] + self.session.interval / 2:
                return
            self._add(rates_between([self._end, (now, end)]))
        self._end = (now, end)

    def _add(self, points: list[tuple[float, float]]) -> None:
        """Draw those that are newer than all before: after a gap the minute before an answer is partly drawn."""
        last = self._written[-1][0] if self._written else 0.0
        self._written += [point for point in points if point[0] > last]
        if not self._written:
            return
        plot = self.query_one(Plot)
        plot.title = f"written per second  now {rate(self._written[-1][1])}"
        plot.put(Chart(points=list(self._written), unit=rate, whole=False))

    def counted(self) -> list[tuple[str, int]]:
        return [*super().counted(), ("points of the plot", len(self._written))]

    def fetched(self, answer: Answer | None) -> None:
        self._gone = answer is None
        partitions = self.query_one("#partitions", Rows)
        partitions.empty = "The topic was deleted, or never was." if self._gone else "No partitions known."
        if answer is None:
            self._end = None
            partitions.put([])
            self.query_one(Configs).put([])
            self.retitle()
            return
        if answer.topic_id != self._topic_id:  # another topic of the same name
            self._topic_id, self._end = answer.topic_id, None
            self._written.clear()
        self.retitle()
        self._plot(answer.rows, answer.at, answer.before)
        tiered = any(row.tiers is not None for row in answer.rows)
        if tiered != self._tiered:
            self._tiered = tiered
            partitions.have(partition_columns(tiered=tiered))
        partitions.put(answer.rows)
        self.query_one(Configs).put(answer.configs)
        configs = answer.configs if isinstance(answer.configs, list) else []
        self._documented |= {one.name: one.documentation for one in configs if one.documentation}
        if configs != self._configs:
            self._configs = configs
            if self.state.snapshot is not None:
                self.read_by(self.state.snapshot)

    @property
    def acts_about(self) -> str:
        return f"topic {self.topic}"

    def acts(self) -> list[Act]:
        row = self.query(f"#{self.tab}").first(Rows).row
        if self.tab == "partitions" and row is not None:
            return of_partition(self, self.topic, row.partition.partition)
        config = row if self.tab == "configs" else None
        return [*of_config(self, self.resource, config), *of_topic(self, self.topic)]

    def action_records(self) -> None:
        if self.refused("reading records"):
            return
        self.go(routes.Records((self.topic,)))

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "groups":
            self.go(routes.Group(event.row.described.group))
        elif event.rows.id == "partitions" and not self.refused("reading records"):
            self._last_records(event.row)

    def _last_records(self, row: PartitionRow) -> None:
        """The newest records of a partition, and those that come."""
        end, at = row.end or 0, TopicPartition(self.topic, row.partition.partition)
        first = max(end - LAST, row.start or 0)
        self.go(routes.Records((self.topic,), around=(at, first), why="the last ones"))


def rates_between(ends: list[tuple[float, int]]) -> list[tuple[float, float]]:
    """Offsets a second between one moment and the next, each with the time of the later one."""
    return [(later, max(end - start, 0) / (later - earlier)) for (earlier, start), (later, end) in pairwise(ends)]


class PartitionRow(NamedTuple):
    """A partition, where its log starts and ends, its leader's bytes, its share of the largest partition, and with
    tiered storage what is there."""

    partition: Partition
    start: int | None
    end: int | None
    size: int | None
    share: float
    tiers: TieredOffsets | None = None


def partition_rows(
    topic: Described,
    starts: Any,
    ends: Any,
    sizes: dict[tuple[int, int], int],
    tiers: dict[TopicPartition, TieredOffsets],
) -> list[PartitionRow]:
    """Partitions with their offsets and sizes; the share is of bytes, else of offsets."""

    def offset(answers: Any, partition: int) -> int | None:
        one = answers.get(TopicPartition(topic.topic, partition))
        return None if one is None or isinstance(one, KcliError) or one.offset < 0 else one.offset

    raw = [
        (
            partition,
            offset(starts, partition.partition),
            offset(ends, partition.partition),
            sizes.get((partition.partition, partition.leader)),
        )
        for partition in topic.partitions
    ]
    weights = [float(bytes_ if bytes_ is not None else (end or 0) - (start or 0)) for _, start, end, bytes_ in raw]
    most = max(weights, default=0.0)
    return [
        PartitionRow(*one, weight / most if most else 0.0, tiers.get(TopicPartition(topic.topic, one[0].partition)))
        for one, weight in zip(raw, weights, strict=True)
    ]


def number_of(row: PartitionRow) -> int:
    """A partition's number."""
    return row.partition.partition


def partition_columns(*, tiered: bool = False) -> list[Column]:
    """The columns of partitions, with those of tiered storage where the topic has it."""

    def tier(name: str) -> Callable[[PartitionRow], int | None]:
        return lambda row: None if row.tiers is None else getattr(row.tiers, name)

    remote = [
        Column("local", "ON DISK FROM", tier("local_start"), exact, right=True, rank=4),
        Column("remote", "REMOTE TO", tier("last"), exact, right=True, rank=4),
    ]
    return [
        Column("partition", "P", lambda r: r.partition.partition, right=True, letter="P", rank=0),
        Column(
            "leader",
            "LEADER",
            lambda r: r.partition.leader,
            draw=lambda r: Cell(
                str(r.partition.leader) if r.partition.leader >= 0 else "none", "" if r.partition.leader >= 0 else "bad"
            ),
            right=True,
            letter="L",
        ),
        Column("replicas", "REPLICAS", lambda r: len(r.partition.isr), draw=_replicas, letter="R", rank=3, wide=True),
        Column("start", "START", lambda r: r.start, exact, right=True, rank=4),
        *(remote if tiered else ()),
        Column("end", "END", lambda r: r.end, exact, right=True, letter="E", rank=2),
        Column("size", "SIZE", lambda r: r.size, size, right=True, letter="S"),
        Column(
            "skew",
            "OF THE LARGEST",
            lambda r: r.share,
            draw=lambda r: Cell(bar(r.share), "dim"),
            letter="K",
        ),
    ]


def _replicas(row: PartitionRow) -> Cell:
    """All replicas; without a leader which one is safe to start, those that are behind, and those that may lead
    nevertheless."""
    partition = row.partition
    behind = [node for node in partition.replicas if node not in partition.isr]
    eligible = [("eligible", partition.elr), ("eligible last", partition.last_known_elr)]
    remarks = [partition.advice] if partition.advice else []
    remarks += [f"{word}: {' '.join(map(str, nodes))}" for word, nodes in [("behind", behind), *eligible] if nodes]
    text = " ".join(map(str, partition.replicas))
    return Cell(f"{text} ({'; '.join(remarks)})", "bad") if remarks else Cell(text)


def config_lines(configs: list[Config], room: int) -> list[Line]:
    """All configs beside the plot, those that were changed first; the last line says how many there is no room for."""
    if not configs:
        return []
    lines = [Line([]), Line([Word("CONFIGS", "head"), Word(f"{len(configs)}, those changed first", "dim")])]
    fit = len(configs) if len(configs) <= room - len(lines) else max(room - len(lines) - 1, 0)
    for one in sorted(configs, key=lambda one: (not one.set_here, one.name))[:fit]:
        words = [Word(f"{printable(one.name):<{CONFIG}}", "" if one.set_here else "dim"), Word(value_of(one).text)]
        lines.append(Line(words))
    return [*lines, Line([Word(f"… {len(configs) - fit} more", "dim")])] if fit < len(configs) else lines


def config_facts(config: Config, documented: dict[str, str]) -> list[Line]:
    """What is known of one config: its value in units, its default, and what Kafka says about it."""
    now = about([config], config.name).split("\n")[0].removeprefix("now ")
    facts = [("value ", now), ("about ", documented.get(config.name, ""))]
    lines = [Line([Word(label, "dim"), Word(printable(text))]) for label, text in facts if text]
    return [Line([]), Line([Word("CONFIG", "head"), Word(printable(config.name))]), *lines]


def group_columns() -> list[Column]:
    return [
        Column("group", "GROUP", lambda g: g.described.group, printable, letter="N", rank=0, name=True),
        status_column(),
        lag_column(),
        Column("out", "OUT/S", lambda g: g.out_rate, rate, right=True, letter="O"),
        Column("eta", "ETA", lambda g: g.eta, draw=until, right=True, letter="E"),
    ]
