"""`kcli config check`: whether profiles make sense."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.commands.config.profiles import files, print_rows, remark
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import RowOptions
from kcli.cli.runtime.answer import format_of
from kcli.config.profiles import Profile, check_trust, profile_of
from kcli.config.properties.merged import read_properties
from kcli.config.secrets.sources import Source
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

PATHS = (".location", ".keytab", ".token.file")


class CheckRow(Row, section="profiles"):
    profile: str = column("Name of the profile.", rank=1)
    config_file: str = column("File that defines it.", rank=3)
    result: str = column("ok, warning or failed.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", unit="sentence")


SHAPE = shape("config.check", "Check profiles without a connection.", CheckRow)


class CheckOptions(RowOptions, RemarkOptions):
    secrets: Annotated[bool, typer.Option("--secrets", help="Resolve secrets (runs their commands) and open keys.")] = (
        False
    )


@command(
    "config check",
    help="Check profiles without a connection.",
    words="[PROFILE]...",
    examples="""
kcli config check
kcli config check prod --secrets      # resolve secrets too, and open keys""",
)
def check(options: CheckOptions) -> int:
    """Check profiles without connecting: names, values, files. `kcli doctor` checks the connection."""
    wanted = options.words
    rows: list[CheckRow] = []
    for where, contents in files():
        for name, table in contents.get("profiles", {}).items():
            if wanted and name not in wanted:
                continue
            result, notes = _checked(name, table, where, secrets=options.secrets)
            rows.append(CheckRow(profile=name, config_file=where, result=result, note="; ".join(notes) or None))
    names = [row.profile for row in rows]
    for name in wanted:
        if name not in names:
            from kcli.config.profiles import chosen

            chosen(name)  # raises for an unknown name, with the nearest ones
    remark(options, rows)
    code = print_rows(options, SHAPE, rows)
    for row in rows:
        if row.result != "ok" and format_of(options) != "table":
            complain(f"{row.profile}: {row.note}")
    return 1 if any(row.result == "failed" for row in rows) else code


def _checked(name: str, table: dict[str, object], where: str, *, secrets: bool) -> tuple[str, list[str]]:
    try:
        profile = check_trust(profile_of(name, table, where))
        properties = read_properties(None, [], profile, looking=secrets)
        security = properties.security()
        check_servers(profile)
        if security is not None and secrets:
            from kcli.broker.security.access import Access

            Access(security)
        missing = [f"{key}: {value} does not exist" for key, value in profile.properties if _absent(key, value)]
    except KcliError as problem:
        return "failed", [str(problem).removeprefix(f"{where}: profile {name}: ")]
    if missing:
        return "failed", missing
    warnings = [*profile.warnings, *properties.warnings, *(security.warnings() if security is not None else ())]
    return ("warning" if warnings else "ok"), list(dict.fromkeys(warnings))


def check_servers(profile: Profile) -> None:
    """Raises UsageError for servers and mappings that make no sense."""
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
