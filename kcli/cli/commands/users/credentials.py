"""SCRAM credentials by user, as rows, and as a plan of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.users import MECHANISMS
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from kcli.admin.users import Credentials


class CredentialRow(Row, section="users"):
    user: str = column("Name of the user.", rank=1)
    mechanism: str = column("SCRAM-SHA-256 or SCRAM-SHA-512.", unit="word")
    iterations: int = column("Rounds of hashing.")


class ChangeRow(Row, section="users"):
    user: str = column("Name of the user.", rank=1)
    mechanism: str | None = column("SCRAM-SHA-256 or SCRAM-SHA-512.", unit="word")
    old: int | None = column("Iterations before; null without a credential.", rank=1)
    new: int | None = column("Iterations after; null without a credential.", rank=1)
    result: str = column("would set, set, would delete, deleted, absent, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Reason for a failure; null if there was none.", table=False, unit="sentence")


def add_rows(document: Document, name: str, credentials: Credentials | KcliError) -> None:
    """Put a row for each mechanism of a user into the document, or the reason why it is missing."""
    if isinstance(credentials, KcliError):
        document.fail(credentials, name)
        return
    document.of(CredentialRow).extend(
        CredentialRow(user=name, mechanism=mechanism, iterations=rounds)
        for mechanism, rounds in sorted(credentials.items())
    )


def mechanisms_of(given: list[str]) -> list[str]:
    """The mechanisms that --mechanism names, in capitals. Raises UsageError."""
    names = [name.upper() for name in dict.fromkeys(given)]
    for name in names:
        if name not in MECHANISMS:
            raise UsageError(f"--mechanism {name}: expected {' or '.join(MECHANISMS)}")
    return names
