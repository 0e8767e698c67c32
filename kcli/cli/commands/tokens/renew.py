"""`kcli tokens renew`."""

from __future__ import annotations

from kcli.admin.users.tokens import renew_token
from kcli.cli.commands.tokens.changes import ChangeRow, change_each, find_tokens, milliseconds_of, planned
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import AppliedOptions, OutputOptions, dry_run
from kcli.cli.parsing.option import span
from kcli.cli.runtime.answer import answer, words_of
from kcli.model import Cluster

SHAPE = shape("tokens.renew", "Delegation tokens with a new expiry, or with a planned one.", ChangeRow)


class RenewOptions(AppliedOptions, OutputOptions):
    period = span("--for", help="New lifetime from now, such as 12h or 7d (default: the broker's).")
    dry_run = dry_run()


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
    options.check_dry_run(options.dry_run)
    ids, period = words_of(options, "TOKEN, by its id"), milliseconds_of(options.period, "--for")

    async def work(cluster: Cluster, document: Document) -> int | None:
        tokens = await find_tokens(cluster, ids, document)
        rows = document.of(ChangeRow)
        rows += [planned(ChangeRow, token, "would renew") for token in tokens]
        if not options.dry_run:
            await change_each(document, rows, tokens, "renewed", lambda token: renew_token(cluster, token, period))
        return None

    return answer(options, SHAPE, work)
