"""`kcli config list`, `show`, `check`, `path`: what is configured, where it comes from, and whether it makes sense."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from kcli.cli.main import complain
from kcli.cli.output.render import Document, write
from kcli.cli.output.shapes.shape import shape
from kcli.cli.parsing.command import Legacy
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.connection import Connection
from kcli.config.profiles.files import check_trust, document, project_file, user_file
from kcli.config.profiles.profile import Profile, profile_of
from kcli.config.properties.merged import read_properties
from kcli.config.secrets.sources import Source
from kcli.errors import KcliError, UsageError
from kcli.secret import HIDDEN, secretive, without_login, without_logins

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

PATHS = (".location", ".keytab", ".token.file")


def path(values: Values) -> int:
    """`kcli config path`."""
    sys.stdout.write(f"{user_file()}\n")
    sys.stdout.flush()
    return 0


def files() -> list[tuple[str, dict[str, Any]]]:
    """(path, contents) of the project's file and the user's, as far as they are there. Raises UsageError."""
    paths = [one for one in (project_file(), user_file()) if one and os.path.isfile(one)]
    return [(one, document(one)) for one in dict.fromkeys(paths)]


def list_all(values: Values) -> int:
    """`kcli config list`."""
    read = files()
    named = os.environ.get("KCLI_PROFILE")
    default = named or next((one["default_profile"] for _, one in read if "default_profile" in one), None)
    rows: list[Row] = []
    seen: dict[str, str] = {}
    for where, contents in read:
        for name, table in contents.get("profiles", {}).items():
            profile, note = None, f"{seen[name]} goes before it" if name in seen else None
            try:
                profile = profile_of(name, table, where)
            except UsageError as problem:
                note = str(problem)
            given = dict(profile.properties) if profile is not None else {}
            rows.append(
                {
                    "profile": name,
                    "bootstrap": _shown_servers(profile),
                    "protocol": str(given.get("security.protocol", "PLAINTEXT")).upper(),
                    "protected": (profile.guard if profile is not None else "") or None,
                    "default": name == default and name not in seen,
                    "config_file": where,
                    "note": note,
                }
            )
            seen.setdefault(name, where)
    _remark_none(values, rows)
    return _print(values, "config.list", "profiles", rows)


def _shown_servers(profile: Profile | None) -> str | None:
    return without_logins(profile.bootstrap) if profile is not None and profile.bootstrap else None


def _remark_none(values: Values, rows: list[Row]) -> None:
    if not rows and not values.get("quiet"):
        complain(f"there are no profiles: write some into {user_file()}, or see `kcli config import --help`")


def show(values: Values) -> int:
    """`kcli config show [PROFILE]`."""
    words = values.get("words") or []
    if len(words) > 1:
        raise UsageError("show takes one profile")
    given: Values = Legacy({**values, "profile": words[0] if words else values.get("profile")})
    connection = Connection(given, looking=False)
    return _print(values, "config.show", "settings", _effective(connection, everything=bool(values.get("all"))))


def _effective(connection: Connection, *, everything: bool) -> list[Row]:
    profile = connection.profile
    lines: dict[str, int] = {}
    if profile is not None:
        from kcli.cli.commands.config.toml import lines_of

        lines = lines_of(profile.path, profile.name)

    def origin(where: str, key: str) -> str:
        if profile is None or where != profile.where:
            return where.partition("=")[0]
        return f"{profile.path}:{lines[key]}" if key in lines else profile.path

    where, servers = connection.servers()
    rows: list[Row] = []
    if profile is not None:
        rows.append({"property": "profile", "value": profile.name, "from": connection.profile_from})
    source = origin(where, "bootstrap") if servers != "localhost:9092" or where != "--bootstrap-server" else "default"
    rows.append({"property": "bootstrap.servers", "value": without_logins(servers), "from": source})
    if profile is not None and profile.guard:
        rows.append({"property": profile.guard, "value": "true", "from": origin(profile.where, profile.guard)})
    for one, to, said in connection.mapping():
        rows.append({"property": "broker_map", "value": f"{one}={to}", "from": origin(said, f"broker_map.{one}")})
    for key, (value, said) in connection.properties.given.items():
        if key not in ("bootstrap.servers", "metadata.broker.list"):
            rows.append({"property": key, "value": shown(key, value), "from": origin(said, key)})
    if everything:
        from kcli.cli.commands.config.defaults import defaults

        rows += defaults({str(row["property"]) for row in rows})
    return rows


def shown(key: str, value: str | Source) -> str:
    """A value as it may be seen: no secret, no password in an address, no words of a command but the first."""
    if not isinstance(value, str):
        return f"{{{value.kind}: {value.what[0]}{' …' if len(value.what) > 1 else ''}}}"
    if secretive(key):
        return HIDDEN
    value = without_login(value)
    return f"{value.split()[0]} …" if key.endswith(".command") and " " in value else value


def check(values: Values) -> int:
    """`kcli config check [PROFILE]...`."""
    wanted = values.get("words") or []
    rows: list[Row] = []
    for where, contents in files():
        for name, table in contents.get("profiles", {}).items():
            if wanted and name not in wanted:
                continue
            result, notes = _checked(name, table, where, secrets=bool(values.get("secrets")))
            rows.append({"profile": name, "config_file": where, "result": result, "note": "; ".join(notes) or None})
    names = [row["profile"] for row in rows]
    for name in wanted:
        if name not in names:
            from kcli.config.profiles.files import chosen

            chosen(name)  # says that there is none, and which are near
    _remark_none(values, rows)
    code = _print(values, "config.check", "profiles", rows)
    for row in rows:
        if row["result"] != "ok" and format_of(values) != "table":
            complain(f"{row['profile']}: {row['note']}")
    return 1 if any(row["result"] == "failed" for row in rows) else code


def _checked(name: str, table: dict[str, Any], where: str, *, secrets: bool) -> tuple[str, list[str]]:
    try:
        profile = check_trust(profile_of(name, table, where))
        made = read_properties(None, [], profile, looking=secrets)
        security = made.security()
        _servers(profile)
        if security is not None and secrets:
            from kcli.broker.security.access import Access

            Access(security)
        missing = [f"{key}: there is no {value}" for key, value in profile.properties if _absent(key, value)]
    except KcliError as problem:
        return "failed", [str(problem).removeprefix(f"{where}: profile {name}: ")]
    if missing:
        return "failed", missing
    told = [*profile.warnings, *made.warnings, *(security.warnings() if security is not None else ())]
    return ("warning" if told else "ok"), list(dict.fromkeys(told))


def _servers(profile: Profile) -> None:
    from kcli.config.properties.broker_map import pair
    from kcli.settings import parse_bootstrap

    for item in profile.broker_map:
        pair(item, "broker_map")
    try:
        parse_bootstrap(profile.bootstrap or "")
    except ValueError as problem:
        raise UsageError(f"bootstrap: {problem}") from None


def _absent(key: str, value: str | Source) -> bool:
    return isinstance(value, str) and key.endswith(PATHS) and not os.path.exists(os.path.expanduser(value))


def _print(values: Values, name: str, section: str, rows: list[Row]) -> int:
    made = Document(shape=shape(name))
    made.rows[section] = rows
    if rows or format_of(values) != "table":
        write(made, format_of(values))
    return 0
