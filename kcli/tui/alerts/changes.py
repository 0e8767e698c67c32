"""Which changes of status are worth an alert. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.lag.formats.sentences import reason
from kcli.lag.status import BEHIND, GROWING, SEVERITY
from kcli.text.numbers import lower_bound
from kcli.tui.text.formatting import others, status
from kcli.tui.text.incidents import WRONG, small

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from kcli.lag.watch import LagSnapshot

LASTS = 2
"""Snapshots in a row that a status must last: one that comes and goes with each commit is none."""
NAMED = 3
"""Groups of a status that a sentence about several alerts names."""


class Alert(NamedTuple):
    """A group that got worse, or is well again. Times are seconds since the epoch, `lag` is in offsets: a lower bound
    while that of `unknown` partitions is not known, None where nothing of it is."""

    group: str
    before: str
    now: str
    lag: int | None
    time: float
    why: str
    unknown: int = 0

    @property
    def worse(self) -> bool:
        """Whether it is bad news."""
        return self.now in WRONG

    @property
    def words(self) -> str:
        """A sentence for a notification."""
        why = f": {self.why}" if self.worse else ""
        lag = lower_bound(self.lag, self.unknown)
        return f"{self.group} is {status(self.now)[0]} (was {self.before}), lag {lag}{why}"


def summary(alerts: Sequence[Alert]) -> str:
    """A sentence for all alerts of a snapshot: one with its reason, of several which groups have which status, the
    worst first."""
    if len(alerts) == 1:
        return alerts[0].words
    names: dict[str, list[str]] = {}
    for alert in sorted(alerts, key=lambda alert: -SEVERITY.index(alert.now)):
        names.setdefault(alert.now, []).append(alert.group)
    parts = [f"{status(now)[0]} {_named(groups)}" for now, groups in names.items()]
    return f"{len(alerts)} alerts: {'; '.join(parts)}"


def _named(groups: list[str]) -> str:
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return ", ".join(groups[:NAMED]) + more


class Changes:
    """The last status of each group that had an alert, and newer ones that have not lasted yet."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}
        self._next: dict[str, tuple[str, int]] = {}

    def see(self, snapshot: LagSnapshot, hushed: Container[tuple[str, str]]) -> list[Alert]:
        """The alerts of a snapshot; the first one has none. `hushed` holds pairs of group and status without alerts."""
        alerts = []
        for standing in others(snapshot):
            group, now = standing.described.group, standing.status
            before = self._told.setdefault(group, now)
            if now == before or (now == BEHIND and before == GROWING):  # a lag that grows now and then is one alert
                self._next.pop(group, None)
                continue
            waiting, many = self._next.get(group, (now, 0))
            self._next[group] = (now, many + 1 if waiting == now else 1)
            if self._next[group][1] < LASTS:
                continue
            del self._next[group]
            self._told[group] = now
            worse = now in WRONG and not small(standing) and SEVERITY.index(now) > SEVERITY.index(before)
            well = before in WRONG and now not in WRONG
            if (worse or well) and (group, now) not in hushed:
                total, why = standing.total, reason(standing, snapshot)
                alerts.append(Alert(group, before, now, total.lag, snapshot.time, why, total.unknown))
        return alerts
