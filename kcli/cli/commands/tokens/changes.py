"""Changes of delegation tokens on the command line: their rows."""

from __future__ import annotations

from functools import partial

from kcli.admin.users.tokens import DEFAULT
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.output.timestamps import known
from kcli.grammar.durations import milliseconds

shown = partial(known, digits="seconds")


class ChangeRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    old: str | None = column("Its previous expiry, UTC.", unit="time")
    new: str | None = column("Its new expiry, UTC; null in a plan.", unit="time")
    result: str = column("would renew, renewed, failed or unknown.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    error: str | None = column("Reason of a failure; null without one.", table=False, unit="sentence")


class ExpiryRow(ChangeRow, section="tokens"):
    result: str = column("would expire, expires (later), expired, failed or unknown.", unit="word", rank=1)


def milliseconds_of(text: str | None, flag: str) -> int:
    """Milliseconds of a duration, DEFAULT where it is not said. Raises UsageError."""
    if text is None:
        return DEFAULT
    return milliseconds(text, flag, least=1)
