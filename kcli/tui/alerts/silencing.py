"""The acts that make a group or an incident quiet, and loud again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.lag.events import Event
from kcli.tui.actions.acts import Act
from kcli.tui.alerts.silences import Silence
from kcli.tui.text.formatting import status as status_text
from kcli.tui.text.incidents import WRONG
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.lag.history import GroupStanding
    from kcli.tui.screens.page import Page


def silencing(page: Page, standing: GroupStanding | None) -> list[Act]:
    """Acknowledge the status of a group, mute it; or undo that."""
    if standing is None:
        return []
    group, now = standing.described.group, standing.status
    return silencing_of(page, group, now, page.state.silences.of(group, now), wrong=now in WRONG)


def silencing_of(page: Page, name: str, status: str, quiet: Silence | None, *, wrong: bool) -> list[Act]:
    """The same of a group or an incident by its name; `quiet` is why there are no alerts of it."""
    if not page.session.live:
        return []
    if quiet is not None:
        return [Act("M", "Alert of it again", "", partial(silence, page, name, None, "alerts are on again"))]
    mute = Act(
        "M", "Mute it: no alerts", "", partial(silence, page, name, Silence("", "", page.session.clock()), "muted")
    )
    what = status_text(status)[0] if status in WRONG else status
    ack = Act("K", f"Acknowledge {what} …", "", partial(acknowledge, page, name, status))
    return [ack, mute] if wrong else [mute]


def acknowledge(page: Page, name: str, status: str) -> None:
    """Ask for a reason; the name is quiet until its status changes."""
    from kcli.tui.dialogs.reason import Reason

    def told(reason: str | None) -> None:
        if reason is not None:
            silence(page, name, Silence(status, reason, page.session.clock()), f"{status} acknowledged: {reason}")

    what = status_text(status)[0] if status in WRONG else status
    page.app.push_screen(
        Reason(f"{printable(name.removeprefix(f'cluster/{status}/'))} is {what}: acknowledge it"), told
    )


def silence(page: Page, name: str, entry: Silence | None, words: str, *, noted: bool = True) -> None:
    """Keep it, write it into the timeline of the group, and draw the page anew."""
    try:
        page.state.silences.put(name, entry)
    except OSError as problem:
        page.notify(f"It is forgotten at the end: {problem.strerror}", severity="warning", markup=False)
    if noted and not name.startswith("cluster/"):
        page.session.note(Event(time=page.session.clock(), group=name, kind="note", text=words))
        words = f"{name}: {words}"
    page.notify(printable(words), markup=False, timeout=3)
    page.on_state_updated()
