"""`kcli tokens expire`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.changes import users
from kcli.cli.commands.tokens.rows import ExpiryRow, milliseconds_of, shown
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import plural, words_of
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import IfExists

SHAPE = shape("tokens.expire", "Delegation tokens with a new expiry, or with a planned one.", ExpiryRow)


class ExpireOptions(ChangeOptions):
    period: Annotated[
        str | None, typer.Option("--in", metavar="DURATION", help="Expire after this duration (default: now).")
    ] = None
    if_exists: IfExists = False


@command(
    "tokens expire",
    help="Expire tokens now or after a delay.",
    words="TOKEN",
    examples="""
kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --execute
kcli tokens expire nWPnUkAORGOvZcXJRbRTmQ --in 5m --execute""",
)
def expire(options: ExpireOptions) -> int:
    """Expire delegation tokens by their ids. The plan comes first; --execute applies it. An expired token cannot be
    restored."""
    ids, period = words_of(options, "TOKEN, by its id"), milliseconds_of(options.period, "--in")

    when = f"will expire in {options.period}" if options.period else "expired"
    return apply_plan(
        options,
        SHAPE,
        ExpiryRow,
        partial(users.plan_expiry, ids=ids, period=period, shown=shown, if_exists=options.if_exists),
        verb="expire",
        noun="token",
        nothing="",
        done=lambda rows: f"{plural(sum(row.error is None for row in rows), 'token')} {when}",
    )
