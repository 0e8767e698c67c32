"""What changes tokens: which ones, for how long, and a plan with a row for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kcli.admin.users.tokens import DEFAULT, Token, describe_tokens
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.output.timestamps import known
from kcli.cli.runtime.answer import missing
from kcli.errors import KcliError
from kcli.grammar.durations import milliseconds
from kcli.model import Cluster


async def find_tokens(cluster: Cluster, ids: list[str], document: Document, *, if_exists: bool = False) -> list[Token]:
    """The tokens of these ids; one that there is not, or that we may not see, is an error in the document."""
    known = {token.id: token for token in await describe_tokens(cluster)}
    for name in ids:
        if name not in known and not if_exists:
            missing(document, name, KcliError(f"no token {name} that you may describe"), known)
    return [known[name] for name in ids if name in known]


class ChangeRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    old: str | None = column("Its previous expiry, UTC.", unit="time")
    new: str | None = column("Its new expiry, UTC; null in a plan.", unit="time")
    result: str = column("would renew, renewed or failed.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


class ExpiryRow(ChangeRow, section="tokens"):
    result: str = column("would expire, expires (later), expired, absent or failed.", unit="word", rank=1)


R = TypeVar("R", bound=ChangeRow)


def planned(kind: type[R], token: Token, result: str) -> R:
    """A row of the plan: when the token expires, and the change."""
    return kind(
        token_id=token.id,
        owner=token.owner,
        old=known(token.expires, "seconds"),
        new=None,
        result=result,
        note=None,
        error=None,
    )


async def change_each(
    document: Document,
    rows: Sequence[ChangeRow],
    tokens: list[Token],
    word: str,
    change: Callable[[Token], Awaitable[int]],
) -> None:
    """Change each token, and write into its row what became of it: `word`, or failed."""
    for row, token in zip(rows, tokens, strict=True):
        try:
            row.new, row.result = known(await change(token), "seconds"), word
        except KcliError as error:
            row.result, row.error = "failed", str(error)
            document.fail(error, token.id)


def milliseconds_of(text: str | None, flag: str) -> int:
    """Milliseconds of a duration, DEFAULT where it is not said. Raises UsageError."""
    if text is None:
        return DEFAULT
    return milliseconds(text, flag, least=1)
