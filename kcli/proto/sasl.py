"""SASL mechanisms as state machines without I/O: PLAIN, OAUTHBEARER and AWS_MSK_IAM; SCRAM has its own module.

`first()` returns the client's first message, `step(challenge)` the next one, or None when it is finished. Both raise
AuthError, which is final, if the other side fails to prove its identity or rejects us.
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
    """PLAIN (RFC 4616): a single message, without verification of the broker."""

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
    """OAUTHBEARER (RFC 7628): the token, with Kafka's extensions (KIP-342). A rejection arrives as JSON, is
    acknowledged with one byte, and then becomes the broker's error."""

    name = "OAUTHBEARER"
    blocking = False

    def __init__(self, token: str, extensions: Sequence[tuple[str, str]] = ()) -> None:
        if not token or any(not "!" <= letter <= "~" for letter in token):
            raise AuthError("the OAuth token is not one: it is empty, or has spaces, line ends or other odd characters")
        for name, value in extensions:
            if name == "auth" or not name.isascii() or not name.isalpha():
                raise AuthError(
                    f"{name!r} cannot be the name of an OAUTHBEARER extension: use ASCII letters, but not auth"
                )
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
    """A mechanism with a single message whose response is ignored (AWS_MSK_IAM)."""

    blocking = False

    def __init__(self, name: str, message: bytes) -> None:
        self.name = name
        self._message = message

    def first(self) -> bytes:
        return self._message

    def step(self, challenge: bytes) -> bytes | None:
        return None
