"""Exceptions, one class for each way in which a caller can react. `exit_code` is the exit code of the process.

Messages name no command-line options or commands; a `Hint` tells a user interface which remedy to suggest.
"""

from __future__ import annotations

from kcli.redact import redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from kcli.codes import ErrorCode

    Wording = Callable[[str, "Hint"], str]
    """Returns a message with the hint put into the words of a user interface."""


class Hint:
    """A suggested remedy: a code and its values. The command line and the dashboard turn it into text; the library
    knows neither options nor commands."""

    __slots__ = ("code", "values")

    def __init__(self, code: str, /, **values: object) -> None:
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return _worded("", self)


OPTION = "option"
"""Hint for a message that begins with a setting's name: a user interface names its option instead."""
wording: Wording | None = None


def set_wording(words: Wording | None) -> Wording | None:
    """Set the function that words hints, and return the previous one.

    Messages get their hints when they are created, not when they are printed, because errors become parts of other
    errors as text.
    """
    global wording
    before, wording = wording, words
    return before


def _worded(text: str, hint: Hint) -> str:
    return text if wording is None else wording(text, hint)


FORKED = "the client was made before the process was forked, and does not work in the child: make a client in the child"


class KcliError(Exception):
    """Base class of all errors that kcli raises deliberately."""

    exit_code = 1
    hint: Hint | None = None
    retriable: bool = False
    """Whether the same request can succeed if it is sent again. True, as in Kafka's Java client (RetriableException),
    for error codes that Kafka declares retriable, for lost connections, and for requests without a response in time.
    False if something has to be changed before a connection is possible (AuthError, TlsError, NeverMet), and for bytes
    that violate the protocol (DecodeError), because the same peer would send them again. The caller decides how long to
    retry."""

    def hinted(self, code: str, /, **values: object) -> Self:
        """Add a hint and return the error itself; an empty code adds none."""
        if code:
            self.hint = Hint(code, **values)
        return self

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.hint is None else _worded(text, self.hint)


class UsageError(KcliError):
    """The arguments or settings are invalid or contradict each other; nothing was sent."""

    exit_code = 2


class ConnectError(KcliError):
    """The connection could not be made or was lost. `sent` is True if the broker may have acted on the request."""

    exit_code = 5
    retriable = True

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class Unreached(ConnectError):
    """No program accepts connections at the address: it may be wrong, or the broker is not up yet."""


class Misrouted(ConnectError):
    """A different broker than expected responded at an address (KIP-1242): a tunnel or load balancer leads elsewhere,
    or the address now belongs to another broker."""


class AuthError(ConnectError):
    """The broker rejected the credentials. Retrying does not help."""

    retriable = False


class LoginFailed(ConnectError):
    """The broker rejected credentials that it had accepted before, or no new token could be obtained. The cause may be
    a temporary outage of the user store or token source, so the client retries with growing pauses, as after a lost
    connection."""


class TlsError(ConnectError):
    """No TLS connection is possible until a certificate, a name or a setting is changed."""

    retriable = False


class NeverMet(ConnectError):
    """The bootstrap address responds, but no broker can be reached at its advertised address.

    Final until the client has reached at least one broker: advertised.listeners or our broker map has to be corrected.
    """

    retriable = False


def cannot_connect(error: KcliError) -> bool:
    """Whether a connection is impossible until credentials, certificates or addresses are changed."""
    return isinstance(error, ConnectError) and not error.retriable


class UnsupportedVersion(KcliError):
    """The broker and kcli have no common version of an API."""


class BrokerError(KcliError):
    """The broker responded with an error code.

    `about` names the topic, group, partition or other subject. `sent` is True if an earlier attempt was not answered,
    so the request may have been executed anyway. For authorization errors (*_AUTHORIZATION_FAILED) the message names
    the missing right once: `api` is the key of the request, `names` its resources by kind (topic, group,
    transactional_id).
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
        if not text.endswith(f"({code.name})"):  # a broker's own message may already contain the name
            text = f"{text} ({code.name})"
        super().__init__(f"{about}: {text}" if about else text)
        if not message:
            self.hint = Hint(code.name)


class DecodeError(KcliError):
    """Bytes that violate the protocol; none of them were used."""


class EncodeError(KcliError):
    """A message cannot be encoded in the negotiated version."""


class TooOld(EncodeError):
    """The negotiated version lacks a field that the message sets."""


class DeadlineExceeded(KcliError):
    """A time limit expired. `sent` is as in ConnectError.

    Retriable like Java's TimeoutException: the limit was that of one request, and a caller that retries has its own
    limit.
    """

    exit_code = 4
    retriable = True

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class UnknownOutcome(KcliError):
    """The request may or may not have been executed. kcli reports neither success nor failure."""


class BufferFull(KcliError):
    """The producer's buffer stayed full for max_block."""


class Aborted(KcliError):
    """The producer discarded the record because of `abort_buffered`."""


class TopicRecreated(KcliError):
    """The topic was deleted and created again: an offset in the old topic means nothing in the new one."""


class Closed(KcliError):
    """The client was closed."""
