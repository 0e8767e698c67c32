"""Transactional ids with their open transactions, the oldest first; and transactions that no coordinator will end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TabPane

from kcli.admin.transactions.hanging_transactions import OLD, Search, every_partition, find_open
from kcli.admin.transactions.producers import describe_producers
from kcli.admin.transactions.transactions import OPEN, Described, Listed, describe_transactions, survey
from kcli.asking.fan_out import good
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, count, duration
from kcli.tui import routes
from kcli.tui.actions.menus import of_hanging, of_transaction
from kcli.tui.screens.columns import partition_columns
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import dated, exact, moment
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.transactions.hanging_transactions import OpenTransaction
    from kcli.admin.transactions.producers import ProducerState
    from kcli.client import Client
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State

SEARCHED = 30.0
"""Seconds between two searches for hanging transactions: each asks the leaders of all partitions."""


class Known(NamedTuple):
    """A transactional id; `described` where its transaction is open."""

    listed: Listed
    described: Described | None

    @property
    def age(self) -> float | None:
        """Seconds since its transaction began; None without one."""
        return None if self.described is None else self.described.age

    @property
    def late(self) -> bool:
        """Whether its transaction is older than its time-out: the coordinator did not end it."""
        return self.described is not None and (self.age or 0.0) > self.described.timeout_ms / 1000


class Transactions(Page):
    """The page of all transactions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('ids')", "Transactional ids", show=False, id="transactions.ids"),
        Binding("2", "tab('hanging')", "Hanging", id="transactions.hanging"),
    ]

    unrecorded = "transactions"

    def __init__(self, state: State, route: routes.Transactions) -> None:
        super().__init__(state, route)
        self._rows: list[Known] = []
        self._untold: dict[int, KcliError] = {}
        self._asked = False
        self._searched = 0.0

    @property
    def heading(self) -> str:
        if not self._asked:
            return "Transactions"
        open_ones = sum(row.listed.state in OPEN for row in self._rows)
        told = [f"Transactions ({len(self._rows):,}), {open_ones:,} open"]
        told += [f"✖ {printable(str(problem))}" for problem in self._untold.values()]
        return "  ".join(told)

    @property
    def same_as(self) -> str:
        return "kcli txn find-hanging" if self.tab == "hanging" else "kcli txn list"

    def body(self) -> ComposeResult:
        with Tabs():
            with TabPane("Transactional ids", id="tab-ids"):
                yield Rows(
                    _id_columns(),
                    key=lambda row: row.listed.name,
                    order=_longest,
                    id="ids",
                    empty="No producer has used a transactional id lately.",
                )
            with TabPane("Hanging", id="tab-hanging"):
                yield Rows(
                    hanging_columns(),
                    key=lambda row: (row.at, row.producer.producer_id),
                    id="hanging",
                    empty=f"No transaction hangs: none that is older than {duration(OLD)} is without a coordinator.",
                )

    def on_mount(self) -> None:
        self.query_one("#ids", Rows).focus()

    async def fetch(self, client: Client) -> Any:
        return await survey(client.cluster)

    def fetched(self, answer: tuple[list[tuple[Listed, Described | None]], dict[int, KcliError]]) -> None:
        found, self._untold = answer
        self._rows, self._asked = [Known(*row) for row in found], True
        self.query_one("#ids", Rows).put(self._rows)
        self.retitle()
        self._search()

    def on_tabbed_content_tab_activated(self) -> None:
        """The search begins when its tab is opened."""
        if self.is_there:
            self._search()

    def _search(self) -> None:
        """Look for hanging transactions while their tab is open, not at each beat."""
        now = asyncio.get_running_loop().time()
        if self.tab != "hanging" or not self.session.live or (self._searched and now - self._searched < SEARCHED):
            return
        self._searched = now

        async def search(client: Client) -> Search:
            return await find_open(client.cluster, await every_partition(client.cluster), older_than=OLD)

        self.asking.once(search, self._found)

    def _found(self, search: Search) -> None:
        self._untold.update(search.untold)
        self.query_one("#hanging", Rows).put([row for row in search.transactions if row.hangs])
        self.retitle()

    @property
    def _row(self) -> Any:
        return self.query(f"#{self.tab}").first(Rows).row if self.tab else None

    @property
    def acts_about(self) -> str:
        if self.tab == "ids" and self._row is not None:
            return f"transactional id {self._row.listed.name}"
        return super().acts_about

    def acts(self) -> list[Act]:
        row = self._row
        if row is None:
            return []
        return of_transaction(self, row.listed.name) if self.tab == "ids" else of_hanging(self, row)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "ids":
            self.go(routes.Transaction(event.row.listed.name))
        elif not self.refused("reading records"):
            self.go(blocked(event.row.at, event.row.producer.open_since or 0))


def blocked(at: TopicPartition, offset: int) -> routes.Records:
    """The records from the one on at which an open transaction begins: readers of committed records wait there."""
    return routes.Records((at.topic,), around=(at, offset), why="where an open transaction begins")


def _longest(row: Known) -> tuple[int, float, str]:
    return row.listed.state not in OPEN, -(row.age or 0.0), row.listed.name


def state_cell(state: str, *, late: bool) -> Cell:
    """A state with its glyph: open transactions hold up readers, those over their time-out should not be there."""
    if state not in OPEN:
        return Cell(f"· {state}", "dim")
    return Cell(f"✖ {state}", "bad") if late else Cell(f"◊ {state}", "warn")


def _id_columns() -> list[Column]:
    return [
        Column("name", "TRANSACTIONAL ID", lambda r: r.listed.name, printable, letter="N", rank=0, wide=True, most=60),
        Column(
            "state",
            "STATE",
            lambda r: r.listed.state,
            draw=lambda r: state_cell(r.listed.state, late=r.late),
            letter="S",
            rank=0,
        ),
        Column("age", "OPEN FOR", lambda r: r.age, duration, right=True, letter="A", rank=0),
        Column(
            "timeout",
            "TIME-OUT",
            lambda r: r.described and r.described.timeout_ms / 1000,
            duration,
            right=True,
            letter="T",
            rank=2,
        ),
        Column(
            "partitions",
            "PARTITIONS",
            lambda r: r.described and len(r.described.partitions),
            count,
            right=True,
            letter="P",
        ),
        Column("producer", "PRODUCER ID", lambda r: r.listed.producer_id, right=True, letter="D", rank=3),
        Column("coordinator", "COORDINATOR", lambda r: r.listed.coordinator, right=True, letter="C", rank=4),
    ]


def hanging_columns() -> list[Column]:
    def producer(row: OpenTransaction) -> int:
        return row.producer.producer_id

    return [
        *partition_columns(),
        Column("first", "FROM OFFSET", lambda r: r.producer.open_since, exact, right=True, letter="O", rank=0),
        Column("idle", "IDLE", lambda r: r.age, duration, right=True, letter="I", rank=0),
        Column("name", "TRANSACTIONAL ID", lambda r: r.name, printable, letter="T", rank=2),
        Column("producer", "PRODUCER ID", producer, right=True, letter="D", rank=3),
        Column("why", "WHY", lambda r: r.hangs, printable, tone="bad", letter="W", wide=True, most=120),
    ]


class Waiting(NamedTuple):
    """A partition that waits for a marker; `producer` is its producer there, where the leader told."""

    at: TopicPartition
    producer: ProducerState | None


class Transaction(Page):
    """The page of a transactional id."""

    unrecorded = "transactions"

    def __init__(self, state: State, route: routes.Transaction) -> None:
        super().__init__(state, route)
        self.name_of = route.name
        self._described: Described | None = None
        self._gone = False

    @property
    def heading(self) -> str:
        name = f"Transaction {printable(self.name_of)}"
        if self._gone:
            return f"{name}: no coordinator has this transactional id (any more)"
        known = self._described
        if known is None:
            return name
        open_for = f"  open for {duration(known.age)} of {duration(known.timeout_ms / 1000)}" if known.age else ""
        return f"{name}  {known.state}{open_for}  producer {known.producer_id}, epoch {known.epoch}"

    @property
    def same_as(self) -> str:
        return f"kcli txn describe {quoted(self.name_of)}"

    def body(self) -> ComposeResult:
        yield Rows(
            _columns(),
            key=lambda row: row.at,
            order=lambda row: row.at,
            id="partitions",
            empty="No partition waits for a marker: no transaction is open.",
        )

    async def fetch(self, client: Client) -> Any:
        known = (await describe_transactions(client.cluster, [self.name_of]))[self.name_of]
        if isinstance(known, BrokerError) and known.code.name == "TRANSACTIONAL_ID_NOT_FOUND":
            return None
        if isinstance(known, KcliError):
            raise known
        states = good(await describe_producers(client.cluster, known.partitions))
        rows = []
        for at in known.partitions if known.state in OPEN else ():
            mine = [one for one in states.get(at, ()) if one.producer_id == known.producer_id]
            rows.append(Waiting(at, mine[0] if mine else None))
        return known, rows

    def fetched(self, answer: tuple[Described, list[Waiting]] | None) -> None:
        self._gone = answer is None
        self._described, rows = answer if answer is not None else (None, [])
        self.query_one(Rows).put(rows)
        self.retitle()

    @property
    def acts_about(self) -> str:
        return f"transactional id {self.name_of}"

    def acts(self) -> list[Act]:
        return of_transaction(self, self.name_of)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        producer = event.row.producer
        if producer is not None and producer.open_since is not None and not self.refused("reading records"):
            self.go(blocked(event.row.at, producer.open_since))


def _columns() -> list[Column]:
    return [
        *partition_columns(),
        Column("first", "FROM OFFSET", lambda r: r.producer and r.producer.open_since, exact, right=True, letter="O"),
        Column("written", "LAST WRITE", lambda r: r.producer and r.producer.last_timestamp, draw=_written, letter="W"),
    ]


def _written(row: Waiting) -> Cell:
    when = None if row.producer is None else moment(row.producer.last_timestamp)
    return Cell(DASH if when is None else dated(when), "dim")
