"""`kcli users set`: a new password, for the mechanisms that are named or that the user has."""

from __future__ import annotations

from kcli.admin.users.users import FEWEST, MECHANISMS, MOST, USUAL, Password, alter_credentials
from kcli.cli.commands.users import new_password
from kcli.cli.commands.users.credentials import ChangeRow, find_users, finish, mechanisms_of, planned
from kcli.cli.commands.users.new_password import PasswordOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import integer, texts
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.secret import Secret

SHAPE = shape("users.set", "SCRAM credentials that were changed, or would be.", ChangeRow)


class SetOptions(PasswordOptions, ChangeOptions):
    mechanisms = texts("--mechanism", metavar="MECHANISM", help="Only for this mechanism. Repeatable.")
    iterations = integer("--iterations", least=FEWEST, help=f"Rounds of hashing, {FEWEST} to {MOST} (default {USUAL}).")


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
    """Set a user's password, for the mechanisms that the user has, or for both if it is a new one. It is asked for on
    the terminal, without echo, or read from one of the places below; never from the command line. What is sent is
    salted and hashed here, which is still as good as the password: use TLS. The plan comes first; --execute applies it.
    There is no undo: no broker tells the password there was.
    """
    names = words_of(options, "USER")
    if len(names) > 1:
        raise UsageError("set one user's password at a time")
    wanted = mechanisms_of(options.mechanisms)
    new_password.check(options, asking=not options.plan_only)
    rounds = options.iterations or USUAL
    if rounds > MOST:
        raise UsageError(f"--iterations {rounds}: Kafka takes {MOST} at most")
    (name,) = names
    password = Secret("") if options.plan_only else new_password.read(options, name)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        users = await find_users(cluster, names, document, unknown_too=True)
        if name not in users:
            return None
        has = users[name]
        chosen = wanted or sorted(has) or list(MECHANISMS)
        rows = document.of(ChangeRow)
        rows += [planned(name, mechanism, has.get(mechanism), rounds, "would set") for mechanism in chosen]
        kept = sorted(has.keys() - set(chosen))
        if kept:
            say(options, f"{name} can still log in by {' and '.join(kept)} with the password of before")

        async def carry_out() -> int | None:
            passwords = [
                Password(user=name, mechanism=mechanism, password=password, iterations=rounds) for mechanism in chosen
            ]
            finish(document, rows, await alter_credentials(cluster, passwords), "set")
            if not document.errors:
                say(options, f"user {name}: the password is set for {' and '.join(chosen)}")
            return None

        return PlannedChange(names=[name], carry_out=carry_out)

    return make_change(options, SHAPE, make_plan)
