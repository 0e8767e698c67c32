"""`kcli users describe`."""

from __future__ import annotations

from kcli.cli.commands.users.credentials import add_rows, find_users
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer, words_of
from kcli.model import Cluster


@command(
    "users describe",
    help="The credentials of users.",
    words="USER",
    examples="""
kcli users describe bob
kcli users describe bob alice -J""",
)
def describe(options: OutputOptions) -> int:
    """Print the SCRAM credentials of users: mechanism and iterations. Exit code 1 when one is none."""
    names = words_of(options, "USER")

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["users"] = []
        for name, credentials in (await find_users(cluster, names, document)).items():
            add_rows(document, name, credentials)

    return answer(options, "users.describe", work)
