"""What went wrong, and alerts, said for some seconds over whatever is on the screen."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from textual.notifications import Notification, Notify, SeverityLevel

from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from textual.app import App

    from kcli.errors import KcliError

LINES, FRAME = 2, 6
"""Lines that an alert takes at most, and cells of each that are not of its text: border, padding, scrollbar."""


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
