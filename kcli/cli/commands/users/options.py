"""`kcli users`, declared."""

from __future__ import annotations

from kcli.admin.users.users import FEWEST, MOST, USUAL
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, IF_EXISTS, OUTPUT


def _mechanism(line: str) -> Option:
    return Option(name="mechanisms", flags=("--mechanism",), multiple=True, metavar="MECHANISM", help=line)


USERS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.users.command:list_all",
        help="Who can log in by SCRAM, by which mechanism.",
        description="""Print the users that have SCRAM credentials. Passwords are never told, by any broker.

\b
Examples:
  kcli users
  kcli users list --format csv""",
        options=OUTPUT,
    ),
    "describe": Command(
        name="describe",
        run="kcli.cli.commands.users.command:describe",
        help="The credentials of users.",
        description="""Print the SCRAM credentials of users: mechanism and iterations. Exit code 1 when one is none.

\b
Examples:
  kcli users describe bob
  kcli users describe bob alice -J""",
        words="USER",
        options=OUTPUT,
    ),
    "set": Command(
        name="set",
        run="kcli.cli.commands.users.command:set_password",
        help="Set a user's password; also makes the user.",
        description="""Set a user's password, for the mechanisms that the user has, or for both if it is a new one.
It is asked for on the terminal, without echo, or read from one of the places below; never
from the command line. What is sent is salted and hashed here, which is still as good as the
password: use TLS. The plan comes first; --execute does it. There is no undo: no broker tells
the password there was.

\b
Examples:
  kcli users set bob --execute
  kcli users set bob --password-file bob.txt --execute
  pwgen 32 1 | kcli users set bob --password-file - --execute
  kcli users set bob --password-command 'pass show kafka/bob' --mechanism SCRAM-SHA-512 --execute""",
        words="USER",
        options=(
            _mechanism("Only for this mechanism. Repeatable."),
            Option(
                name="iterations", flags=("--iterations",), kind="int", least=FEWEST, metavar="N",
                help=f"Rounds of hashing, {FEWEST} to {MOST} (default {USUAL}).",
            ),
            Option(name="password_file", flags=("--password-file",), metavar="FILE", help="From a file; - is stdin."),
            Option(
                name="password_command", flags=("--password-command",), metavar="COMMAND",
                help="From what a command prints, such as 'pass show kafka/bob'.",
            ),
            Option(
                name="password_env", flags=("--password-env",), metavar="VARIABLE", help="From a variable's value."
            ),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "delete": Command(
        name="delete",
        run="kcli.cli.commands.users.command:delete",
        help="Delete users, or one mechanism of theirs.",
        description="""Delete SCRAM credentials: the user cannot log in by them any more. Connections that are open
stay, and ACLs stay. The plan comes first; --execute does it.

\b
Examples:
  kcli users delete bob --dry-run
  kcli users delete bob alice --execute
  kcli users delete bob --mechanism SCRAM-SHA-256 --execute""",
        words="USER",
        options=(_mechanism("Only this mechanism. Repeatable."), IF_EXISTS, EXECUTE, DRY_RUN, *OUTPUT),
    ),
}  # fmt: skip
