"""`kcli config current`: which cluster applies, and why."""

from __future__ import annotations

import os

from kcli.cli.commands.config.profiles import ListOptions, print_list
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.connection import DEFAULT, Connection
from kcli.config.profiles import document, project_file, user_file
from kcli.secret import without_logins

SERVERS = "--bootstrap-server"


class SourceRow(Row, section="sources"):
    source: str = column("Option, variable or file that can name a cluster, in order of precedence.", rank=1)
    value: str | None = column("What it names: servers or a profile.", rank=1)
    applies: bool = column("True for the source in use.")
    bootstrap: str | None = column("Servers it resolves to, if it is in use.")
    config_file: str | None = column("File that sets this default_profile, or would set it.", rank=3)


SHAPE = shape("config.current", "Which cluster applies, and why.", SourceRow)


class CurrentOptions(ListOptions, OutputOptions):
    """What names a cluster."""


@command(
    "config current",
    help="Show which cluster applies, and why.",
    examples="""
kcli config current
kcli config current --profile prod
kcli config current -J | jq -r '.sources[] | select(.applies) | .source'""",
)
def current(options: CurrentOptions) -> int:
    """Show every source that can name a cluster, in order of precedence, and which one applies: options, the
    environment, .kcli.toml of the project, config.toml of the user, the default. `kcli config show` prints the
    properties.
    """
    return print_list(options, SHAPE, lambda: _rows(options))


def _rows(options: CurrentOptions) -> list[SourceRow]:
    connection = Connection(options, looking=False)
    where, servers = connection.servers()
    profile, by = connection.profile, connection.profile_from
    rows: list[SourceRow] = []
    for source, value, path in _sources(options, connection):
        named = profile is not None and value is not None and source == by
        by = "" if named else by  # a second default_profile is not read
        leads = source == where or (named and profile is not None and where == profile.where)
        rows.append(
            SourceRow(
                source=source,
                value=None if value is None else without_logins(value),
                applies=leads or named,
                bootstrap=without_logins(servers) if leads else None,
                config_file=path,
            )
        )
    return rows


def _sources(options: OutputOptions, connection: Connection) -> list[tuple[str, str | None, str | None]]:
    """(option, variable or key, what it names, file), the strongest first."""
    found: list[tuple[str, str | None, str | None]] = [
        (SERVERS, options.bootstrap or connection.properties.bootstrap, None),
        ("--profile", options.profile, None),
    ]
    for name in ("KCLI_BOOTSTRAP", "KCLI_BOOTSTRAP_SERVERS", "KCLI_PROFILE"):
        if os.environ.get(name) or name != "KCLI_BOOTSTRAP_SERVERS":
            found.append((name, os.environ.get(name) or None, None))
    for path in dict.fromkeys(path for path in (project_file(), user_file()) if path):
        named = document(path).get("default_profile") if os.path.isfile(path) else None
        found.append(("default_profile", named, path))
    return [*found, ("default", DEFAULT, None)]
