"""SCRAM credentials by user, as rows, and as a plan of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.users.users import MECHANISMS, describe_users, is_unknown
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.runtime.answer import missing
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.admin.users.users import Credentials


class CredentialRow(Row, section="users"):
    user: str = column("Name of the user.", rank=1)
    mechanism: str = column("SCRAM-SHA-256 or SCRAM-SHA-512.", unit="word")
    iterations: int = column("Rounds of hashing.")


class ChangeRow(Row, section="users"):
    user: str = column("Name of the user.", rank=1)
    mechanism: str | None = column("SCRAM-SHA-256 or SCRAM-SHA-512.", unit="word")
    old: int | None = column("Iterations before; null without a credential.", rank=1)
    new: int | None = column("Iterations after; null without a credential.", rank=1)
    result: str = column("would set, set, would delete, deleted, absent or failed.", unit="word", rank=1)
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


def add_rows(document: Document, name: str, credentials: Credentials | KcliError) -> None:
    """Put a row for each mechanism of a user into the document, or the reason why it is missing."""
    if isinstance(credentials, KcliError):
        document.fail(credentials, name)
        return
    document.of(CredentialRow).extend(
        CredentialRow(user=name, mechanism=mechanism, iterations=rounds)
        for mechanism, rounds in sorted(credentials.items())
    )


async def find_users(
    cluster: Cluster, names: list[str], document: Document, *, unknown_too: bool = False
) -> dict[str, Credentials]:
    """Users by name. A user that does not exist is an error in the document, with the nearest name; or, with
    `unknown_too`, a user without credentials."""
    found: dict[str, Credentials] = {}
    known: list[str] | None = None
    for name, credentials in (await describe_users(cluster, names)).items():
        if not isinstance(credentials, KcliError):
            found[name] = credentials
        elif not is_unknown(credentials):
            document.fail(credentials, name)
        elif unknown_too:
            found[name] = {}
        else:
            known = list(await describe_users(cluster)) if known is None else known
            missing(document, name, KcliError(f"user {name} has no SCRAM credentials"), known)
    return found


def mechanisms_of(given: list[str]) -> list[str]:
    """The mechanisms that --mechanism names, in capitals. Raises UsageError."""
    names = [name.upper() for name in dict.fromkeys(given)]
    for name in names:
        if name not in MECHANISMS:
            raise UsageError(f"--mechanism {name}: it is {' or '.join(MECHANISMS)}")
    return names


def planned(name: str, mechanism: str | None, old: int | None, new: int | None, result: str) -> ChangeRow:
    """A row of the plan: the iterations there are, and those there will be."""
    return ChangeRow(user=name, mechanism=mechanism, old=old, new=new, result=result, error=None)


def finish(document: Document, rows: list[ChangeRow], done: dict[tuple[str, str], KcliError | None], word: str) -> None:
    """What became of the plan's rows."""
    for row in rows:
        if row.mechanism is not None:
            problem = done[row.user, row.mechanism]
            row.result, row.error = (word, None) if problem is None else ("failed", str(problem))
    for (name, mechanism), problem in done.items():
        if problem is not None:
            document.fail(problem, f"{name} {mechanism}")
