"""The acts of a group that make it quiet, and loud again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.lag.events import Event
from kcli.tui.actions.acts import Act
from kcli.tui.alerts.hushed import Hush
from kcli.tui.text.formatting import status
from kcli.tui.text.incidents import WRONG
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.lag.history import GroupStanding
    from kcli.tui.screens.page import Page


def hushing(page: Page, standing: GroupStanding | None) -> list[Act]:
    """Acknowledge its status, mute it; or take that back."""
    if standing is None or not page.session.live:
        return []
    group, now = standing.described.group, standing.status
    if (group, now) in page.state.hushed:
        return [Act("m", "Alert of it again", "", partial(_put, page, group, None, "alerts are on again"))]
    acts = [Act("m", "Mute it: no alerts", "", partial(_put, page, group, Hush("", "", _now(page)), "muted"))]
    if now in WRONG:
        acts.insert(0, Act("k", f"Acknowledge {status(now)[0]} …", "", partial(_ask, page, group, now)))
    return acts


def _now(page: Page) -> float:
    return page.session.clock()


def _ask(page: Page, group: str, now: str) -> None:
    from kcli.tui.dialogs.reason import Reason

    def told(reason: str | None) -> None:
        if reason is not None:
            _put(page, group, Hush(now, reason, _now(page)), f"{now} acknowledged: {reason}")

    page.app.push_screen(Reason(f"{printable(group)} is {status(now)[0]}: acknowledge it"), told)


def _put(page: Page, group: str, hush: Hush | None, words: str) -> None:
    """Keep it, write it into the timeline of the group, and draw the board anew."""
    try:
        page.state.hushed.put(group, hush)
    except OSError as problem:
        page.notify(f"It is forgotten at the end: {problem.strerror}", severity="warning", markup=False)
    page.session.note(Event(time=_now(page), group=group, kind="note", text=words))
    page.notify(f"{printable(group)}: {printable(words)}", markup=False, timeout=3)
    page.on_new_look()
