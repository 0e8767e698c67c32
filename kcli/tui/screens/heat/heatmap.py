"""The heatmap: each partition of each topic, or of each broker, as a shade: lag, rate, size or age."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from kcli.admin.storage.disks import log_dirs
from kcli.admin.topics.topics import Topic as Described
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import good
from kcli.asking.offsets import LATEST, list_offsets
from kcli.model import TopicPartition
from kcli.text.numbers import count, duration, rate, size
from kcli.tui import routes
from kcli.tui.actions.menus.topics import of_partition
from kcli.tui.screens.heat.cells import MEASURES, Cluster, Heat, HeatRow, by_broker, by_topic, of_cluster, of_groups
from kcli.tui.screens.heat.grid import Grid
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State
    from kcli.tui.widgets.rows import Rows

UNITS: dict[str, Any] = {
    "lag": lambda value: count(None if value is None else round(value)),
    "rate": lambda value: f"{rate(value)}/s",
    "size": lambda value: size(None if value is None else round(value)),
    "age": duration,
}
NAMES = {"lag": "lag", "rate": "records written a second", "size": "bytes of the leader", "age": "time lag"}


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
