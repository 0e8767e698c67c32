"""SASL mechanisms as state machines: bytes in, bytes out, no I/O. PLAIN, OAUTHBEARER and AWS_MSK_IAM are here; SCRAM
has its own file.

`first()` is what the client says first, `step(challenge)` what it says next, or None when it is satisfied. Both raise
AuthError, final, when the other side fails to prove its identity or refuses us.
"""

from __future__ import annotations

from kcli.errors import AuthError
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Mechanism(Protocol):
        """The client's side of one authentication. `blocking`: a step may compute or wait for long."""

        name: str
        blocking: bool

        def first(self) -> bytes: ...
        def step(self, challenge: bytes) -> bytes | None: ...


SEPARATOR = "\x01"


class Plain:
    """PLAIN (RFC 4616): everything in one message, nothing to be checked."""

    name = "PLAIN"
    blocking = False

    def __init__(self, username: str, password: str) -> None:
        if "\0" in username or "\0" in password:
            raise AuthError("PLAIN cannot say a name or a password with a zero byte in it")
        self._message = f"\0{username}\0{password}".encode()

    def first(self) -> bytes:
        return self._message

    def step(self, challenge: bytes) -> bytes | None:
        return None


class OAuthBearer:
    """OAUTHBEARER (RFC 7628): the token, with Kafka's extensions (KIP-342). A refusal comes as JSON, is acknowledged
    with one byte, and then becomes the broker's error (B17)."""

    name = "OAUTHBEARER"
    blocking = False

    def __init__(self, token: str, extensions: Sequence[tuple[str, str]] = ()) -> None:
        if not token or any(not "!" <= letter <= "~" for letter in token):
            raise AuthError("the OAuth token is not one: it is empty, or has spaces, line ends or other odd characters")
        for name, value in extensions:
            if name == "auth" or not name.isascii() or not name.isalpha():
                raise AuthError(f"{name!r} cannot be the name of an OAUTHBEARER extension: ASCII letters, and not auth")
            if any(not (" " <= letter <= "~" or letter in "\t\r\n") for letter in value):
                raise AuthError(f"the OAUTHBEARER extension {name} has a character that cannot be sent")
        pairs = "".join(f"{name}={value}{SEPARATOR}" for name, value in extensions)
        self._message = f"n,,{SEPARATOR}auth=Bearer {token}{SEPARATOR}{pairs}{SEPARATOR}".encode()
        self.refusal = ""

    def first(self) -> bytes:
        return self._message

    def step(self, challenge: bytes) -> bytes | None:
        if not challenge:
            return None
        if self.refusal:
            raise AuthError(f"the token was refused: {self.refusal}")
        self.refusal = printable(challenge.decode("utf-8", "replace")) or "no reason given"
        return SEPARATOR.encode()


class Announced:
    """A mechanism that is one message long and is answered with something of no interest (AWS_MSK_IAM)."""

    blocking = False

    def __init__(self, name: str, message: bytes) -> None:
        self.name = name
        self._message = message

    def first(self) -> bytes:
        return self._message

    def step(self, challenge: bytes) -> bytes | None:
        return None
