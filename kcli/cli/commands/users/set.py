"""`kcli users set`: a new password, for the mechanisms that are named or that the user has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.admin.users import FEWEST, MOST, USUAL
from kcli.changes import users
from kcli.cli.commands.users import new_password
from kcli.cli.commands.users.credentials import ChangeRow, mechanisms_of
from kcli.cli.commands.users.new_password import PasswordOptions
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes.change import Row

SHAPE = shape("users.set", "SCRAM credentials that were changed, or would be.", ChangeRow)


class SetOptions(PasswordOptions, ChangeOptions):
    mechanisms: Annotated[
        list[str], typer.Option("--mechanism", metavar="MECHANISM", help="Only for this mechanism. Repeatable.")
    ]
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", min=FEWEST, help=f"Rounds of hashing, {FEWEST} to {MOST} (default {USUAL})."),
    ] = None


@command(
    "users set",
    help="Set a user's password; creates the user.",
    words="USER",
    examples="""
kcli users set bob --execute
kcli users set bob --password-file bob.txt --execute
pwgen 32 1 | kcli users set bob --password-file - --execute
kcli users set bob --password-command 'pass show kafka/bob' --mechanism SCRAM-SHA-512 --execute""",
)
def set_password(options: SetOptions) -> int:
    """Set a user's password for the mechanisms that the user has, or for both if the user is new. kcli asks for it on
    the terminal without echo, or reads it as an option below says, but never from the command line. kcli salts and
    hashes the password before sending it; the hash is still as valuable as the password, so use TLS. The plan comes
    first; --execute applies it. This cannot be undone: brokers do not reveal the old password.
    """
    names = words_of(options, "USER")
    if len(names) > 1:
        raise UsageError("set the password of only one user at a time")
    wanted = mechanisms_of(options.mechanisms)
    new_password.check(options, asking=not options.plan_only)
    rounds = options.iterations or USUAL
    if rounds > MOST:
        raise UsageError(f"--iterations {rounds}: Kafka allows at most {MOST}")
    (name,) = names
    Connection(options, looking=False)  # report a misspelt profile before asking for a password
    password = Secret("") if options.plan_only else new_password.read(options, name)

    return apply_plan(
        options,
        SHAPE,
        ChangeRow,
        partial(users.plan_set, user=name, password=password, mechanisms=wanted, iterations=rounds),
        done=_done,
    )


def _done(rows: Sequence[Row]) -> str:
    if any(row.error is not None for row in rows):
        return ""
    mechanisms = " and ".join(str(row.as_json()["mechanism"]) for row in rows)
    return f"user {rows[0].name}: the password is set for {mechanisms}"
