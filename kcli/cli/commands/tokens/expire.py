"""`kcli tokens expire`."""

from __future__ import annotations

from kcli.admin.users.tokens import expire_token
from kcli.cli.commands.tokens.changes import ExpiryRow, change_each, find_tokens, milliseconds_of, planned
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, if_exists
from kcli.cli.parsing.option import span
from kcli.cli.runtime.answer import plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.model import Cluster

SHAPE = shape("tokens.expire", "Delegation tokens with a new expiry, or with a planned one.", ExpiryRow)


class ExpireOptions(ChangeOptions):
    period = span("--in", help="Expire after this duration (default: now).")
    if_exists = if_exists()


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

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        tokens = await find_tokens(cluster, ids, document, if_exists=options.if_exists)
        rows = document.of(ExpiryRow)
        rows += [planned(ExpiryRow, token, "would expire") for token in tokens]
        if not tokens:
            return None

        async def carry_out() -> int | None:
            word = "expires" if options.period else "expired"
            await change_each(document, rows, tokens, word, lambda token: expire_token(cluster, token, period))
            when = f" will expire in {options.period}" if options.period else " expired"
            say(options, plural(sum(row.result == word for row in rows), "token") + when)
            return None

        return PlannedChange(names=[token.id for token in tokens], verb="expire", noun="token", carry_out=carry_out)

    return make_change(options, SHAPE, make_plan)
