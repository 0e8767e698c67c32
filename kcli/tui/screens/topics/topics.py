"""All topics: how large, how fast, when last written to, and whether every replica is there."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from kcli.admin.topics.stats import TopicStats, TopicStatsReader, last_writes
from kcli.text.numbers import DASH, count, duration, rate, size
from kcli.tui import routes
from kcli.tui.actions.menus import create_topic, of_topic, of_topics
from kcli.tui.messages import TopicsListed
from kcli.tui.screens.topics.pane import Readers, WithPane, topic_lines
from kcli.tui.text.formatting import Kept, how_kept
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.overview import ClusterPlot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

    Details = tuple[dict[str, float], dict[str, Kept], dict[str, float | None]]

EMPTY = "No topics yet. Make one: kcli topics create NAME"
EVEN = 15.0
"""Seconds that rates are of."""


class Topics(WithPane):
    """The topics of the cluster; Kafka's own on request."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "internal", "Kafka's own", show=False, id="topics.internal"),
        Binding("t", "records", "Records", id="topics.records"),
        Binding("x", "unhealthy", "Unhealthy only", show=False, id="topics.unhealthy"),
    ]

    unrecorded = "topics"

    def __init__(self, state: State, route: routes.Topics) -> None:
        super().__init__(state, route)
        self._stats = TopicStatsReader(even=EVEN)
        self._internal = False
        self._unhealthy = False
        self._rows: list[TopicStats] = []
        self._written: dict[str, float] = {}
        self._kept: dict[str, Kept] = {}
        self._first_rates: dict[str, float | None] = {}  # of the last minute, until there are refreshes to compare
        self._first_at = 0.0  # when the oldest of them came: later than `EVEN` seconds after that they are no news
        self._known: int | None = None
        self._readers: Readers | None = None  # of the newest snapshot; made where there is room for a pane

    @property
    def heading(self) -> str:
        if self._known is None:
            return "Topics"
        if self._unhealthy:
            return f"Topics ({len(self._wanted):,} unhealthy of {self._known:,})"
        return f"Topics ({self._known:,})" + (" with Kafka's own" if self._internal else "")

    @property
    def _wanted(self) -> list[TopicStats]:
        return [row for row in self._rows if row.problem] if self._unhealthy else self._rows

    @property
    def same_as(self) -> str:
        order = self.sorted_by("topics")
        return f"kcli topics {'stats' if order else 'list'}{' --internal' if self._internal else ''}{order}"

    @property
    def topic_here(self) -> str:
        row = self.query_one(Rows).row
        return row.topic.topic if row is not None else ""

    def body(self) -> ComposeResult:
        with Vertical(id="details"):
            yield ClusterPlot(self.state)
            yield Lines(id="about")
        yield Rows(
            self._columns(),
            key=lambda row: row.topic.topic,
            order=lambda row: row.topic.topic,
            marks=True,
            id="topics",
            empty=EMPTY,
        )

    async def fetch(self, client: Client) -> Any:
        return await self._stats.read(client.cluster, internal=self._internal)

    def fetched(self, answer: list[TopicStats]) -> None:
        rows = self.query_one(Rows)
        self._rows, self._known = answer, len(answer)
        self._rate_first()
        self.post_message(TopicsListed([row.topic.topic for row in answer]))
        rows.put(self._wanted)
        self._about()
        self.retitle()
        self.call_after_refresh(self._ask_details)  # once it is known which rows are seen

    def _ask_details(self) -> None:
        if not self.is_there:
            return
        in_view = self.query_one(Rows).in_view
        seen = [row.topic for row in in_view]
        unrated = [t for row in in_view if row.rate is None and (t := row.topic).topic not in self._first_rates]

        async def details(client: Client) -> Details:
            written, kept, rates = await asyncio.gather(
                last_writes(client.cluster, seen),
                how_kept(client, [t.topic for t in seen]),
                self._stats.rates_before(client.cluster, unrated),
            )
            return written, kept, {topic.topic: rates.get(topic.topic) for topic in unrated}

        self.asking.once(details, self._detailed)

    def _detailed(self, found: Details) -> None:
        """What is asked only about the topics that are seen."""
        written, kept, rates = found
        self._written.update(written)
        self._kept.update(kept)
        if not self._first_rates:
            self._first_at = time.monotonic()
        self._first_rates |= rates
        self._rate_first()
        self.query_one(Rows).put(self._wanted)
        self._about()

    def _rate_first(self) -> None:
        if time.monotonic() - self._first_at > EVEN:
            self._first_rates.clear()
        for row in self._rows if self._first_rates else ():
            if row.rate is None:
                row.rate = self._first_rates.get(row.topic.topic)

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self._readers = None
        super().show_snapshot(snapshot)

    def _about(self) -> None:
        """The pane is of the topic under the cursor."""
        if not self.is_there or not self.has_class("-wide"):
            return
        row, about = self.query_one(Rows).row, self.query_one("#about", Lines)
        if row is None:
            about.put([])
            return
        if self._readers is None:
            self._readers = Readers(self.state.snapshot.groups if self.state.snapshot is not None else ())
        readers, aimed = self._readers.of(row.topic.topic), self.session.aimed
        about.put(topic_lines(row, self._how(row), self._age(row).text, readers, aimed))

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Topic(event.row.topic.topic))

    def action_internal(self) -> None:
        self._internal = not self._internal
        self.inquire()

    def action_unhealthy(self) -> None:
        """Only topics whose replicas or leaders are not all there; or all again."""
        self._unhealthy = not self._unhealthy
        rows = self.query_one(Rows)
        rows.empty = "Every topic is healthy." if self._unhealthy else EMPTY
        rows.put(self._wanted)
        self.retitle()

    @property
    def acts_about(self) -> str:
        rows = self.query_one(Rows)
        if rows.marked:
            return f"{len(rows.marked)} marked topics"
        return f"topic {rows.row.topic.topic}" if rows.row is not None else "topics"

    def acts(self) -> list[Act]:
        row, marked = self.query_one(Rows).row, self.query_one(Rows).marked
        if marked:
            return of_topics(self, [row.topic.topic for row in marked])
        return of_topic(self, row.topic.topic) if row is not None else create_topic(self)

    def action_records(self) -> None:
        """Follow the marked topics together, or the one under the cursor."""
        rows = self.query_one(Rows)
        meant = rows.marked or ([rows.row] if rows.row is not None else [])
        if meant and not self.refused("reading records"):
            self.go(routes.Records(tuple(row.topic.topic for row in meant)))

    def _age(self, row: TopicStats) -> Cell:
        at = self._written.get(row.topic.topic)
        return Cell(DASH if at is None else duration(max(round(time.time() - at), 0)))

    def _how(self, row: TopicStats) -> Kept:
        return self._kept.get(row.topic.topic, Kept())

    def _columns(self) -> list[Column]:
        return [
            Column("topic", "TOPIC", lambda r: r.topic.topic, printable, letter="N", rank=0, name=True),
            Column(
                "health",
                "REPLICAS",
                lambda r: r.problem or None,
                draw=lambda r: Cell(f"✖ {r.problem}" if r.problem else "● in sync", "bad" if r.problem else "good"),
                letter="U",
            ),
            Column("partitions", "P", lambda r: len(r.topic.partitions), count, right=True, letter="A"),
            Column("replicas", "RF", lambda r: r.topic.replication_factor, count, right=True, letter="R", rank=3),
            Column("records", "OFFSETS", lambda r: r.records, count, right=True, letter="C", rank=2, option="offsets"),
            Column("size", "SIZE", lambda r: r.size, size, right=True, letter="S", option="size"),
            Column("rate", "IN/S", lambda r: r.rate, rate, right=True, letter="I", option="rate"),
            Column(
                "written",
                "LAST WRITE",
                lambda r: self._written.get(r.topic.topic),
                duration,  # as it is drawn: no word for a filter
                self._age,
                right=True,
                letter="W",
                rank=2,
                option="last_write",
            ),
            Column("policy", "CLEANUP", lambda r: self._how(r).policy, letter="P", rank=4),
            Column("retention", "KEEPS", lambda r: self._how(r).retention, letter="K", rank=4),
            Column("set", "SET ON IT", lambda r: self._how(r).others, tone="dim", rank=5, wide=True, most=80),
        ]
