"""One member of a group: the partitions it owns, and how far it is with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from kcli.admin.groups.groups import who
from kcli.lag.figures import lag_text, total
from kcli.model import TopicPartition
from kcli.text.numbers import DASH, rate
from kcli.tui import routes
from kcli.tui.actions.menus.groups import of_member
from kcli.tui.screens.columns import place_of, standing_columns
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import age, exact
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.admin.groups.rows import Member as Described
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class Member(Page):
    """The page of a member; it stays when the member goes, and says so."""

    def __init__(self, state: State, route: routes.Member) -> None:
        super().__init__(state, route)
        self.group = route.group
        self.member_id = route.member_id
        self._member: Described | None = None
        self._lag = DASH

    @property
    def heading(self) -> str:
        if self._member is None:
            gone = ": it is not there (any more)" if self.state.look is not None else ""
            return f"Member {printable(self.member_id)} of {printable(self.group)}{gone}"
        member = self._member
        at = f"{printable(who(member))}  {len(member.assignment)} partitions  lag {self._lag}"
        return f"Member {at}  of group {printable(self.group)}"

    @property
    def same_as(self) -> str:
        return f"kcli groups members {quoted(self.group)}"

    def body(self) -> ComposeResult:
        yield Rows(_columns(), key=place_of, order=place_of, id="partitions", empty="It owns no partitions now.")

    def looked(self, snapshot: LagSnapshot) -> None:
        group = next((group for group in snapshot.groups if group.described.group == self.group), None)
        members = group.described.members if group is not None else []
        self._member = next((member for member in members if member.member_id == self.member_id), None)
        if self._member is None or group is None:
            self.query_one(Rows).settle()
            return
        own = set(self._member.assignment)
        rows = [partition for partition in group.partitions if TopicPartition(*place_of(partition)) in own]
        self._lag = lag_text([total([row.lag for row in rows], self.group)])
        self.query_one(Rows).put(rows)

    @property
    def acts_about(self) -> str:
        return f"member {printable(who(self._member)) if self._member is not None else printable(self.member_id)}"

    def acts(self) -> list[Act]:
        return of_member(self, self.group, self._member) if self._member is not None else []

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if self.refused("reading records"):
            return
        sample = event.row.lag.sample
        at = TopicPartition(sample.topic, sample.partition)
        offset = sample.committed if sample.committed is not None else sample.start or 0
        self.go(routes.Records((at.topic,), around=(at, offset), next_of=self.group))


def _columns() -> list[Column]:
    return [
        *standing_columns(),
        Column("committed", "COMMITTED", lambda p: p.lag.sample.committed, exact, right=True, letter="C", rank=2),
        Column("end", "END", lambda p: p.lag.sample.end, exact, right=True, rank=3),
        Column("in", "IN/S", lambda p: p.in_rate, rate, right=True, letter="I"),
        Column("out", "OUT/S", lambda p: p.out_rate, rate, right=True, letter="O"),
        Column("time", "TIME LAG", lambda p: p.time_lag, draw=lambda p: Cell(age(p)), right=True, letter="T"),
    ]
