"""`kcli config list`: the profiles of the project and of the user."""

from __future__ import annotations

import os

from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.commands.config.profiles import ListOptions, files, print_list, remark
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.config.profiles import Profile, profile_of
from kcli.errors import UsageError
from kcli.secret import without_logins


class ProfileRow(Row, section="profiles"):
    profile: str = column("Name of the profile.", rank=1)
    bootstrap: str | None = column("Where the cluster listens.")
    protocol: str = column("security.protocol.", unit="word", rank=3)
    protected: str | None = column("read_only, protected, or null.", unit="word")
    default: bool = column("True when a file names it as default_profile.")
    config_file: str = column("File that defines it.", rank=3)
    note: str | None = column("Note about the row; null without one.", unit="sentence")
    in_use: bool = column("True when commands use it without --profile.", before="config_file")


SHAPE = shape("config.list", "Profiles, of the project and of the user.", ProfileRow)


class ProfilesOptions(ListOptions, RemarkOptions):
    """How profiles are printed."""


@command(
    "config list",
    help="List the profiles of the project and of the user.",
    examples="""
kcli config list
kcli config list --format plain | cut -f1""",
)
def list_all(options: ProfilesOptions) -> int:
    """List the profiles of .kcli.toml (up to the git root) and of config.toml."""

    def rows() -> list[ProfileRow]:
        found = _rows()
        remark(options, found)
        return found

    return print_list(options, SHAPE, rows)


def _rows() -> list[ProfileRow]:
    read = files()
    defaults = (contents["default_profile"] for _, contents in read if "default_profile" in contents)
    default = next(defaults, None)
    used = os.environ.get("KCLI_PROFILE") or default
    rows: list[ProfileRow] = []
    seen: dict[str, str] = {}
    for where, contents in read:
        for name, table in contents.get("profiles", {}).items():
            profile, note = None, f"overridden by {seen[name]}" if name in seen else None
            try:
                profile = profile_of(name, table, where)
            except UsageError as problem:
                note = str(problem)
            properties = dict(profile.properties) if profile is not None else {}
            rows.append(
                ProfileRow(
                    profile=name,
                    bootstrap=_shown_servers(profile),
                    protocol=str(properties.get("security.protocol", "PLAINTEXT")).upper(),
                    protected=(profile.guard if profile is not None else "") or None,
                    default=name == default and name not in seen,
                    in_use=name == used and name not in seen,
                    config_file=where,
                    note=note,
                )
            )
            seen.setdefault(name, where)
    return rows


def _shown_servers(profile: Profile | None) -> str | None:
    return without_logins(profile.bootstrap) if profile is not None and profile.bootstrap else None
