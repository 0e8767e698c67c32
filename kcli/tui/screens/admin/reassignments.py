"""The moves of partitions in progress: from which brokers to which, how much is left, and until when."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.admin.reassign.reassignments import Ongoing, Share, list_reassignments, shares
from kcli.model import TopicPartition
from kcli.text.numbers import duration, size
from kcli.tui import routes
from kcli.tui.actions.menus import of_move
from kcli.tui.screens.columns import partition_columns
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import bar
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class Move(NamedTuple):
    """A move, what is left of it, and the bytes copied a second since the answer before."""

    at: TopicPartition
    ongoing: Ongoing
    share: Share
    rate: float | None

    @property
    def done(self) -> float:
        """The part of the bytes that is copied, 0 to 1."""
        return 1.0 - self.share.left / self.share.size if self.share.size else 1.0


class Reassignments(Page):
    """The page of all moves."""

    unrecorded = "reassignments"

    def __init__(self, state: State, route: routes.Reassignments) -> None:
        super().__init__(state, route)
        self._known: int | None = None
        self._before: dict[TopicPartition, tuple[float, Share]] = {}

    @property
    def heading(self) -> str:
        return "Reassignments" if self._known is None else f"Reassignments in progress ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli reassign list"

    def body(self) -> ComposeResult:
        yield Rows(
            _columns(),
            key=lambda row: row.at,
            order=lambda row: row.at,
            id="moves",
            empty="No partition moves now. Plan moves: kcli reassign plan --help",
        )

    async def fetch(self, client: Client) -> Any:
        ongoing = await list_reassignments(client.cluster)
        return ongoing, await shares(client.cluster, ongoing), asyncio.get_running_loop().time()

    def fetched(self, answer: tuple[dict[TopicPartition, Ongoing], dict[TopicPartition, Share], float]) -> None:
        ongoing, now, clock = answer
        rows = []
        for at, move in ongoing.items():
            then, before = self._before.get(at, (clock, now[at]))
            rows.append(Move(at, move, now[at], now[at].rate_since(before, clock - then)))
        self._before = {at: (clock, share) for at, share in now.items()}
        self._known = len(rows)
        self.query_one(Rows).put(rows)
        self.retitle()

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return "all topics" if row is None else f"the move of {printable(row.at.topic)}[{row.at.partition}]"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return of_move(self, None if row is None else row.at)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Topic(event.row.at.topic))


def _brokers(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))


def _columns() -> list[Column]:
    return [
        *partition_columns(),
        Column("from", "FROM", lambda r: r.ongoing.sources, _brokers, rank=3),
        Column("to", "TO", lambda r: r.ongoing.target, _brokers, rank=2),
        Column("adding", "ADDS", lambda r: r.ongoing.adding, _brokers, tone="good", letter="A"),
        Column("removing", "REMOVES", lambda r: r.ongoing.removing, _brokers, tone="warn", letter="R"),
        Column("done", "DONE", lambda r: r.done, draw=lambda r: Cell(bar(r.done), "dim"), letter="D", rank=4),
        Column("left", "LEFT", lambda r: r.share.left, size, right=True, letter="L", rank=0),
        Column("size", "OF", lambda r: r.share.size, size, right=True, letter="S", rank=4),
        Column("rate", "RATE/S", lambda r: r.rate, size, right=True, letter="T", rank=2),
        Column("eta", "ETA", lambda r: r.share.eta(r.rate), duration, right=True, letter="E"),
    ]
