"""`kcli tui`: the dashboard on a terminal. Textual is imported here and nowhere else in the commands."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from kcli.cli.commands.lag.plan import seconds
from kcli.cli.runtime.connection import Connection, connection_of
from kcli.config.profiles.files import profile_names
from kcli.errors import UsageError
from kcli.secret import HIDDEN, secretive
from kcli.text.suggest import did_you_mean

DRIVER = "TEXTUAL_DRIVER"
"""Who draws instead of a terminal, such as the browser of textual-serve."""
SERVERS = ("bootstrap.servers", "metadata.broker.list")
"""Properties that say what -b says."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.parsing.option import Values
    from kcli.tui.session import Session


def run(values: Values) -> int:
    """Open it; the exit code when it was left. Raises UsageError where there is no terminal."""
    interval = seconds(values["interval"], "--interval") or 5.0
    window = seconds(values["window"], "--window") or 60.0
    if values["keys"]:
        return _print_keys()
    connection = None if values["replay"] else Connection(values)
    settings = connection.client() if connection is not None else None
    if not os.environ.get(DRIVER) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts: kcli lag --watch --format ndjson")
    _needs_textual()
    from kcli.tui.actions.keys import load
    from kcli.tui.app import Dashboard
    from kcli.tui.replay import ReplaySession
    from kcli.tui.routes import NAMES, find
    from kcli.tui.session import LiveSession

    words = " ".join(values["words"])
    place = find(words) if words else None
    if words and place is None:
        raise UsageError(f"there is no place {words!r} in the dashboard; take one of: {NAMES}")
    session: Session
    if settings is None or connection is None:
        session = ReplaySession(Path(values["replay"]), window=window)
    else:
        name = connection.profile.name if connection.profile is not None else ""
        session = LiveSession(settings, name=name, aim=aim(values, connection), interval=interval, window=window)

    def other(name: str) -> Callable[[], Session]:
        words = f"--profile {shlex.quote(name)}"
        return lambda: LiveSession(connection_of(name).client(), name=name, aim=words, interval=interval, window=window)

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


def aim(values: Values, connection: Connection) -> str:
    """What of a command line says which cluster it means, and how it is reached; passwords are left out."""
    words = ["--profile", connection.profile.name] if connection.profile is not None else []
    if connection.profile is None or values.get("bootstrap"):
        words += ["-b", connection.servers()[1]]
    if values.get("config_file"):
        words += ["-F", values["config_file"]]
    for one in values.get("properties") or []:
        key = one.partition("=")[0].strip()
        words += [] if key in SERVERS else ["-X", f"{key}={HIDDEN}" if secretive(key) else one]
    for one in values.get("broker_map") or []:
        words += ["--broker-map", one]
    return shlex.join(words)


def _needs_textual() -> None:
    """Raises UsageError where it is not installed."""
    try:
        import textual  # noqa: F401  # asked for, not used here
    except ModuleNotFoundError as missing:
        raise UsageError(f"the dashboard needs {missing.name}: pip install textual") from missing


def _print_keys() -> int:
    """Every id that keys.toml may name, with its keys."""
    _needs_textual()
    from kcli.tui.actions.keys import listing, load

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
