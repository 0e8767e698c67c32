"""`kcli users delete`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.changes import users
from kcli.cli.commands.users.credentials import ChangeRow, mechanisms_of
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import plural, words_of
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import IfExists

SHAPE = shape("users.delete", "SCRAM credentials that were changed, or would be.", ChangeRow)


class DeleteOptions(ChangeOptions):
    mechanisms: Annotated[
        list[str], typer.Option("--mechanism", metavar="MECHANISM", help="Only this mechanism. Repeatable.")
    ]
    if_exists: IfExists = False


@command(
    "users delete",
    help="Delete users, or one of their mechanisms.",
    words="USER",
    examples="""
kcli users delete bob --dry-run
kcli users delete bob alice --execute
kcli users delete bob --mechanism SCRAM-SHA-256 --execute""",
)
def delete(options: DeleteOptions) -> int:
    """Delete SCRAM credentials: the user can no longer log in with them. Open connections and ACLs stay.
    The plan comes first; --execute applies it.
    """
    names, wanted = words_of(options, "USER"), mechanisms_of(options.mechanisms)

    return apply_plan(
        options,
        SHAPE,
        ChangeRow,
        partial(users.plan_deletion, users=names, mechanisms=wanted, if_exists=options.if_exists),
        verb="delete",
        noun="user",
        done=lambda rows: f"{plural(sum(row.result == 'deleted' for row in rows), 'credential')} deleted",
    )
