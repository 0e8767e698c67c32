"""`kcli config show`: what is in effect, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.cli.commands.config.profiles import ListOptions, print_list
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.connection import Connection
from kcli.config.properties.known import KNOWN
from kcli.config.secrets.sources import Source
from kcli.errors import UsageError
from kcli.secret import HIDDEN, secretive, without_login, without_logins
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings

if TYPE_CHECKING:
    from typing import Annotated

    import typer

SETTINGS: dict[str, object] = {
    "client": ClientSettings(),
    "producer": ProducerSettings(),
    "consumer": ConsumerSettings(isolation="read_committed"),
    "group": GroupSettings(auto_commit=True),
}


class PropertyRow(Row, section="settings"):
    property: str = column("Name of the property.", rank=1)
    value: str | None = column("Its value; a secret is ***, or its source.", rank=1)
    from_: str = column("Option, variable, file:line, or default.", name="from")


SHAPE = shape("config.show", "Show the properties in effect and their sources.", PropertyRow)


class ShowOptions(ListOptions, OutputOptions):
    all: Annotated[bool, typer.Option("--all", help="Defaults too.")] = False


@command(
    "config show",
    help="Show the properties in effect and their sources.",
    words="[PROFILE]",
    examples="""
kcli config show prod
kcli config show --profile prod -X linger.ms=50 --all      # defaults too""",
)
def show(options: ShowOptions) -> int:
    """Print the properties in effect, each with the option, the variable, or the file and line that sets it. Secrets
    are hidden and not looked up: only their source is shown, and no command is run.
    """
    words = options.words
    if len(words) > 1:
        raise UsageError("show accepts only one profile")
    connection = Connection(options.replace(profile=words[0]) if words else options, looking=False)
    return print_list(options, SHAPE, lambda: _effective(connection, everything=options.all))


def _effective(connection: Connection, *, everything: bool) -> list[PropertyRow]:
    profile = connection.profile
    lines: dict[str, int] = {}
    if profile is not None:
        from kcli.cli.commands.config.writing.toml import lines_of

        lines = lines_of(profile.path, profile.name)

    def origin(where: str, key: str) -> str:
        if profile is None or where != profile.where:
            return where.partition("=")[0]
        return f"{profile.path}:{lines[key]}" if key in lines else profile.path

    where, servers = connection.servers()
    rows: list[PropertyRow] = []
    if profile is not None:
        rows.append(PropertyRow(property="profile", value=profile.name, from_=connection.profile_from))
    source = origin(where, "bootstrap")
    rows.append(PropertyRow(property="bootstrap.servers", value=without_logins(servers), from_=source))
    if profile is not None and profile.guard:
        rows.append(PropertyRow(property=profile.guard, value="true", from_=origin(profile.where, profile.guard)))
    for host, to, by in connection.mapping():
        rows.append(PropertyRow(property="broker_map", value=f"{host}={to}", from_=origin(by, f"broker_map.{host}")))
    for key, (value, by) in connection.properties.given.items():
        if key not in ("bootstrap.servers", "metadata.broker.list"):
            rows.append(PropertyRow(property=key, value=shown(key, value), from_=origin(by, key)))
    if everything:
        rows += defaults({row.property for row in rows})
    return rows


def shown(key: str, value: str | Source) -> str:
    """A value as it may be seen: no secret, no password in an address, no words of a command but the first."""
    if not isinstance(value, str):
        return f"{{{value.kind}: {value.what[0]}{' …' if len(value.what) > 1 else ''}}}"
    if secretive(key):
        return HIDDEN
    value = without_login(value)
    return f"{value.split()[0]} …" if key.endswith(".command") and " " in value else value


def defaults(named: set[str]) -> list[PropertyRow]:
    """A row for each property that is not set; of two names for one field, the first."""
    done = {(kind, KNOWN[name][1]) for name in named if name in KNOWN for kind in KNOWN[name][0]}
    rows: list[PropertyRow] = []
    for name, (kinds, field, unit) in KNOWN.items():
        if (kinds[0], field) in done:
            continue
        done.update((kind, field) for kind in kinds)
        rows.append(PropertyRow(property=name, value=_text(getattr(SETTINGS[kinds[0]], field), unit), from_="default"))
    return rows


def _text(value: Any, unit: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(unit, dict):
        return next((word for word, meant in unit.items() if meant == value), str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if unit == "ms":
        return f"{value * 1000:.0f}"
    if unit == "KiB":
        return str(value // 1024)
    return ",".join(value) if isinstance(value, tuple) else str(value)
