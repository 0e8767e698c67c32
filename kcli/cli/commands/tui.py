"""`kcli tui`: the dashboard on a terminal. Textual is imported here and nowhere else in the commands."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection, connection_of
from kcli.config.profiles import profile_names
from kcli.errors import KcliError, UsageError
from kcli.grammar.durations import seconds
from kcli.secret import HIDDEN, secretive, without_login
from kcli.text.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Annotated, TypedDict

    import typer

    from kcli.settings import ClientSettings
    from kcli.tui.alerts.alerting import Ways
    from kcli.tui.routes import Route
    from kcli.tui.session import Session

    class Appearance(TypedDict):
        """Arguments of the dashboard that are words of the command line or of files."""

        place: Route | None
        theme: str
        keymap: dict[str, str]
        ways: Ways


DRIVER = "TEXTUAL_DRIVER"
"""The program that draws instead of a terminal, such as the browser of textual-serve."""
SERVERS = ("bootstrap.servers", "metadata.broker.list")
"""Properties that say what -b says."""


class TuiOptions(ConnectionOptions):
    interval: Annotated[
        str | None, typer.Option("--interval", metavar="DURATION", help="Refresh interval (default 5s).")
    ] = None
    window: Annotated[
        str | None, typer.Option("--window", metavar="DURATION", help="Time window of the rates (default 60s).")
    ] = None
    replay: Annotated[
        str | None, typer.Option("--replay", metavar="FILE", help="Show a recording of `kcli lag record`.")
    ] = None
    theme: Annotated[
        str | None, typer.Option("--theme", metavar="NAME", help="kcli-dark (default), kcli-light, or Textual's.")
    ] = None
    schema_registry: Annotated[
        str | None,
        typer.Option(
            "--schema-registry", metavar="URL", help="The registry (default: schema.registry.url of the profile)."
        ),
    ] = None
    alert: Annotated[
        str | None,
        typer.Option(
            "--alert",
            metavar="WAYS",
            help="How to alert when a status changes: bell, desktop, http://… (comma-separated).",
        ),
    ] = None
    web: Annotated[
        bool, typer.Option("--web", help="Show it in a browser on this machine: read-only, one session.")
    ] = False
    port: Annotated[int | None, typer.Option("--port", min=0, help="With --web: the port (default: a free one).")] = (
        None
    )
    writable: Annotated[bool, typer.Option("--writable", help="With --web: allow changes.")] = False
    sessions: Annotated[
        int | None, typer.Option("--sessions", min=1, help="With --web: number of simultaneous sessions (default 1).")
    ] = None
    tour: Annotated[bool, typer.Option("--tour", help="Start with a five-step tour.")] = False
    keys: Annotated[bool, typer.Option("--keys", help="Print the id of every key; keys.toml changes them.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show a line with memory, frames and queues.")] = False


@command(
    "tui",
    words="PLACE",
    examples="""
kcli tui
kcli tui group payments                  # open with one group
kcli tui schemas --schema-registry http://localhost:8081
kcli tui --web                           # in a browser: prints the address
kcli tui --replay incident.ndjson        # , and . step, space plays, + and - change the speed
kcli dash --profile prod --interval 2s""",
)
def run(options: TuiOptions) -> int:
    """Open the dashboard of a cluster. `?` shows the keys, `:` jumps to a screen, `q` quits.

    Each screen shows the kcli command that does the same; `y` copies it. keys.toml, next to config.toml, changes keys
    by the ids that `--keys` prints: "group.reset" = "R".
    """
    interval = seconds(options.interval, "--interval", 5.0, 1)
    window = seconds(options.window, "--window", 60.0, 1)
    if options.keys:
        return _print_keys()
    if not options.replay and not options.web and sys.stdin.isatty() and sys.stdout.isatty():
        code = _first_contact(options)
        if code is not None:
            return code
    start = _replay(Path(options.replay), window) if options.replay else _live(options, interval, window)
    if options.web and not os.environ.get(DRIVER):
        return _serve(options, start)
    if not os.environ.get(DRIVER) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the dashboard needs a terminal; for scripts: kcli lag --watch --format ndjson")
    _needs_textual()
    from kcli.tui.app import Dashboard

    looks = _appearance(options)
    board = Dashboard(
        start(),
        profiles={name: _of_profile(name, options, interval, window) for name in profile_names()},
        debug=options.debug,
        tour=options.tour,
        **looks,
    )
    code = board.run()
    return (board.return_code or 0) if code is None else code


def _first_contact(options: TuiOptions) -> int | None:
    """Let the user choose a cluster where none is named; the exit code where none is opened. Raises UsageError."""
    from kcli.cli.commands.config.importing.first_contact import is_unnamed, keep, offers, use

    if not is_unnamed(options):
        return None
    _needs_textual()
    from kcli.tui.chooser import Chooser

    known = offers()
    rows = [(offer.name, offer.servers, offer.where) for offer in known]
    answer = Chooser(rows, [offer.found is not None for offer in known], [offer.usable for offer in known]).run()
    if answer is None:
        return 0
    at, kept = answer
    offer = known[at]
    if offer.found is not None:
        (keep if kept else use)(options, offer.found)
    elif offer.is_profile:
        options.profile = offer.name
    else:
        from kcli.cli.commands.demo.command import DemoOptions, demo

        return demo(DemoOptions())
    return None


def _serve(options: TuiOptions, start: Callable[[], Session]) -> int:
    """Run the dashboard for a browser. Raises UsageError without textual-serve, KcliError for a port in use."""
    try:
        from kcli.tui.web import serve
    except ModuleNotFoundError as missing:
        raise UsageError(f"--web needs {missing.name}: pip install 'kcli-kafka[web]'") from missing
    _appearance(options)  # report wrong arguments here, not in the browser
    if options.replay:
        start()  # which reads the recording
    try:
        return serve(sys.argv[1:], options.port or 0, options.sessions or 1, print_line)
    except OSError as problem:
        raise KcliError(f"--port {options.port}: {problem.strerror}") from None


def _appearance(options: TuiOptions) -> Appearance:
    """How the dashboard begins, and what it does of itself. Raises UsageError for words that are unknown."""
    from kcli.tui.actions.keys import load
    from kcli.tui.alerts.alerting import ways_of

    return {
        "place": _place(options.words),
        "theme": _theme(options.theme),
        "keymap": load(),
        "ways": ways_of(options.alert or ""),
    }


def _place(words: list[str]) -> Route | None:
    """The screen to begin with; None where none is named. Raises UsageError for one that is none."""
    from kcli.tui.routes import NAMES, find

    name = " ".join(words)
    place = find(name) if name else None
    if name and place is None:
        raise UsageError(f"unknown screen {name!r}; screens: {NAMES}")
    return place


def print_line(text: str) -> None:
    """A line of the web server, at once."""
    print(text, flush=True)


def _guarded(settings: ClientSettings, options: TuiOptions) -> ClientSettings:
    """The settings of a cluster; a browser session is read-only without --writable."""
    if options.web and not options.writable:
        return settings.replace(guard="read_only", auto_create_topics=False)
    return settings


def _of_profile(name: str, options: TuiOptions, interval: float, window: float) -> Callable[[], Session]:
    """What opens the cluster of a profile; its secrets are looked up then."""

    def start() -> Session:
        from kcli.tui.session import LiveSession

        connection = connection_of(name)
        return LiveSession(
            _guarded(connection.client(), options),
            name=name,
            aim=f"--profile {shlex.quote(name)}",
            interval=interval,
            window=window,
            registry=connection.registry(),
            isolation=connection.consumer().isolation,
            remembers=True,
        )

    return start


def _replay(path: Path, window: float) -> Callable[[], Session]:
    """What opens a recording."""

    def start() -> Session:
        from kcli.tui.replay import ReplaySession

        return ReplaySession(path, window=window)

    return start


def _live(options: TuiOptions, interval: float, window: float) -> Callable[[], Session]:
    """What opens the cluster of a command line, whose configuration is read at once. Raises UsageError."""
    connection = Connection(options)
    settings, registry = _guarded(connection.client(), options), connection.registry(options.schema_registry)
    name = connection.profile.name if connection.profile is not None else ""

    def start() -> Session:
        from kcli.tui.session import LiveSession

        option = shlex.quote(without_login(options.schema_registry or ""))
        return LiveSession(
            settings,
            name=name,
            aim=aim(options, connection),
            interval=interval,
            window=window,
            registry=registry,
            registry_option=f" --schema-registry {option}" if options.schema_registry else "",
            isolation=connection.consumer().isolation,
            remembers=True,
        )

    return start


def aim(options: ConnectionOptions, connection: Connection) -> str:
    """The arguments that name the cluster and how to reach it; without passwords."""
    words = ["--profile", connection.profile.name] if connection.profile is not None else []
    if connection.profile is None or options.bootstrap:
        words += ["-b", connection.servers()[1]]
    if options.config_file:
        words += ["-F", options.config_file]
    for item in options.properties:
        key = item.partition("=")[0].strip()
        words += [] if key in SERVERS else ["-X", f"{key}={HIDDEN}" if secretive(key) else item]
    for item in options.broker_map:
        words += ["--broker-map", item]
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

    names = [*(theme.name for theme in THEMES), *sorted(BUILTIN_THEMES)]
    if name not in names:
        near = did_you_mean(name, names) or f"; known: {', '.join(names)}"
        raise UsageError(f"--theme {name}: unknown theme{near}")
    return name
