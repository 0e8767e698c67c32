"""`kcli tui`: the dashboard on a terminal. Textual is imported here and nowhere else in the commands."""

from __future__ import annotations

import sys
from pathlib import Path

from kcli.cli.connection import Connection
from kcli.cli.lag_watch import seconds
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values


def run(values: Values) -> int:
    """Open it; the exit code when it was left. Raises UsageError where there is no terminal."""
    interval = seconds(values["interval"], "--interval") or 5.0
    window = seconds(values["window"], "--window") or 60.0
    settings = None if values["replay"] else Connection(values).client()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts: kcli lag --watch --format ndjson")
    try:
        from kcli.tui.app import Dashboard
    except ModuleNotFoundError as missing:
        raise UsageError(f"the dashboard needs {missing.name}: pip install textual") from missing
    from kcli.tui.places import NAMES, find
    from kcli.tui.replay import ReplaySession
    from kcli.tui.session import LiveSession, Session

    words = " ".join(values["words"])
    place = find(words) if words else None
    if words and place is None:
        raise UsageError(f"there is no place {words!r} in the dashboard; take one of: {NAMES}")
    session: Session
    if settings is None:
        session = ReplaySession(Path(values["replay"]), window=window)
    else:
        session = LiveSession(settings, interval=interval, window=window)
    board = Dashboard(session, place=place, theme=values["theme"] or "kcli-dark")
    return board.run() or 0
