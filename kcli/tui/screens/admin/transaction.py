"""One transactional id: its state, and the partitions that wait for the markers of its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.admin.transactions.producers import describe_producers
from kcli.admin.transactions.transactions import OPEN, Described, describe_transactions
from kcli.asking.fan_out import good
from kcli.errors import BrokerError, KcliError
from kcli.text.numbers import DASH, duration
from kcli.tui import routes
from kcli.tui.actions.menus.transactions import of_transaction
from kcli.tui.screens.admin.transactions import blocked
from kcli.tui.screens.columns import partition_columns
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import dated, exact, moment
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.transactions.producers import ProducerState
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


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
            return f"{name}: no coordinator knows this transactional id (any more)"
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
        Column("since", "OPEN SINCE", lambda r: r.producer and r.producer.open_since, exact, right=True, letter="O"),
        Column("written", "LAST WRITE", lambda r: r.producer and r.producer.last_timestamp, draw=_written, letter="W"),
    ]


def _written(row: Waiting) -> Cell:
    when = None if row.producer is None else moment(row.producer.last_timestamp)
    return Cell(DASH if when is None else dated(when), "dim")
