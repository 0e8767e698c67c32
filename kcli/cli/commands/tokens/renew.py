"""`kcli tokens renew`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.changes import users
from kcli.cli.commands.tokens.rows import ChangeRow, milliseconds_of, shown
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import DryRun

SHAPE = shape("tokens.renew", "Delegation tokens with a new expiry, or with a planned one.", ChangeRow)


class RenewOptions(ChangeOptions):
    period: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="DURATION", help="New lifetime from now, such as 12h or 7d (default: the broker's)."
        ),
    ] = None
    dry_run: DryRun = False
    execute: Annotated[
        bool, typer.Option("--execute", "-y", "--yes", help="Apply the plan (the default).", hidden=True)
    ] = False
    yes, expect = False, None


@command(
    "tokens renew",
    help="Renew tokens.",
    words="TOKEN",
    examples="""
kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ
kcli tokens renew nWPnUkAORGOvZcXJRbRTmQ --for 2d""",
)
def renew(options: RenewOptions) -> int:
    """Renew delegation tokens by their ids: they expire later, but not after their maximum lifetime."""
    ids, period = words_of(options, "TOKEN, by its id"), milliseconds_of(options.period, "--for")
    planned = partial(users.plan_expiry, ids=ids, period=period, shown=shown, renew=True)
    applied = options if options.dry_run else options.replace(execute=True)
    return apply_plan(applied, SHAPE, ChangeRow, planned, verb="renew", noun="token", nothing="")
