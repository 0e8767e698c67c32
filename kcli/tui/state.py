"""What the dashboard knows now. The app writes it; pages and widgets read it, and get a message when it changed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from kcli.tui.alerts.silences import Silences
from kcli.tui.routes import places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.lag.watch import LagSnapshot
    from kcli.tui.alerts.incidents import Incident
    from kcli.tui.session import Session
    from kcli.tui.trails import Trails
    from kcli.tui.widgets.frames import Frames


TOLD = 200
"""Alerts of this session that are kept."""


class Trouble(NamedTuple):
    """`tries` failed in a row, the first at `since`; the next is at `again`, where that is known (times of the
    session's clock)."""

    problem: str
    since: float
    tries: int
    again: float | None


class State:
    """One cluster, or a recording: `session` is where its data come from, `snapshot` the newest one, `trails` the lag
    up to it, `trouble` why no newer one came, `began` when the cluster was first asked (seconds since the epoch).
    `topics` are the names of all topics, None until they were asked for, `numbers` the ids of brokers, `silences` what
    has no alerts, `incidents` what is wrong with the cluster besides groups, `told` the alerts of this session: time,
    words, whether it is bad news. `brokers` counts those that were ever seen, `down` those that do not answer now."""

    def __init__(
        self,
        session: Session,
        profiles: Mapping[str, Callable[[], Session]] | None = None,
        frames: Frames | None = None,
    ) -> None:
        self.profiles = profiles or {}  # what opens the cluster of each profile
        self.frames = frames  # with --debug
        self.waits = ""  # the profile that opens when the change under way has ended
        self.timely = False  # plots and sparklines show time lag instead of lag
        self.enter(session)

    def enter(self, session: Session) -> None:
        """Start again with another cluster."""
        self.session = session
        self.began = session.clock()
        self.snapshot: LagSnapshot | None = None
        self.trails: Trails | None = None
        self.trouble: Trouble | None = None
        self.cluster_id: str | None = None
        self.brokers = self.down = 0
        self.topics: list[str] | None = None
        self.numbers: list[int] = []
        self.silences = Silences()
        self.incidents: list[Incident] = []
        self.told: deque[tuple[float, str, bool]] = deque(maxlen=TOLD)

    def turn(self, session: Session) -> None:
        """Show another time of the same cluster."""
        self.session = session
        self.snapshot, self.trails, self.trouble = None, None, None

    @property
    def urgent(self) -> list[Incident]:
        """What is wrong with the cluster now, without what is acknowledged, muted or switched off."""
        return [one for one in self.incidents if one.key not in self.silences] if self.session.live else []

    @property
    def places(self) -> list[str]:
        """The pages that `:` and ctrl+p offer."""
        return places(self.snapshot, self.topics or (), self.numbers, registry=self.session.has_registry)

    @property
    def problem(self) -> str:
        """Why the last refresh failed; "" when it did not."""
        return self.trouble.problem if self.trouble is not None else ""
