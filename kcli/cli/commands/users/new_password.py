"""A new password, from where it cannot be seen: the terminal without echo, a file, a command, a variable; never argv,
which every user of the machine can read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kcli.cli.output.messages import complain
from kcli.cli.parsing.option import Options
from kcli.config.secrets.sources import Source
from kcli.errors import UsageError
from kcli.secret import Secret

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class PasswordOptions(Options):
    """Where a new password comes from."""

    password_file: Annotated[
        str | None, typer.Option("--password-file", metavar="FILE", help="Read the password from a file; - is stdin.")
    ] = None
    password_command: Annotated[
        str | None,
        typer.Option(
            "--password-command",
            metavar="COMMAND",
            help="Read the password from a command's output, such as 'pass show kafka/bob'.",
        ),
    ] = None
    password_env: Annotated[
        str | None, typer.Option("--password-env", metavar="VARIABLE", help="Read the password from a variable.")
    ] = None


def check(options: PasswordOptions, *, asking: bool) -> None:
    """Raises UsageError where two places are named, and where none is, `asking` is needed and there is no terminal."""
    named = [flag for flag, _, _ in _places(options)]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} cannot be combined")
    if not named and asking and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("missing password: --password-file, --password-command or --password-env")


def read(options: PasswordOptions, user: str) -> Secret:
    """The password as it was typed. Raises UsageError for none, and for two that differ."""
    password = _placed(options)
    if password is None:
        from getpass import getpass

        password = getpass(f"New password of {user}: ", sys.stderr)
        if password != getpass("Once more: ", sys.stderr):
            raise UsageError("the two passwords differ; nothing was changed")
    if not password:
        raise UsageError("a password must not be empty; nothing was changed")
    return Secret(password)


def _placed(options: PasswordOptions) -> str | None:
    """The password from the place that the options name; None where they name none."""
    for flag, kind, given in _places(options):
        if kind == "file" and given == "-":
            return sys.stdin.readline().removesuffix("\n").removesuffix("\r")
        if kind == "command":
            from shlex import split

            what = tuple(split(given))
        else:
            what = (given,)
        if not what or not what[0]:
            raise UsageError(f"{flag} is empty")
        return Source(kind=kind, what=what).resolve(flag, complain)
    return None


def _places(options: PasswordOptions) -> list[tuple[str, str, str]]:
    """The places that are named: the option, the kind of its Source, and its value."""
    places = (
        ("--password-file", "file", options.password_file),
        ("--password-command", "command", options.password_command),
        ("--password-env", "env", options.password_env),
    )
    return [(flag, kind, given) for flag, kind, given in places if given is not None]
