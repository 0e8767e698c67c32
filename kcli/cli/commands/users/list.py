"""`kcli users list`."""

from __future__ import annotations

from kcli.admin.users import describe_users
from kcli.cli.commands.users.credentials import CredentialRow, add_rows
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster

SHAPE = shape("users.list", "SCRAM credentials, one a row.", CredentialRow, empty="no SCRAM users")


@command(
    "users list",
    help="List SCRAM users and their mechanisms.",
    examples="""
kcli users
kcli users list --format csv""",
)
def list_all(options: ReadOptions) -> int:
    """Print the users that have SCRAM credentials. Brokers never reveal passwords."""

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(CredentialRow)
        for name, credentials in (await describe_users(cluster)).items():
            add_rows(document, name, credentials)

    return answer(options, SHAPE, work)
