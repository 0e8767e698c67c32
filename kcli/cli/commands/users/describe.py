"""`kcli users describe`."""

from __future__ import annotations

from kcli.changes.users import find
from kcli.cli.commands.users.credentials import CredentialRow, add_rows
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, words_of
from kcli.model import Cluster

SHAPE = shape("users.describe", "SCRAM credentials, one a row.", CredentialRow)


@command(
    "users describe",
    help="Show the credentials of users.",
    words="USER",
    examples="""
kcli users describe bob
kcli users describe bob alice -J""",
)
def describe(options: ReadOptions) -> int:
    """Print the SCRAM credentials of users: mechanism and iterations. Exit code 1 if a user has none."""
    names = words_of(options, "USER")

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(CredentialRow)
        found, failed = await find(cluster, names)
        for name, credentials in (found | failed).items():
            add_rows(document, name, credentials)

    return answer(options, SHAPE, work)
