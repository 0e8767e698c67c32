"""Delegation tokens as rows; the HMAC, which proves one, is only in that of a new token."""

from __future__ import annotations

from functools import partial

from kcli.admin.tokens import DEFAULT, Token
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.output.timestamps import known
from kcli.grammar.durations import milliseconds

shown = partial(known, digits="seconds")


class TokenRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    issued: str | None = column("Time of creation, UTC.", table=False, unit="time")
    expires: str | None = column("Time of expiry unless it is renewed, UTC.", unit="time")
    max_time: str | None = column("End of its maximum lifetime, UTC.", unit="time", rank=3)
    requester: str | None = column("Principal that requested it; null from brokers before 3.3.", table=False)
    renewers: list[str] = column("Principals that may renew it, in addition to the owner.", rank=3)


class NewTokenRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    hmac: str | None = column("The password; null when it went to a file.", sparse=True, unit="word", rank=0)
    issued: str | None = column("Time of creation, UTC.", table=False, unit="time")
    expires: str | None = column("Time of expiry unless it is renewed, UTC.", unit="time")
    max_time: str | None = column("End of its maximum lifetime, UTC.", unit="time", rank=3)
    requester: str | None = column("Principal that requested it; null from brokers before 3.3.", table=False)
    renewers: list[str] = column("Principals that may renew it, in addition to the owner.", rank=3)


def token_row(token: Token) -> TokenRow:
    """A token without what proves it."""
    return TokenRow(
        token_id=token.id,
        owner=token.owner,
        issued=known(token.issued, "seconds"),
        expires=known(token.expires, "seconds"),
        max_time=known(token.max_time, "seconds"),
        requester=token.requester,
        renewers=token.renewers,
    )


class ChangeRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    old: str | None = column("Its previous expiry, UTC.", unit="time")
    new: str | None = column("Its new expiry, UTC; null in a plan.", unit="time")
    result: str = column("would renew, renewed, failed or unknown.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    error: str | None = column("Reason for a failure; null if there was none.", table=False, unit="sentence")


class ExpiryRow(ChangeRow, section="tokens"):
    result: str = column("would expire, expires (later), expired, failed or unknown.", unit="word", rank=1)


def milliseconds_of(text: str | None, flag: str) -> int:
    """Milliseconds of a duration, DEFAULT where it is not said. Raises UsageError."""
    if text is None:
        return DEFAULT
    return milliseconds(text, flag, least=1)
