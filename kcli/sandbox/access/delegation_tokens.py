"""The sandbox's delegation tokens (KIP-48): created, renewed, expired, and valid for SCRAM until they end."""

from __future__ import annotations

import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from os import urandom
from typing import Any

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.scram import Credential, derive
from kcli.values import Value, field

Note = Callable[[str, dict[str, Any]], None]

LONGEST, USUAL = 7 * 86_400_000, 86_400_000  # ms: delegation.token.max.lifetime.ms and .expiry.time.ms


class SandboxToken(Value):
    """One token; times are ms since the epoch."""

    id: str = ""
    owner: str = ""
    requester: str = ""
    renewers: list[str] = field(factory=list)
    issued: int = 0
    expires: int = 0
    end: int = 0
    hmac: bytes = b""

    def belongs(self, principal: str) -> bool:
        """Whether a principal may renew the token."""
        return principal in (self.owner, *self.renewers)


class DelegationTokens:
    """Tokens by id. `note` records a change in the journal; `clock` returns the time in seconds."""

    def __init__(self, note: Note, clock: Callable[[], float] = time.time) -> None:
        self._tokens: dict[str, SandboxToken] = {}
        self._note = note
        self._clock = clock
        self._credentials: dict[tuple[str, str], Credential] = {}

    def restore(self, facts: Iterable[dict[str, Any]]) -> None:
        """Restore the state from the journal."""
        for token in facts:
            self._tokens[token["id"]] = SandboxToken(**{**token, "hmac": bytes.fromhex(token["hmac"])})

    def now(self) -> int:
        return int(self._clock() * 1000)

    def living(self) -> list[SandboxToken]:
        """Return the tokens that have not expired, the oldest first."""
        now = self.now()
        return [token for token in self._tokens.values() if token.expires > now]

    def create(self, owner: str, requester: str, renewers: list[str], lifetime: int) -> SandboxToken:
        """Raises BrokerError INVALID_PRINCIPAL_TYPE."""
        if any(not principal.startswith("User:") for principal in (owner, *renewers)):
            raise BrokerError(codes.INVALID_PRINCIPAL_TYPE)
        now = self.now()
        end = now + (LONGEST if lifetime <= 0 else min(lifetime, LONGEST))
        token = SandboxToken(
            id=new_id(),
            owner=owner,
            requester=requester,
            renewers=renewers,
            issued=now,
            expires=min(end, now + USUAL),
            end=end,
            hmac=urandom(64),
        )
        self._keep(token)
        return token

    def renew(self, hmac: bytes, principal: str, period: int) -> int:
        """Return when it expires now. Raises BrokerError."""
        return self._move(self._own(hmac, principal), USUAL if period < 0 else period)

    def expire(self, hmac: bytes, principal: str, period: int) -> int:
        """Return when it expires now. Raises BrokerError."""
        token = self._own(hmac, principal)
        return self._move(token, 0 if period < 0 else period)

    def _own(self, hmac: bytes, principal: str) -> SandboxToken:
        token = next((each for each in self._tokens.values() if each.hmac == hmac), None)
        if token is None:
            raise BrokerError(codes.DELEGATION_TOKEN_NOT_FOUND)
        if not token.belongs(principal):
            raise BrokerError(codes.DELEGATION_TOKEN_OWNER_MISMATCH)
        if token.expires <= self.now():
            raise BrokerError(codes.DELEGATION_TOKEN_EXPIRED)
        return token

    def _move(self, token: SandboxToken, period: int) -> int:
        token.expires = min(token.end, self.now() + period)
        self._keep(token)
        return token.expires

    def _keep(self, token: SandboxToken) -> None:
        facts = {f.name: getattr(token, f.name) for f in SandboxToken.__fields__}
        self._note("token", {**facts, "hmac": token.hmac.hex()})
        self._tokens[token.id] = token

    def credential(self, mechanism: str, token_id: str) -> tuple[str, Credential] | None:
        """Return the owner of a token by its id, and its credential: the HMAC in base64 is the password."""
        token = next((each for each in self.living() if each.id == token_id), None)
        if token is None:
            return None
        key = mechanism, token_id
        if key not in self._credentials:
            self._credentials[key] = derive(mechanism, b64encode(token.hmac))
        return token.owner, self._credentials[key]


def new_id() -> str:
    """Return an id as in Kafka's Uuid.randomUuid: never one that a command line would take for an option."""
    while True:
        token = urlsafe_b64encode(urandom(16)).decode().rstrip("=")
        if not token.startswith("-"):
            return token
