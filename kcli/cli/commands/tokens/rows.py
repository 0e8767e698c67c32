"""Delegation tokens as rows; the HMAC, which proves one, is only in that of a new token."""

from __future__ import annotations

from kcli.admin.users.tokens import Token
from kcli.cli.output.tables.rows import Row, column
from kcli.cli.output.timestamps import known


class TokenRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    issued: str | None = column("Time of creation, UTC.", table=False, unit="time")
    expires: str | None = column("Time of expiry unless it is renewed, UTC.", unit="time")
    max_time: str | None = column("End of its maximum lifetime, UTC.", unit="time", rank=3)
    requester: str | None = column("Principal that requested it; null from brokers before 3.3.", table=False)
    renewers: list[str] = column("Principals that may renew it, beside the owner.", rank=3)


class NewTokenRow(Row, section="tokens"):
    token_id: str = column("Id of the delegation token: the user name to authenticate with.", rank=1, unit="word")
    owner: str = column("Owner of the token: clients with the token are this principal.", rank=1)
    hmac: str | None = column("The password; null when it went to a file.", sparse=True, unit="word", rank=0)
    issued: str | None = column("Time of creation, UTC.", table=False, unit="time")
    expires: str | None = column("Time of expiry unless it is renewed, UTC.", unit="time")
    max_time: str | None = column("End of its maximum lifetime, UTC.", unit="time", rank=3)
    requester: str | None = column("Principal that requested it; null from brokers before 3.3.", table=False)
    renewers: list[str] = column("Principals that may renew it, beside the owner.", rank=3)


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
