"""One topic: its partitions and how evenly they are filled, its configs, the groups that read it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TabbedContent, TabPane

from kcli.admin.configs import topic_configs
from kcli.admin.lag import SEVERITY
from kcli.admin.log_dirs import log_dirs
from kcli.admin.offsets import EARLIEST, LATEST, list_offsets
from kcli.admin.topics import Partition, describe_topics
from kcli.admin.topics import Topic as Described
from kcli.errors import KcliError
from kcli.lag.history import topics_of
from kcli.model import TopicPartition
from kcli.tui.figures import DASH, bar, count, rate, size, status
from kcli.tui.screens.groups import until
from kcli.tui.screens.page import Page
from kcli.tui.text import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.lag.watch import Look

BAR = 16
POINTS = 360  # of the plot


class PartitionRow(NamedTuple):
    """A partition, where its log starts and ends, its leader's bytes, and its share of the largest partition."""

    partition: Partition
    start: int | None
    end: int | None
    size: int | None
    share: float


class Answer(NamedTuple):
    """All that is asked about a topic at once."""

    rows: list[PartitionRow]
    configs: list[tuple[str, str | None]]


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

    def __init__(self, topic: str) -> None:
        super().__init__()
        self.topic = topic
        self._end: tuple[float, int] | None = None
        self._written: deque[tuple[float, float]] = deque(maxlen=POINTS)

    @property
    def heading(self) -> str:
        return f"Topic {printable(self.topic)}"

    @property
    def same_as(self) -> str:
        return f"kcli topics describe {quoted(self.topic)}"

    @property
    def topic_here(self) -> str:
        return self.topic

    def body(self) -> ComposeResult:
        yield Plot(title="written a second", id="plot")
        with TabbedContent(id="tabs"):
            with TabPane("Partitions", id="tab-partitions"):
                yield Rows(_columns(), key=lambda r: r.partition.partition, order=lambda r: r.partition.partition,
                           id="partitions", empty="No partitions known.")  # fmt: skip
            with TabPane("Groups", id="tab-groups"):
                yield Rows(_group_columns(), key=lambda g: g.described.group, id="groups",
                           empty="No group has committed a position here.")  # fmt: skip
            with TabPane("Configs", id="tab-configs"):
                yield Rows(_config_columns(), key=lambda c: c[0], id="configs",
                           empty="Nothing was set on this topic itself; the broker's defaults hold.")  # fmt: skip

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#partitions", Rows).focus()

    def looked(self, look: Look) -> None:
        self.read_by(look)

    @work(exclusive=True, group="read_by")
    async def read_by(self, look: Look) -> None:
        """The groups that read this topic; keys get their turns while many groups are gone through."""
        here = []
        for number, group in enumerate(look.groups):
            here += topics_of(group, self.topic)
            if number % 20 == 19:
                await asyncio.sleep(0)
        self.query_one("#groups", Rows).put(sorted(here, key=lambda g: -SEVERITY.index(g.status)))

    async def fetch(self, client: Client) -> Any:
        found = (await describe_topics(client.cluster, [self.topic]))[self.topic]
        if isinstance(found, KcliError):
            raise found
        at = [TopicPartition(self.topic, one.partition) for one in found.partitions if one.leader >= 0]
        wanted = {self.topic: [one.partition for one in found.partitions]}
        ends, starts, (places, _), configs = await asyncio.gather(
            list_offsets(client.cluster, LATEST, at),
            list_offsets(client.cluster, EARLIEST, at),
            log_dirs(client.cluster, wanted),
            topic_configs(client.cluster, [self.topic]),
        )
        sizes = {(one.partition, one.broker): one.size for place in places for one in place.replicas if not one.future}
        set_here = configs.get(self.topic)
        rows = _rows(found, starts, ends, sizes)
        return Answer(rows, list(set_here.items()) if isinstance(set_here, dict) else [])

    def _plot(self, rows: list[PartitionRow]) -> None:
        """How much was written since the answer before, a second; a partition that did not answer leaves a gap."""
        if any(row.end is None for row in rows):
            self._end = None
            return
        now, end = time.time(), sum(row.end or 0 for row in rows)
        if self._end is not None and now > self._end[0]:
            self._written.append((now, max(end - self._end[1], 0) / (now - self._end[0])))
            plot = self.query_one(Plot)
            plot.title = f"written a second  now {rate(self._written[-1][1])}"
            plot.put(list(self._written))
        self._end = (now, end)

    def counted(self) -> list[tuple[str, int]]:
        return [*super().counted(), ("points of the plot", len(self._written))]

    def fetched(self, answer: Answer) -> None:
        self._plot(answer.rows)
        self.query_one("#partitions", Rows).put(answer.rows)
        self.query_one("#configs", Rows).put(answer.configs)

    def action_tab(self, name: str) -> None:
        self.query_one(TabbedContent).active = f"tab-{name}"
        self.query_one(f"#{name}", Rows).focus()

    def action_records(self) -> None:
        if self.refused("reading records"):
            return
        from kcli.tui.screens.records import Records

        self.app.push_screen(Records([self.topic]))

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "groups":
            from kcli.tui.screens.group import Group

            self.app.push_screen(Group(event.row.described.group))


def _rows(topic: Described, starts: Any, ends: Any, sizes: dict[tuple[int, int], int]) -> list[PartitionRow]:
    """Partitions with their offsets and sizes; the share is of bytes, else of offsets."""

    def offset(answers: Any, partition: int) -> int | None:
        one = answers.get(TopicPartition(topic.topic, partition))
        return None if one is None or isinstance(one, KcliError) or one.offset < 0 else one.offset

    raw = [
        (one, offset(starts, one.partition), offset(ends, one.partition), sizes.get((one.partition, one.leader)))
        for one in topic.partitions
    ]
    weights = [float(bytes_ if bytes_ is not None else (end or 0) - (start or 0)) for _, start, end, bytes_ in raw]
    most = max(weights, default=0.0)
    return [PartitionRow(*one, weight / most if most else 0.0) for one, weight in zip(raw, weights, strict=True)]


def _columns() -> list[Column]:
    return [
        Column("partition", "P", lambda r: Cell(str(r.partition.partition)), lambda r: r.partition.partition, True,
               "P", 0),
        Column("leader", "LEADER", lambda r: Cell(str(r.partition.leader) if r.partition.leader >= 0 else "none",
               "" if r.partition.leader >= 0 else "bad"), lambda r: r.partition.leader, True, "L", 1),
        Column("replicas", "REPLICAS", _replicas, lambda r: len(r.partition.isr), letter="R", rank=3),
        Column("start", "START", lambda r: Cell(_exact(r.start)), lambda r: r.start, True, rank=4),
        Column("end", "END", lambda r: Cell(_exact(r.end)), lambda r: r.end, True, "E", 2),
        Column("size", "SIZE", lambda r: Cell(size(r.size)), lambda r: r.size, True, "S", 1),
        Column("skew", "OF THE LARGEST", lambda r: Cell(bar(r.share, BAR), "accent"), lambda r: r.share, letter="K"),
    ]  # fmt: skip


def _replicas(row: PartitionRow) -> Cell:
    """All replicas; those that are behind are named."""
    behind = [node for node in row.partition.replicas if node not in row.partition.isr]
    text = " ".join(map(str, row.partition.replicas))
    return Cell(f"{text} (behind: {' '.join(map(str, behind))})", "bad") if behind else Cell(text)


def _group_columns() -> list[Column]:
    return [
        Column("group", "GROUP", lambda g: Cell(printable(g.described.group)), lambda g: g.described.group, letter="N",
               rank=0, wide=True),
        Column("status", "STATUS", lambda g: Cell(*status(g.status)), lambda g: SEVERITY.index(g.status), letter="S"),
        Column("lag", "LAG", lambda g: Cell(count(g.total.lag)), lambda g: g.total.lag, True, "L"),
        Column("out", "OUT/S", lambda g: Cell(rate(g.out_rate)), lambda g: g.out_rate, True, "O"),
        Column("eta", "ETA", until, lambda g: g.eta, True, "E"),
    ]  # fmt: skip


def _config_columns() -> list[Column]:
    return [
        Column("name", "CONFIG", lambda c: Cell(c[0]), lambda c: c[0], letter="N", rank=0),
        Column("value", "VALUE", lambda c: Cell("(secret)" if c[1] is None else printable(c[1])), lambda c: c[1],
               rank=0, wide=True),
    ]  # fmt: skip


def _exact(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"
