"""All groups together: what a page shows on a large terminal that its own rows do not fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal

from kcli.lag.formats.sentences import reason
from kcli.text.numbers import rate
from kcli.tui.messages import Go
from kcli.tui.routes import Group, find
from kcli.tui.text.chart import Chart, Curve
from kcli.tui.text.formatting import others
from kcli.tui.text.incidents import PAGE, group_lines, loudness, of_cluster, partition_lines
from kcli.tui.trails import Moment, gapped
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.plot import Plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from kcli.tui.state import State


def curves(moments: Sequence[Moment]) -> list[Curve]:
    """What came a second, and what was read."""
    now = moments[-1] if moments else Moment(0.0, None, None, None, None)
    came, read = (
        gapped([(one.time, one.in_rate) for one in moments]),
        gapped([(one.time, one.out_rate) for one in moments]),
    )
    return [Curve(came, "in", f"in {rate(now.in_rate)}/s"), Curve(read, "out", f"out {rate(now.out_rate)}/s")]


HEAD = 3  # lines before a list, and the one above the pane


class ClusterPlot(Plot):
    """The lag of all groups over time, with what came and what was read."""

    def __init__(self, state: State) -> None:
        super().__init__(title="lag of all groups", id="whole")
        self._state = state

    def on_show(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Draw the newest snapshot; nothing where the page has no room for it."""
        if not self.is_on_screen or self._state.trails is None:
            return
        moments = self._state.trails.whole
        lag = gapped([(one.time, one.lag) for one in moments])
        self.put(Chart(points=lag, name="lag", curves=curves(moments)))


class Overview(Horizontal):
    """The lag of all groups over time, and the groups, the worst first. A click on one opens it."""

    def __init__(self, state: State) -> None:
        super().__init__(id="details")
        self._state = state

    def compose(self) -> ComposeResult:
        yield ClusterPlot(self._state)
        yield Lines(aligned=True, id="about")

    def on_resize(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Show the newest snapshot."""
        snapshot = self._state.snapshot
        if snapshot is not None and self.is_on_screen and self.query(Lines):  # they are being made
            groups = sorted(others(snapshot), key=loudness)
            urgent = [of_cluster(one, snapshot.time) for one in self._state.urgent]
            drawn = [*urgent, *group_lines("GROUPS", groups, self.size.height, lambda one: reason(one, snapshot))]
            room = self.size.height - len(drawn) - HEAD
            self.query_one(Lines).put([*drawn, *(partition_lines(groups, room) if room > 0 else [])])

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        page = find(event.key.removeprefix(PAGE)) if event.key.startswith(PAGE) else None
        self.post_message(Go(page or Group(event.key)))
