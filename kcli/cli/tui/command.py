"""`kcli tui`: the dashboard on a terminal. Textual is imported here and nowhere else in the commands."""

from __future__ import annotations

import sys
from pathlib import Path

from kcli.cli.connection import Connection, connection_of
from kcli.cli.lag.watch import seconds
from kcli.config.profiles import profile_names
from kcli.errors import UsageError
from kcli.nearest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.option import Values
    from kcli.tui.session import Session


def run(values: Values) -> int:
    """Open it; the exit code when it was left. Raises UsageError where there is no terminal."""
    interval = seconds(values["interval"], "--interval") or 5.0
    window = seconds(values["window"], "--window") or 60.0
    if values["keys"]:
        return _print_keys()
    settings = None if values["replay"] else Connection(values).client()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts: kcli lag --watch --format ndjson")
    _needs_textual()
    from kcli.tui.app import Dashboard
    from kcli.tui.keys import load
    from kcli.tui.places import NAMES, find
    from kcli.tui.replay import ReplaySession
    from kcli.tui.session import LiveSession

    words = " ".join(values["words"])
    place = find(words) if words else None
    if words and place is None:
        raise UsageError(f"there is no place {words!r} in the dashboard; take one of: {NAMES}")
    session: Session
    if settings is None:
        session = ReplaySession(Path(values["replay"]), window=window)
    else:
        session = LiveSession(settings, interval=interval, window=window)

    def other(name: str) -> Callable[[], Session]:
        return lambda: LiveSession(connection_of(name).client(), name=name, interval=interval, window=window)

    board = Dashboard(
        session,
        place=place,
        theme=_theme(values["theme"]),
        keymap=load(),
        profiles={name: other(name) for name in profile_names()},
        debug=values["debug"],
    )
    code = board.run()
    return (board.return_code or 0) if code is None else code


def _needs_textual() -> None:
    """Raises UsageError where it is not installed."""
    try:
        import textual  # noqa: F401  # asked for, not used here
    except ModuleNotFoundError as missing:
        raise UsageError(f"the dashboard needs {missing.name}: pip install textual") from missing


def _print_keys() -> int:
    """Every id that keys.toml may name, with its keys."""
    _needs_textual()
    from kcli.tui.keys import listing, load

    print(listing(load()))
    return 0


def _theme(name: str | None) -> str:
    """The theme of that name. Raises UsageError for one that is none."""
    if name is None:
        return "kcli-dark"
    from textual.theme import BUILTIN_THEMES

    from kcli.tui.themes import THEMES

    names = [*(one.name for one in THEMES), *sorted(BUILTIN_THEMES)]
    if name not in names:
        near = did_you_mean(name, names) or f"; there are {', '.join(names)}"
        raise UsageError(f"--theme {name}: there is no such theme{near}")
    return name
