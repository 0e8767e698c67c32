"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), both sides, without I/O.

The client does not trust the server: the server's nonce must continue ours, the iterations must be within limits, and
the server has to prove that it knows the password, too, or authentication fails.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import pbkdf2_hmac
from os import urandom

from kcli.errors import AuthError
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
FEWEST, MOST = 4096, 1_000_000
NONCE = 24
CHANNEL = b"n,,"  # no channel binding


class Credential:
    """A server's data of a password: salt, iterations, and two keys from which it cannot be computed."""

    __slots__ = ("iterations", "salt", "server_key", "stored_key")

    def __init__(self, salt: bytes, iterations: int, stored_key: bytes, server_key: bytes) -> None:
        self.salt = salt
        self.iterations = iterations
        self.stored_key = stored_key
        self.server_key = server_key


def derive(mechanism: str, password: bytes, salt: bytes | None = None, iterations: int = FEWEST) -> Credential:
    """Return the credential of a password, with a new salt unless one is given."""
    kind = HASHES[mechanism]
    salt = urandom(16) if salt is None else salt
    salted = pbkdf2_hmac(kind, password, salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", kind)
    return Credential(salt, iterations, _hash(kind, client_key), hmac.digest(salted, b"Server Key", kind))


class ScramClient:
    """The client's side. `tokenauth`: name and password are those of a delegation token (KIP-48). `nonce` is
    for tests."""

    blocking = True  # a broker may ask for a million rounds

    def __init__(
        self,
        mechanism: str,
        username: str,
        password: str,
        *,
        tokenauth: bool = False,
        most: int = MOST,
        nonce: str = "",
    ) -> None:
        self.name = mechanism
        self._hash = HASHES[mechanism]
        self._password = password.encode()
        self._most = most
        self._nonce = nonce or b64encode(urandom(NONCE)).decode()
        name = username.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={name},r={self._nonce}{',tokenauth=true' if tokenauth else ''}".encode()
        self._signature: bytes | None = None
        self._turn = self._prove

    def first(self) -> bytes:
        return CHANNEL + self._bare

    def step(self, challenge: bytes) -> bytes | None:
        return self._turn(challenge)

    def _prove(self, challenge: bytes) -> bytes | None:
        attributes = _attributes(challenge)
        if "e" in attributes:
            raise AuthError(f"the broker refused: {attributes['e']}")
        nonce, salt, iterations = attributes.get("r", ""), _bytes(attributes.get("s", "")), attributes.get("i", "")
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise AuthError(
                f"{self.name}: the broker's nonce does not continue ours; the connection may be intercepted"
            )
        if not salt or not (iterations.isascii() and iterations.isdigit() and len(iterations) < 12):
            raise AuthError(f"{self.name}: the broker's challenge has no salt or no iterations")
        if not FEWEST <= int(iterations) <= self._most:
            raise AuthError(
                f"{self.name}: the broker requests {iterations} iterations; kcli accepts {FEWEST} to {self._most}"
            )
        salted = pbkdf2_hmac(self._hash, self._password, salt, int(iterations))
        client_key = hmac.digest(salted, b"Client Key", self._hash)
        without_proof = b"c=" + b64encode(CHANNEL) + b",r=" + nonce.encode()
        message = b",".join((self._bare, challenge, without_proof))
        stamp = hmac.digest(_hash(self._hash, client_key), message, self._hash)
        proof = bytes(a ^ b for a, b in zip(client_key, stamp, strict=True))
        self._signature = hmac.digest(hmac.digest(salted, b"Server Key", self._hash), message, self._hash)
        self._turn = self._verify
        return without_proof + b",p=" + b64encode(proof)

    def _verify(self, challenge: bytes) -> bytes | None:
        attributes = _attributes(challenge)
        if "e" in attributes:
            raise AuthError(f"the broker refused: {attributes['e']}")
        if self._signature is None or not hmac.compare_digest(_bytes(attributes.get("v", "")), self._signature):
            raise AuthError(f"{self.name}: the broker did not prove that it knows the password; do not trust it")
        self._turn = self._over
        return None

    def _over(self, challenge: bytes) -> bytes | None:
        raise AuthError(f"{self.name}: the broker sent a message after the end")


class ScramServer:
    """The server's side: `find(name)` returns a user's credential, `token(id)` a delegation token's owner and
    credential (KIP-48); None for an unknown one. At the end, `done` is True, `user` is the user's name, and `by_token`
    tells whether it was a token. Raises AuthError, for the response to the client."""

    def __init__(
        self,
        mechanism: str,
        find: Callable[[str], Credential | None],
        nonce: str = "",
        *,
        token: Callable[[str], tuple[str, Credential] | None] | None = None,
    ) -> None:
        self.name = mechanism
        self._hash = HASHES[mechanism]
        self._find = find
        self._token = token
        self._nonce = nonce or b64encode(urandom(NONCE)).decode()
        self._first = b""
        self._challenge = b""
        self._credential: Credential | None = None
        self.user = ""
        self.by_token = False
        self.done = False

    def step(self, message: bytes) -> bytes:
        return self._finish(message) if self._challenge else self._begin(message)

    def _begin(self, message: bytes) -> bytes:
        if not message.startswith((b"n,", b"y,")) or message.count(b",") < 3:
            raise AuthError("this is no SCRAM message")
        self._first = message.split(b",", 2)[2]
        attributes = _attributes(self._first)
        self.user = attributes.get("n", "").replace("=2C", ",").replace("=3D", "=")
        if attributes.get("tokenauth") == "true" and self._token is not None:
            self.by_token = True
            self.user, self._credential = self._token(self.user) or ("", None)
        else:
            self._credential = self._find(self.user)
        if self._credential is None or not attributes.get("r"):
            raise AuthError("Authentication failed during authentication due to invalid credentials")
        salt = b64encode(self._credential.salt).decode()
        self._challenge = f"r={attributes['r']}{self._nonce},s={salt},i={self._credential.iterations}".encode()
        return self._challenge

    def _finish(self, message: bytes) -> bytes:
        without_proof, _, proof = message.rpartition(b",p=")
        attributes = _attributes(without_proof)
        assert self._credential is not None
        signed = b",".join((self._first, self._challenge, without_proof))
        stamp = hmac.digest(self._credential.stored_key, signed, self._hash)
        given = _bytes(proof.decode("ascii", "replace"))
        client_key = bytes(a ^ b for a, b in zip(given, stamp))
        known = hmac.compare_digest(_hash(self._hash, client_key), self._credential.stored_key)
        ours = attributes.get("r", "").endswith(
            self._nonce
        )  # like Kafka: old librdkafka versions send their own part twice
        if not ours or len(given) != len(stamp) or not known:
            raise AuthError("Authentication failed during authentication due to invalid credentials")
        self.done = True
        return b"v=" + b64encode(hmac.digest(self._credential.server_key, signed, self._hash))


def _hash(kind: str, data: bytes) -> bytes:
    from hashlib import new

    return new(kind, data).digest()


def _attributes(message: bytes) -> dict[str, str]:
    """Parse `a=…,b=…`. Raises AuthError for anything else."""
    try:
        parts = message.decode().split(",")
    except UnicodeDecodeError:
        raise AuthError("the SCRAM message is not text") from None
    if any(part.find("=") < 1 for part in parts):
        raise AuthError(f"not a SCRAM message: {printable(message.decode())}")
    if parts[0].startswith("m="):
        raise AuthError("the SCRAM message requires an unknown extension")
    pairs = (part.split("=", 1) for part in parts)
    return {name: printable(value) if name == "e" else value for name, value in pairs}


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return b""
