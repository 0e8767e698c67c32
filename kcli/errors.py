"""Exceptions, by what the caller does about them; `exit_code` is the process's. Messages name no option and no command:
what a user of a face can do is a `Hint`."""

from __future__ import annotations

from kcli.redact import redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from kcli.codes import ErrorCode

    Wording = Callable[[str, "Hint"], str]
    """Of a face: a sentence with the words for its hint."""


class Hint:
    """What may help, as a code with values. It is text only where a face (command line, dashboard) has words for it:
    the library knows neither options nor commands."""

    __slots__ = ("code", "values")

    def __init__(self, code: str, /, **values: object) -> None:
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return _worded("", self)


OPTION = "option"
"""The hint of a sentence that begins with the name of a setting: a face says the option instead."""
wording: Wording | None = None


def set_wording(words: Wording | None) -> Wording | None:
    """Have errors speak as a face does; returns the words before. Errors become parts of other errors as text, so the
    words are chosen here and not where an error is printed."""
    global wording
    before, wording = wording, words
    return before


def _worded(text: str, hint: Hint) -> str:
    return text if wording is None else wording(text, hint)


FORKED = "the client was made before the process was forked, and does not work in the child: make a client in the child"


class KcliError(Exception):
    """The root of all that kcli raises on purpose."""

    exit_code = 1
    hint: Hint | None = None
    retriable: bool = False
    """Whether the same request may succeed if it is sent again: the one answer to that question. As in Kafka's Java
    client (RetriableException): an error code that Kafka declares retriable, a connection that broke, and a request
    that was not answered in time. Not a connection that cannot come about before something is changed (AuthError,
    TlsError, NeverMet), and not bytes that are no protocol (DecodeError): the same peer would send them again. Whoever
    retries says until when."""

    def hinted(self, code: str, /, **values: object) -> Self:
        """The error itself, with a hint; none for an empty code."""
        if code:
            self.hint = Hint(code, **values)
        return self

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.hint is None else _worded(text, self.hint)


class UsageError(KcliError):
    """The caller asked for something that makes no sense; nothing was done."""

    exit_code = 2


class ConnectError(KcliError):
    """No connection, or it broke. `sent` is True when the broker may have acted on the request (unknown outcome)."""

    exit_code = 5
    retriable = True

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class Unreached(ConnectError):
    """Nothing accepts connections at an address: it may be wrong, or its broker is not up yet."""


class Misrouted(ConnectError):
    """Another broker than the one meant answers at an address (KIP-1242): a tunnel or a load balancer leads elsewhere,
    or the address belongs to another broker by now."""


class AuthError(ConnectError):
    """The broker rejected the credentials. A retry changes nothing (B19)."""

    retriable = False


class LoginFailed(ConnectError):
    """The broker rejected the credentials of a client that it accepted before, or no new token came. The user store or
    the token's source may be away for a moment: the client tries again after growing pauses, as after a lost
    connection."""


class TlsError(ConnectError):
    """No secure connection is possible: a certificate, a name or a setting has to change first."""

    retriable = False


class NeverMet(ConnectError):
    """The bootstrap address answers, and none of the brokers can be reached at the address that it advertises. Final
    until one of them was reached: their advertised.listeners have to change first, or our broker map (C2)."""

    retriable = False


def cannot_connect(error: KcliError) -> bool:
    """Whether no connection is possible until credentials, certificates or addresses are changed."""
    return isinstance(error, ConnectError) and not error.retriable


class UnsupportedVersion(KcliError):
    """The broker and we have no common version of an API (B12)."""


class BrokerError(KcliError):
    """The broker answered with an error code. `about` names what it was about (a topic, a group, a partition). `sent`
    is True when an earlier try of the same was not answered, so that it may have been done all the same.

    A refused request (*_AUTHORIZATION_FAILED) says which right is missing, once: `api` is the request's key, `names`
    its resources by kind (topic, group, transactional_id).
    """

    sent = False

    def __init__(
        self, code: ErrorCode, about: str = "", message: str | None = None, *, api: int = -1, **names: str
    ) -> None:
        self.code = code
        self.about = about
        self.retriable = code.retriable
        self.right: tuple[str, str, str] | None = None
        if api >= 0 and code.name.endswith("_AUTHORIZATION_FAILED"):
            from kcli.rights import missing

            self.right = missing(code, api, names)
        if self.right is not None:
            operation, kind, name = self.right
            resource = f"{kind} {name}" if name else f"the {kind}"
            super().__init__(f"not authorized: {operation.replace('-', '_').upper()} on {resource} ({code.name})")
            self.hint = Hint("grant", operation=operation, kind=kind, name=name)
            return
        text = redacted(message) if message else code.text
        if not text.endswith(f"({code.name})"):  # a broker's own words may name it already
            text = f"{text} ({code.name})"
        super().__init__(f"{about}: {text}" if about else text)
        if not message:
            self.hint = Hint(code.name)


class DecodeError(KcliError):
    """Bytes that violate the protocol. Nothing of them was used."""


class EncodeError(KcliError):
    """A message that the negotiated version cannot say."""


class TooOld(EncodeError):
    """The version has no place for a field that the message has."""


class DeadlineExceeded(KcliError):
    """The time limit is over. `sent` as in ConnectError. Retriable as Java's TimeoutException is: it was the limit of
    one request, and the caller that retries has time of its own left."""

    exit_code = 4
    retriable = True

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class UnknownOutcome(KcliError):
    """The request may have been executed; it is unknown. It never counts as done, nor as not done (D22, D38)."""


class BufferFull(KcliError):
    """The producer's memory bound was reached and stayed so for max_block."""


class Aborted(KcliError):
    """The producer dropped the record, as `abort_buffered` asked."""


class TopicRecreated(KcliError):
    """The topic was deleted and created again: a position in the old one means nothing in the new one (C8)."""


class Closed(KcliError):
    """The client was closed."""
