"""All clusters: a line for each profile, with the counts of the head."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from kcli.errors import KcliError
from kcli.lag.figures import lag_text
from kcli.lag.formats.page import STATUSES
from kcli.lag.status import SEVERITY
from kcli.text.numbers import DASH
from kcli.tui import routes
from kcli.tui.actions.acts import Act
from kcli.tui.alerts.incidents import UNKNOWN
from kcli.tui.alerts.silences import Silences
from kcli.tui.messages import ChangeProfile, Connected, Inspected, SnapshotArrived, SnapshotFailed
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import elapsed, others
from kcli.tui.text.incidents import WRONG
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from textual.message import Message
    from textual.worker import Worker

    from kcli.lag.watch import LagSnapshot
    from kcli.tui.alerts.incidents import Incident
    from kcli.tui.session import Session
    from kcli.tui.state import State

BEAT = 30.0
"""Seconds between two refreshes of a cluster that is not the open one, at least."""


class ClusterRow(NamedTuple):
    """A profile: its newest snapshot, or the failure. `silences` is what has no alerts there."""

    name: str
    snapshot: LagSnapshot | None = None
    brokers: int = 0
    down: int = 0
    incidents: Sequence[Incident] = ()
    silences: Silences = Silences()
    problem: str = ""

    @property
    def urgent(self) -> int:
        """The number of incidents beside groups, as the head counts them."""
        return sum(one.key not in self.silences and one.kind != UNKNOWN for one in self.incidents)

    @property
    def counts(self) -> Counter[str]:
        """The number of groups by status, without kcli's own."""
        return Counter(group.status for group in others(self.snapshot)) if self.snapshot is not None else Counter()

    @property
    def is_wrong(self) -> bool:
        return bool(self.problem or self.urgent) or any(self.counts[status] for status in WRONG)

    @property
    def lag(self) -> int | None:
        """Offsets, of all groups."""
        return None if self.snapshot is None else sum(group.total.lag or 0 for group in others(self.snapshot))

    @property
    def lag_text(self) -> str:
        """The same as it is drawn."""
        return DASH if self.snapshot is None else lag_text(group.total for group in others(self.snapshot))

    @property
    def severity(self) -> tuple[float, ...]:
        """A cluster that fails first, then by the number of its groups with the worst status, and so on."""
        return (
            -float(bool(self.problem)),
            -float(self.urgent),
            *(-self.counts[status] for status in reversed(SEVERITY)),
        )


class Clusters(Page):
    """The page of all profiles. Each is asked by a session of its own, which ends with the page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "again", "Refresh all", show=False, id="clusters.again"),
    ]

    asks = False

    def __init__(self, state: State, route: routes.Clusters) -> None:
        super().__init__(state, route)
        self._rows = {name: ClusterRow(name) for name in state.profiles}
        self._sessions: dict[str, Session] = {}

    @property
    def heading(self) -> str:
        wrong = sum(row.is_wrong for row in self._rows.values())
        return f"Clusters ({len(self._rows)}), {wrong} with incidents"

    @property
    def same_as(self) -> str:
        return "kcli config list"

    def body(self) -> ComposeResult:
        yield Rows(
            self._columns(),
            key=lambda row: row.name,
            order=lambda row: (row.severity, row.name),
            id="clusters",
            empty="No profiles yet. Make one: kcli config add NAME",
        )

    def on_mount(self) -> None:
        self._draw()
        for name in self._rows:
            if self.session.live and name == self.session.name:
                continue  # the head has it
            work: Callable[[], Coroutine[None, None, None]] = partial(self._watch, name)
            _: Worker[None] = self.run_worker(work, group="clusters")

    async def _watch(self, name: str) -> None:
        """Open the cluster of a profile, beside the screens: its secrets may take their time."""
        try:
            session = await asyncio.to_thread(self.state.profiles[name])
        except KcliError as problem:
            self._put(name, problem=printable(str(problem)))
            return
        session.interval = max(session.interval, BEAT)
        session.remembers = False
        if not self.is_attached:
            return
        self._sessions[name] = session
        await session.open(lambda message: self.app.call_later(self._heard, name, message))

    def _heard(self, name: str, message: Message) -> None:
        if isinstance(message, SnapshotArrived):
            self._put(name, snapshot=message.snapshot, problem="")
        elif isinstance(message, SnapshotFailed):
            self._put(name, problem=printable(str(message.problem)))
        elif isinstance(message, Inspected):
            self._put(name, incidents=message.incidents)
        elif isinstance(message, Connected):
            self._put(
                name, brokers=message.brokers, down=message.down, silences=self._silences(name, message.cluster_id)
            )

    def _silences(self, name: str, cluster_id: str | None) -> Silences:
        """What has no alerts in this cluster, as the file of the cluster says now."""
        silences, session = Silences(), self._sessions.get(name)
        if cluster_id and session is not None and session.recalls:
            try:
                silences.open(cluster_id)
            except OSError as problem:
                self.notify(f"Acknowledged alerts of {name} are not known: {problem.strerror}", markup=False)
        return silences

    def _put(self, name: str, **changes: Any) -> None:
        self._rows[name] = self._rows[name]._replace(**changes)
        if self.is_there:
            self._draw()

    def on_changed(self) -> None:
        """The line of the cluster that is open says what the head says."""
        super().on_changed()
        state, name = self.state, self.state.session.name
        if state.session.live and name in self._rows:
            wrong = {"incidents": state.incidents, "silences": state.silences, "problem": state.problem}
            self._put(name, snapshot=state.snapshot, brokers=state.brokers, down=state.down, **wrong)

    def _draw(self) -> None:
        self.query_one(Rows).put(self._rows.values())
        self.retitle()

    async def on_unmount(self) -> None:
        sessions, self._sessions = self._sessions, {}
        await asyncio.gather(*(session.close() for session in sessions.values()))

    def action_again(self) -> None:
        """Ask all of them now."""
        for session in (self.session, *self._sessions.values()):
            session.refresh_now()

    @property
    def command(self) -> str:
        return self.same_as + self.narrowed  # of the profiles: it is sent to no cluster

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return "clusters" if row is None else f"cluster {printable(row.name)}"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return [] if row is None else of_cluster(self, row.name, partial(self._open, row.name), self.action_again)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self._open(event.row.name)

    def _open(self, name: str) -> None:
        if name == self.session.name:
            self.go(routes.Groups())
        else:
            self.post_message(ChangeProfile(name))

    def _columns(self) -> list[Column]:
        return [
            Column("name", "CLUSTER", lambda r: r.name, printable, letter="N", rank=0, name=True),
            Column("groups", "GROUPS", nothing, draw=_as_text, pieces=_pieces, rank=0, wide=True),
            Column("lag", "LAG", lambda r: r.lag, draw=lambda r: Cell(r.lag_text), right=True, letter="L", rank=0),
            Column("brokers", "BROKERS", lambda r: r.down, draw=_brokers, right=True, letter="B"),
            Column(
                "age", "AGE", lambda r: r.snapshot and r.snapshot.time, draw=self._age, right=True, letter="A", rank=2
            ),
            Column("problem", "", lambda r: r.problem, tone="bad", wide=True, rank=1, most=200),
        ]

    def _age(self, row: ClusterRow) -> Cell:
        return Cell("" if row.snapshot is None else elapsed(self.session.clock() - row.snapshot.time), "dim")


def _counted(row: ClusterRow) -> list[Cell]:
    """`!2 ✖1 ■2 ●9`, each in its tone; what is awaited where nothing is known yet."""
    if row.snapshot is None:
        return [Cell("" if row.problem else "connecting …", "dim")]
    counts = row.counts
    cells = [Cell(f"!{row.urgent}", "bad")] if row.urgent else []
    cells += [Cell(f"{STATUSES[one][0]}{counts[one]}", STATUSES[one][1]) for one in reversed(SEVERITY) if counts[one]]
    return cells or [Cell("no groups", "dim")]


def _as_text(row: ClusterRow) -> Cell:
    return Cell(" ".join(cell.text for cell in _counted(row)))


def _pieces(row: ClusterRow, room: int) -> list[Cell]:
    """As many of the counts as there is room for, the worst first."""
    pieces, left = [], room
    for cell in _counted(row):
        if len(cell.text) > left:
            break
        pieces += [cell, Cell(" " * min(1, left - len(cell.text)))]
        left -= len(cell.text) + 1
    return pieces[:-1] if left < 0 else pieces


def _brokers(row: ClusterRow) -> Cell:
    if not row.brokers:
        return Cell("")
    return Cell(f"{row.brokers - row.down}/{row.brokers}", "bad" if row.down else "")


def of_cluster(page: Page, name: str, open_it: Callable[[], object], refresh: Callable[[], object]) -> list[Act]:
    """With the cluster of a profile. Nothing of it is changed from here."""
    word = quoted(name)
    doctor, shown = f"kcli doctor --profile {word}", f"kcli config show {word}"
    return [
        Act("o", "Open it", f"kcli tui --profile {word}", open_it, elsewhere=True),
        Act("r", "Refresh all", "", refresh),
        Act("d", "Copy: diagnose its connection", doctor, lambda: page.copy(doctor), elsewhere=True),
        Act("S", "Copy: show its settings", shown, lambda: page.copy(shown), elsewhere=True),
    ]
