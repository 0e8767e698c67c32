"""Delegation tokens (KIP-48, KIP-373): expiring credentials for clients that must not have the user's own.

For SCRAM, the token's id is the user name and its HMAC the password. Brokers accept these requests only over SASL or
TLS, and not from a client that logged in with a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kcli import codes
from kcli.asking.ask import ask_anyone, ask_once
from kcli.errors import BrokerError, UsageError
from kcli.model import Cluster
from kcli.secret import Secret
from kcli.values import Value, field

DEFAULT = -1
"""As a period in ms: for `renew`, the broker's default; for `expire`, at once."""


class Token(Value):
    """A delegation token; times are ms since the epoch. `requester` is None from brokers before 3.3; `hmac` is in
    base64, the form in which it is the password."""

    id: str = ""
    owner: str = ""
    requester: str | None = None
    issued: int = 0
    expires: int = 0
    max_time: int = 0
    hmac: Secret = Secret("")
    renewers: list[str] = field(factory=list)


async def describe_tokens(cluster: Cluster, owners: Iterable[str] | None = None) -> list[Token]:
    """Return the tokens visible to the user, all or those of some owners, the next to expire first. Raises
    BrokerError."""
    from kcli.proto.messages.describe_delegation_token import (
        DescribeDelegationTokenOwner,
        DescribeDelegationTokenRequest,
    )

    asked = None
    if owners is not None:
        pairs = map(_pair, owners)
        asked = [DescribeDelegationTokenOwner(principal_type=kind, principal_name=name) for kind, name in pairs]
    answer = await ask_anyone(cluster, DescribeDelegationTokenRequest(owners=asked))
    _check(answer.error_code)
    tokens = [
        Token(
            id=token.token_id,
            owner=f"{token.principal_type}:{token.principal_name}",
            requester=_requester(token.token_requester_principal_type, token.token_requester_principal_name),
            issued=token.issue_timestamp,
            expires=token.expiry_timestamp,
            max_time=token.max_timestamp,
            hmac=_secret(token.hmac),
            renewers=[f"{who.principal_type}:{who.principal_name}" for who in token.renewers],
        )
        for token in answer.tokens
    ]
    return sorted(tokens, key=lambda token: (token.expires, token.id))


async def create_token(
    cluster: Cluster, owner: str | None = None, renewers: Sequence[str] = (), lifetime: int = DEFAULT
) -> Token:
    """Create a token of `owner` (None: the requesting user), which the owner and `renewers` can renew for `lifetime` ms
    in total. Raises BrokerError."""
    from kcli.proto.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest

    kind, name = (None, None) if owner is None else _pair(owner)
    pairs = map(_pair, renewers)
    request = CreateDelegationTokenRequest(
        owner_principal_type=kind,
        owner_principal_name=name,
        renewers=[CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in pairs],
        max_lifetime_ms=lifetime,
    )
    answer = await ask_once(await cluster.anyone(), request)
    _check(answer.error_code)
    return Token(
        id=answer.token_id,
        owner=f"{answer.principal_type}:{answer.principal_name}",
        requester=_requester(answer.token_requester_principal_type, answer.token_requester_principal_name),
        issued=answer.issue_timestamp_ms,
        expires=answer.expiry_timestamp_ms,
        max_time=answer.max_timestamp_ms,
        hmac=_secret(answer.hmac),
        renewers=list(renewers),
    )


async def renew_token(cluster: Cluster, token: Token, period: int = DEFAULT) -> int:
    """Extend a token to `period` ms from now, at most to its maximum lifetime; return when it expires. Raises
    BrokerError."""
    from kcli.proto.messages.renew_delegation_token import RenewDelegationTokenRequest

    request = RenewDelegationTokenRequest(hmac=_bytes(token.hmac), renew_period_ms=period)
    answer = await ask_once(await cluster.anyone(), request)
    _check(answer.error_code, f"delegation token {token.id}")
    return answer.expiry_timestamp_ms


async def expire_token(cluster: Cluster, token: Token, period: int = DEFAULT) -> int:
    """Expire a token in `period` ms, or at once; return when it expires. Raises BrokerError."""
    from kcli.proto.messages.expire_delegation_token import ExpireDelegationTokenRequest

    request = ExpireDelegationTokenRequest(hmac=_bytes(token.hmac), expiry_time_period_ms=period)
    answer = await ask_once(await cluster.anyone(), request)
    _check(answer.error_code, f"delegation token {token.id}")
    return answer.expiry_timestamp_ms


def _check(number: int, about: str = "delegation token") -> None:
    if number:
        raise BrokerError(codes.of(number), about)


def _pair(principal: str) -> tuple[str, str]:
    """Raises UsageError."""
    kind, colon, name = principal.partition(":")
    if not (kind and colon and name):
        raise UsageError(f"{principal}: expected KIND:NAME, such as User:bob")
    return kind, name


def _requester(kind: str, name: str) -> str | None:
    return f"{kind}:{name}" if name else None


def _secret(hmac: bytes) -> Secret:
    from base64 import b64encode

    return Secret(b64encode(hmac).decode())


def _bytes(hmac: Secret) -> bytes:
    from base64 import b64decode

    return b64decode(hmac.reveal())
