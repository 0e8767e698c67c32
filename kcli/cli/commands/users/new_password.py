"""A new password, from where it cannot be seen: the terminal without echo, a file, a command, a variable; never argv,
which everybody on the machine can read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kcli.cli.main import complain
from kcli.config.secrets.sources import Source
from kcli.errors import UsageError
from kcli.secret import Secret

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

PLACES = {"password_file": "file", "password_command": "command", "password_env": "env"}


def check(values: Values) -> None:
    """Raises UsageError where two places are named, and where none is and nobody can be asked."""
    named = [f"--{name.replace('_', '-')}" for name in PLACES if values[name] is not None]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} exclude each other")
    if not named and not values["dry_run"] and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("where is the password? --password-file, --password-command or --password-env")


def read(values: Values, user: str) -> Secret:
    """The password as it was typed. Raises UsageError for none, and for two that differ."""
    found = _placed(values)
    if found is None:
        from getpass import getpass

        found = getpass(f"New password of {user}: ", sys.stderr)
        if found != getpass("Once more: ", sys.stderr):
            raise UsageError("the two passwords differ; nothing was done")
    if not found:
        raise UsageError("a password must not be empty; nothing was done")
    return Secret(found)


def _placed(values: Values) -> str | None:
    for name, kind in PLACES.items():
        text = values[name]
        if text is None:
            continue
        flag = f"--{name.replace('_', '-')}"
        if (name, text) == ("password_file", "-"):
            return sys.stdin.readline().removesuffix("\n").removesuffix("\r")
        if kind == "command":
            from shlex import split

            what = tuple(split(text))
        else:
            what = (text,)
        if not what or not what[0]:
            raise UsageError(f"{flag} is empty")
        return Source(kind=kind, what=what).resolve(flag, complain)
    return None
