"""The brokers: what each leads and stores, whether it answers, and how quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical

from kcli.admin.cluster.brokers import BrokerRow, look_at_brokers
from kcli.lag.status import SEVERITY
from kcli.text.numbers import DASH, count, size
from kcli.tui import routes
from kcli.tui.actions.menus.cluster import of_broker
from kcli.tui.screens.topics.beside import WithPane
from kcli.tui.screens.topics.pane import fact, group_lines
from kcli.tui.text.incidents import Line, Word
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.client import Client
    from kcli.lag.history import GroupStanding
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class Brokers(WithPane):
    """All brokers of the cluster."""

    unrecorded = "brokers"

    def __init__(self, state: State, route: routes.Brokers) -> None:
        super().__init__(state, route)
        self._known: int | None = None

    @property
    def heading(self) -> str:
        return "Brokers" if self._known is None else f"Brokers ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli brokers"

    def body(self) -> ComposeResult:
        with Vertical(id="details"):
            yield Lines(id="about")
        yield Rows(
            _columns(), key=lambda r: r.node.id, order=lambda r: r.node.id, id="brokers", empty="No broker known."
        )

    async def fetch(self, client: Client) -> Any:
        return await look_at_brokers(client.cluster)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Broker(event.row.node.id))

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return "brokers" if row is None else f"broker {row.node.id}"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return [] if row is None else of_broker(self, row.node.id, others=(self._known or 0) > 1)

    def fetched(self, answer: list[BrokerRow]) -> None:
        self._known = len(answer)
        self.query_one(Rows).put(answer)
        self._about()
        self.retitle()

    def _about(self) -> None:
        """The pane is of the broker under the cursor, where there is room for one."""
        if not self.is_there or not self.has_class("-wide"):
            return
        row, snapshot = self.query_one(Rows).row, self.state.look
        groups = (
            [group for group in snapshot.groups if group.described.coordinator == row.node.id]
            if (row is not None and snapshot is not None)
            else []
        )
        lines = broker_lines(row, groups, self.session.aimed) if row is not None else []
        self.query_one("#about", Lines).put(lines)


def broker_lines(row: BrokerRow, groups: list[GroupStanding], aimed: Callable[[str], str]) -> list[Line]:
    """A broker beside the list of all: whether it answers, what it has, and the groups that it coordinates;
    `aimed` makes a command one of this cluster."""
    answers, free = _answers(row), _free(row)
    what = ", ".join(filter(None, (f"Kafka {row.release}" if row.release else "", "controller" * row.controller)))
    groups = sorted(groups, key=lambda one: (-SEVERITY.index(one.status), -(one.total.lag or 0)))
    return [
        Line([Word(printable(f"broker {row.node.id}  {row.node.host}:{row.node.port}"), "name")]),
        fact("answers", answers.text, answers.tone),
        fact("is", what or DASH),
        fact("rack", row.node.rack or DASH),
        fact("has", f"{count(row.replicas)} replicas, leads {count(row.leads)}"),
        fact("behind", count(row.behind), "bad" if row.behind else ""),
        fact("disk", f"{size(row.size)}, free {free.text}", free.tone),
        fact("", f"$ {aimed(f'kcli configs get broker {row.node.id} --all')}", "dim"),
        *group_lines("COORDINATES", groups),
    ]


def _columns() -> list[Column]:
    return [
        Column("id", "ID", lambda r: r.node.id, right=True, letter="N", rank=0),
        Column(
            "address",
            "ADDRESS",
            lambda r: r.node.host,
            draw=lambda r: Cell(printable(f"{r.node.host}:{r.node.port}")),
            letter="A",
            rank=0,
            most=60,
        ),
        Column("up", "ANSWERS", lambda r: r.took, draw=_answers, right=True, letter="T", rank=0),
        Column("version", "KAFKA", lambda r: r.release or "", draw=lambda r: Cell(r.release or DASH), letter="V"),
        Column(
            "controller",
            "",
            lambda r: not r.controller,
            draw=lambda r: Cell("controller" if r.controller else ""),
            rank=2,
        ),
        Column("rack", "RACK", lambda r: r.node.rack, printable, letter="R", rank=3),
        Column("leads", "LEADS", lambda r: r.leads, count, right=True, letter="L"),
        Column("replicas", "REPLICAS", lambda r: r.replicas, count, right=True, letter="P", rank=2),
        Column(
            "behind",
            "BEHIND",
            lambda r: r.behind,
            draw=lambda r: Cell(count(r.behind), "bad" if r.behind else ""),
            right=True,
            letter="B",
        ),
        Column("size", "SIZE", lambda r: r.size, size, right=True, letter="S"),
        Column("free", "FREE", lambda r: r.usable, draw=_free, right=True, letter="F", rank=2),
    ]


def _answers(row: BrokerRow) -> Cell:
    if row.took is None:
        return Cell(printable(f"✖ {row.problem}"), "bad")
    return Cell(f"● {row.took * 1000:.1f} ms", "good")


def _free(row: BrokerRow) -> Cell:
    if row.usable is None or not row.total:
        return Cell(size(None), "dim")
    share = row.usable / row.total
    return Cell(f"{size(row.usable)} ({share:.0%})", "bad" if share < 0.1 else "")
