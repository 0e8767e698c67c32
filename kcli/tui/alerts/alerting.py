"""The alerts of one cluster: one toast for those of a snapshot, and the ways in which each leaves the screen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.tui.actions.toast import show_alert, toast
from kcli.tui.alerts.changes import Changes, summary
from kcli.tui.alerts.ways import Ways, notification, post
from kcli.tui.text.printable import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from kcli.lag.watch import LagSnapshot
    from kcli.tui.alerts.changes import Alert
    from kcli.tui.state import State


class Alerting:
    """What the app does with snapshots of a cluster besides drawing them, also of those that are not drawn."""

    def __init__(self, app: App[int], state: State, ways: Ways | None, write: Callable[[str], object]) -> None:
        """`write` sends a sequence to the terminal."""
        self._app = app
        self._state = state
        self._write = write
        self._ways = ways or Ways()
        self._changes = Changes()
        self._failed = False
        self._last = 0.0

    def of_another_cluster(self) -> Alerting:
        """The same ways, nothing known."""
        return Alerting(self._app, self._state, self._ways, self._write)

    def open(self, cluster_id: str) -> None:
        """Which groups are acknowledged or muted, from the file of the cluster."""
        try:
            self._state.hushed.open(cluster_id)
        except OSError as problem:
            words = f"Acknowledged groups are not known: {problem.strerror}"
            self._app.notify(words, severity="warning", markup=False, timeout=LONG)

    def see(self, snapshot: LagSnapshot) -> None:
        """Tell what changed. One that is shown again, by its time, is not counted again."""
        if snapshot.time == self._last:
            return
        self._last = snapshot.time
        alerts = self._changes.see(snapshot, self._state.hushed)
        if alerts:
            show_alert(self._app, summary(alerts), worse=any(one.worse for one in alerts))
        for one in alerts:
            self._tell(one)

    def _tell(self, alert: Alert) -> None:
        """Tell it outside of the screen."""
        app, words = self._app, f"{self._state.session.name}: {alert.words}"
        if self._ways.bell and alert.worse:
            app.bell()
        if self._ways.desktop:
            self._write(notification(words))
        for hook in self._ways.hooks:
            app.run_worker(self._post(hook, alert), group="alerts")

    async def _post(self, hook: str, alert: Alert) -> None:
        """Send it beside the screens; a webhook that fails is reported once."""
        try:
            await asyncio.to_thread(post, hook, self._state.session.name, alert)
            self._failed = False
        except KcliError as problem:
            if not self._failed:
                toast(self._app, problem)
            self._failed = True
