"""`kcli tokens list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import principal
from kcli.admin.tokens import describe_tokens
from kcli.cli.commands.tokens.rows import TokenRow, token_row
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption

SHAPE = shape(
    "tokens.list", "Delegation tokens, one a row, without their secrets.", TokenRow, empty="no delegation tokens"
)


class ListOptions(ReadOptions):
    owners: Annotated[
        list[str],
        KcliOption(
            "--owner",
            metavar="PRINCIPAL",
            help="Only tokens of this principal: User:bob, or bob. Repeatable.",
            also=("--owner-principal",),
        ),
    ]


@command(
    "tokens list",
    help="List the delegation tokens that you may describe.",
    examples="""
kcli tokens
kcli tokens list --owner bob -J""",
)
def list_all(options: ListOptions) -> int:
    """Print delegation tokens, the next to expire first. Secrets are not printed."""
    owners = [principal(name) for name in options.owners] or None

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(TokenRow).extend(token_row(token) for token in await describe_tokens(cluster, owners))

    return answer(options, SHAPE, work)
