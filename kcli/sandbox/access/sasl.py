"""SASL on a listener of the sandbox, as in Kafka. Before authentication only ApiVersions is answered, and after the end
of a session only the handshake of the next one (KIP-368)."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence

from kcli import codes
from kcli.errors import AuthError
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateResponse
from kcli.proto.messages.sasl_handshake import SaslHandshakeResponse
from kcli.proto.scram import HASHES, Credential, ScramServer
from kcli.sandbox.access.access import Access
from kcli.sandbox.wire.peer import CloseConnection

HANDSHAKE, API_VERSIONS, AUTHENTICATE = 17, 18, 36
ALL = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
WRONG = "Authentication failed: Invalid username or password"
INVALID_TOKEN = b'{"status":"invalid_token"}'


class Users:
    """Names and passwords, and the offered mechanisms. SCRAM uses the credentials and the delegation tokens of
    `access`, which requests can change.

    OAUTHBEARER accepts unsecured tokens (alg none) of these names, like Kafka's own test validator. `lifetime` is that
    of a session in seconds (None: unlimited).
    """

    def __init__(
        self, passwords: Mapping[str, str], mechanisms: Sequence[str], lifetime: float | None, access: Access
    ) -> None:
        unknown = [mechanism for mechanism in mechanisms if mechanism not in ALL]
        if unknown or not mechanisms:
            raise ValueError(f"the sandbox offers {', '.join(ALL)}, not {', '.join(unknown) or 'nothing'}")
        self.passwords = dict(passwords)
        self.mechanisms = list(mechanisms)
        self.lifetime = lifetime
        self.authenticated = 0  # number of successful authentications, including later ones of a session
        self.refused = 0
        self._access = access

    def scram(self, mechanism: str) -> ScramServer:
        """A new exchange."""
        access = self._access

        def token(name: str) -> tuple[str, Credential] | None:
            credential = access.tokens.credential(mechanism, name)
            return None if credential is None else (credential[0].removeprefix("User:"), credential[1])

        return ScramServer(mechanism, lambda name: access.scram.find(mechanism, name), token=token)


class SaslSession:
    """The SASL session of one connection. `bare`: tokens now come without a header (after SaslHandshake 0). `over`: the
    connection closes after this response."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._exchange: Plain | Bearer | ScramServer | None = None
        self._loop = asyncio.get_running_loop()
        self._until: float | None = None
        self.user = ""
        self.by_token = False  # the user authenticated with a delegation token
        self.bare = False
        self.over = False

    def admit(self, api_key: int) -> None:
        """Raises CloseConnection for a request that is not allowed now."""
        if api_key == HANDSHAKE or (api_key == AUTHENTICATE and self._exchange is not None):
            return
        if self._exchange is not None or (api_key != API_VERSIONS and not self.user):
            raise CloseConnection
        if self._until is not None and self._loop.time() >= self._until:
            raise CloseConnection

    def handshake(self, mechanism: str, version: int) -> SaslHandshakeResponse:
        """Choose the mechanism."""
        offered = self._users.mechanisms
        if mechanism not in offered:
            self.over = True
            return SaslHandshakeResponse(error_code=codes.UNSUPPORTED_SASL_MECHANISM.number, mechanisms=offered)
        if mechanism in HASHES:
            self._exchange = self._users.scram(mechanism)
        else:
            self._exchange = Plain(self._users) if mechanism == "PLAIN" else Bearer(self._users)
        self.bare = version == 0
        return SaslHandshakeResponse(mechanisms=offered)

    def authenticate(self, message: bytes) -> SaslAuthenticateResponse:
        """Process the next message of the exchange."""
        try:
            answer = self._step(message)
        except AuthError as refused:
            self.over = True
            self._users.refused += 1
            return SaslAuthenticateResponse(
                error_code=codes.SASL_AUTHENTICATION_FAILED.number, error_message=str(refused)
            )
        left = 0 if self._exchange is not None or self._until is None else self._until - self._loop.time()
        return SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=int(left * 1000))

    def token(self, message: bytes) -> bytes:
        """The same without headers. Raises CloseConnection on rejection, for which there is no message."""
        try:
            answer = self._step(message)
        except AuthError:
            self._users.refused += 1
            raise CloseConnection from None
        self.bare = self._exchange is not None
        return len(answer).to_bytes(4, "big") + answer

    def _step(self, message: bytes) -> bytes:
        if self._exchange is None:
            raise AuthError("SaslAuthenticate request received before SaslHandshake")
        answer = self._exchange.step(message)
        if self._exchange.done:
            self._enter(self._exchange)
        return answer

    def _enter(self, exchange: Plain | Bearer | ScramServer) -> None:
        if self.user and self.user != exchange.user:
            raise AuthError(f"Cannot change principals during re-authentication from {self.user} to {exchange.user}")
        self.user, self._exchange = exchange.user, None
        self.by_token = isinstance(exchange, ScramServer) and exchange.by_token
        self._users.authenticated += 1
        ends = [self._users.lifetime, exchange.lifetime if isinstance(exchange, Bearer) else None]
        known = [seconds for seconds in ends if seconds is not None]
        self._until = self._loop.time() + min(known) if known else None


class Plain:
    """The server's side of PLAIN."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self.user = ""
        self.done = False

    def step(self, message: bytes) -> bytes:
        parts = message.decode("utf-8", "replace").split("\0")
        if len(parts) != 3:
            raise AuthError("Invalid SASL/PLAIN response: expected 3 tokens")
        _, self.user, password = parts
        known = self._users.passwords.get(self.user)
        if known is None or not hmac.compare_digest(known.encode(), password.encode()):
            raise AuthError(WRONG)
        self.done = True
        return b""


class Bearer:
    """The server's side of OAUTHBEARER: a rejection is first sent as JSON (RFC 7628)."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._refused = False
        self.user = ""
        self.done = False
        self.lifetime: float | None = None

    def step(self, message: bytes) -> bytes:
        if self._refused:
            raise AuthError(INVALID_TOKEN.decode())
        token = message.partition(b"\x01auth=Bearer ")[2].partition(b"\x01")[0].decode("latin-1")
        claims = _claims(token)
        name, ends = claims.get("sub"), claims.get("exp")
        if name not in self._users.passwords or not isinstance(ends, int | float) or ends <= time.time():
            self._refused = True
            return INVALID_TOKEN
        self.user, self.lifetime, self.done = str(name), ends - time.time(), True
        return b""


def _claims(token: str) -> dict[str, object]:
    """Return the claims of an unsecured token; empty for any other."""
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        return {}
    try:
        head, body = (json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(head, dict) and head.get("alg") == "none" and isinstance(body, dict) else {}
