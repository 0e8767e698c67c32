"""Toasts, and the alerts of one cluster: one toast for those of a snapshot, and the ways in which they leave."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.notifications import Notification, Notify, SeverityLevel

from kcli.errors import KcliError, UsageError
from kcli.lag.formats.sentences import reason
from kcli.lag.status import BEHIND, GROWING, OK, SEVERITY
from kcli.secret import HIDDEN
from kcli.security.http import UNAVAILABLE, Origin, Service, Unavailable, origin_of
from kcli.text.numbers import lower_bound
from kcli.tui.alerts.incidents import KINDS, News
from kcli.tui.text.formatting import others, status
from kcli.tui.text.incidents import WRONG, small
from kcli.tui.text.printable import LONG, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from textual.app import App

    from kcli.lag.watch import LagSnapshot
    from kcli.security.http import Answer
    from kcli.tui.alerts.incidents import Incident
    from kcli.tui.state import State

SECONDS = 5.0
"""Until a webhook must have answered."""
RETRIES = 2
LONGEST = 200
"""Letters of a notification."""
LASTS = 2
"""Snapshots in a row that a status must last: one that comes and goes with each commit is none."""
NAMED = 3
"""Groups of a status that a sentence about several alerts names."""
LINES, FRAME = 2, 6
"""Lines that an alert takes at most, and cells of each that are not of its text: border, padding, scrollbar."""


class Alerting:
    """What the app does with snapshots of a cluster besides drawing them, also of those that are not drawn."""

    def __init__(self, app: App[int], state: State, ways: Ways | None, write: Callable[[str], object]) -> None:
        """`write` sends a sequence to the terminal."""
        self._app = app
        self._state = state
        self._write = write
        self._ways = ways or Ways()
        self._changes, self._news = Changes(), News()
        self._failed = False
        self._last = 0.0

    def of_another_cluster(self) -> Alerting:
        """The same ways, nothing known."""
        return Alerting(self._app, self._state, self._ways, self._write)

    def open(self, cluster_id: str) -> None:
        """Which groups are acknowledged or muted, from the file of the cluster."""
        try:
            self._state.silences.open(cluster_id)
        except OSError as problem:
            words = f"Acknowledged groups could not be read: {problem.strerror}"
            self._app.notify(words, severity="warning", markup=False, timeout=LONG)

    def see(self, snapshot: LagSnapshot) -> None:
        """Tell what changed. One that is shown again, by its time, is not counted again."""
        if snapshot.time == self._last:
            return
        self._last = snapshot.time
        self._tell_all(self._changes.see(snapshot, self._state.silences))

    def inspected(self, incidents: Sequence[Incident], now: float) -> None:
        """Tell which incidents of the cluster began, and which are over."""
        began, over = self._news.see(incidents)
        for one in over:
            self._forget(one)
        alerts = [
            Alert(one.name, "", one.kind, None, now, one.text) for one in began if one.key not in self._state.silences
        ]
        alerts += [
            Alert(one.name, one.kind, OK, None, now, "") for one in over if not self._state.silences.off(one.kind)
        ]
        self._tell_all(alerts)

    def _forget(self, over: Incident) -> None:
        """What was acknowledged is over: it is news when it begins again. What is muted stays so."""
        entry = self._state.silences.of(*over.key)
        if entry is None or not entry.status:
            return
        try:
            self._state.silences.put(over.key[0], None)
        except OSError as problem:
            words = f"{over.name} stays acknowledged in the alerts file: {problem.strerror}"
            self._app.notify(printable(words), severity="warning", markup=False, timeout=LONG)

    def _tell_all(self, alerts: Sequence[Alert]) -> None:
        if alerts:
            show_alert(self._app, summary(alerts), worse=any(one.worse for one in alerts))
        for one in alerts:
            self._state.told.append((one.time, one.words, one.worse))
            self._tell(one)

    def _tell(self, alert: Alert) -> None:
        """Tell it outside of the screen."""
        app, words = self._app, f"{self._state.session.name}: {alert.words}"
        off = self._state.silences.off
        if self._ways.bell and alert.worse and not off("bell"):
            app.bell()
        if self._ways.desktop and not off("desktop"):
            self._write(notification(words))
        for hook in self._ways.hooks if not off("webhooks") else ():
            app.run_worker(self._post(hook, alert), group="alerts")

    async def _post(self, hook: str, alert: Alert) -> None:
        """Send it beside the screens; a webhook that fails is reported once."""
        try:
            await post(hook, self._state.session.name, alert)
            self._failed = False
        except KcliError as problem:
            if not self._failed:
                toast(self._app, problem)
            self._failed = True


class Ways(NamedTuple):
    """The ways that are wanted; `hooks` are addresses."""

    bell: bool = False
    desktop: bool = False
    hooks: tuple[str, ...] = ()


def ways_of(text: str) -> Ways:
    """`bell,desktop,https://…`. Raises UsageError for anything else."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    hooks = tuple(word for word in words if word.startswith(("http://", "https://")))
    for word in words:
        if word not in ("bell", "desktop", *hooks):
            shown = HIDDEN if "@" in word else word
            raise UsageError(f"--alert {shown}: expected bell, desktop or the http address of a webhook")
    for hook in hooks:
        _address(hook)
    return Ways("bell" in words, "desktop" in words, hooks)


def notification(words: str) -> str:
    """What a terminal shows on the desktop; names of groups in it are fit for a terminal."""
    return f"\x1b]9;{printable(words)[:LONGEST]}\x07"


def _address(hook: str) -> tuple[Origin, str]:
    """Return the server of a webhook, and its path, which may be a secret. Raises UsageError."""
    scheme, _, rest = hook.partition("://")
    at = rest.rfind("@")  # a login may have any letters
    slash = next((place for place in range(at + 1, len(rest)) if rest[place] in "/?"), len(rest))
    origin = origin_of(f"{scheme}://{rest[:slash]}", "--alert: a webhook is http://HOST:PORT/PATH or https://HOST/PATH")
    return origin, rest[slash:].partition("#")[0]


def _refusal(answer: Answer, about: str, url: str, login: str) -> KcliError:
    text = f"the webhook at {url} answered {answer.status} to an alert"
    return Unavailable(text, status=answer.status) if answer.status in UNAVAILABLE else KcliError(text)


async def post(hook: str, cluster: str, alert: Alert) -> None:
    """Send an alert as JSON. Raises KcliError when it is not taken."""
    from kcli.security.http_client import HttpClient

    origin, path = _address(hook)
    body = {
        "cluster": cluster,
        "group": alert.group,
        "status": alert.now,
        "before": alert.before,
        "lag": alert.lag,
        "unknown": alert.unknown,
        "time": alert.time,
        "text": f"{cluster}: {alert.words}",
    }
    service = Service(origins=(origin,), peer="webhook", connect_timeout=SECONDS, read_timeout=SECONDS, retries=RETRIES)
    client = HttpClient(service, None, _refusal)
    try:
        await client.request("POST", path, json.dumps(body).encode(), repeat=True)
    finally:
        await client.close()


class Alert(NamedTuple):
    """A group that got worse, or is well again; or an incident of the cluster, whose name is the `group`. Times are
    seconds since the epoch, `lag` is in offsets: a lower bound while that of `unknown` partitions is not known, None
    where nothing of it is."""

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
        return self.now in WRONG or self.now in KINDS

    @property
    def words(self) -> str:
        """A sentence for a notification."""
        if self.now in KINDS or self.before in KINDS:
            return f"{self.group} is {self.now}: {self.why}" if self.worse else f"{self.group}: {self.before} is over"
        why = f": {self.why}" if self.worse else ""
        lag = lower_bound(self.lag, self.unknown)
        return f"{self.group} is {status(self.now)[0]} (was {self.before}), lag {lag}{why}"


def summary(alerts: Sequence[Alert]) -> str:
    """A sentence for all alerts of a snapshot: one with its reason, of several which groups have which status, the
    worst first."""
    if len(alerts) == 1:
        return alerts[0].words
    names: dict[str, list[str]] = {}
    for alert in sorted(alerts, key=lambda alert: -SEVERITY.index(alert.now) if alert.now in SEVERITY else -99):
        names.setdefault(alert.now, []).append(alert.group)
    parts = [f"{now if now in KINDS else status(now)[0]} {_named(groups)}" for now, groups in names.items()]
    return f"{len(alerts)} alerts: {'; '.join(parts)}"


def _named(groups: list[str]) -> str:
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return ", ".join(groups[:NAMED]) + more


class Changes:
    """The last status of each group that had an alert, and newer ones that have not lasted yet."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}
        self._next: dict[str, tuple[str, int]] = {}

    def see(self, snapshot: LagSnapshot, silences: Container[tuple[str, str]]) -> list[Alert]:
        """The alerts of a snapshot; the first one has none. `silences` holds pairs of group and status that
        have none."""
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
            if (worse or well) and (group, now) not in silences:
                total, why = standing.total, reason(standing, snapshot)
                alerts.append(Alert(group, before, now, total.lag, snapshot.time, why, total.unknown))
        return alerts


class AlertToast(Notification):
    """An alert: one at a time is on the screen."""


def toast(app: App[Any], problem: KcliError) -> None:
    """Show the error and continue."""
    app.notify(printable(str(problem)), severity="error", markup=False)


def show_alert(app: App[Any], words: str, *, worse: bool) -> None:
    """Show an alert in the place of the one before, cut where it would cover more of the table."""
    lines = wrap(printable(words), max(app.size.width - FRAME, FRAME), max_lines=LINES, placeholder=" …")
    severity: SeverityLevel = "warning" if worse else "information"
    app.post_message(Notify(AlertToast("\n".join(lines), severity=severity, markup=False)))
