"""HTTP servers other than brokers: their addresses and limits, their responses, and errors.

Values only; `http_client.py` sends the requests.
"""

from __future__ import annotations

import re
from collections import namedtuple
from urllib.parse import unquote, urlsplit, urlunsplit

from kcli.errors import ConnectError, UsageError
from kcli.secret import Secret
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from kcli.security import Tls

    class Answer(NamedTuple):
        """An HTTP response; `headers` have lower-case names."""

        status: int
        headers: dict[str, str]
        body: bytes
        origin: Origin
else:
    Answer = namedtuple("Answer", "status headers body origin")

LOOPBACK = ("localhost", "127.0.0.1", "::1")
UNAVAILABLE = (408, 429, 500, 502, 503, 504)
"""Status codes after which the same request may succeed."""
AUTHORITIES = {"token URL": "https.ca.location", "webhook": "SSL_CERT_FILE"}
"""Name of the setting for the trusted certificate authorities, by kind of server."""


class Origin(Frozen):
    """One address of a server: `url` without login and trailing slash. `user` and `password` are for this
    address only."""

    url: str = ""
    user: str = ""
    password: Secret | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def loopback(self) -> bool:
        return self.host in LOOPBACK

    @property
    def secure(self) -> bool:
        return self.url.startswith("https:")

    def basic(self) -> dict[str, str]:
        """Return the basic authentication header of this address, if it has a login."""
        if not self.user or self.password is None:
            return {}
        from base64 import b64encode

        from kcli.redact import remember

        pair = b64encode(f"{self.user}:{self.password.reveal()}".encode()).decode()
        remember(pair)
        return {"Authorization": f"Basic {pair}"}


class Service(Frozen):
    """A server with one or more addresses, tried in turn. `peer` is its name in messages. Times are in seconds;
    `largest` limits the size of a response after decompression."""

    origins: tuple[Origin, ...] = ()
    peer: str = "registry"  # or "token URL", "webhook"
    tls: Tls | None = None
    proxy: str = ""  # "": HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide
    accept: str = "application/json"
    media: str = "application/json"
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    largest: int = 16 * 1024 * 1024
    retries: int = 3
    retry_backoff: float = 0.2
    retry_backoff_max: float = 5.0


class Unavailable(ConnectError):
    """The server cannot process requests at the moment."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message, sent=True)
        self.status = status


class WrongAddress(ConnectError):
    """The address leads to a different server, or redirects elsewhere; it has to be corrected."""

    retriable = False


class TooLarge(WrongAddress):
    """A response larger than kcli accepts."""


class NotInTime(ConnectError):
    """A timeout. Retriable like every ConnectError, but HttpClient does not retry it, so a dead server costs one
    timeout."""


def origin_of(url: str, expected: str = "an address is http://HOST:PORT or https://HOST:PORT") -> Origin:
    """Parse a URL without a query. Raises UsageError that says what is `expected` and hides the URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        host = host if host is None or host.isascii() else host.encode("idna").decode()
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or not url.isprintable():
        hint = "; percent-encode all characters of the password except letters and digits" if "@" in url else ""
        raise UsageError(f"{expected}{hint}")
    place = f"[{host}]" if ":" in host else host
    plain = urlunsplit((parts.scheme, place if port is None else f"{place}:{port}", parts.path.rstrip("/"), "", ""))
    if not parts.username:
        return Origin(url=plain)
    return Origin(url=plain, user=unquote(parts.username), password=Secret(unquote(parts.password or "")))


def proxy_at(url: str, where: str) -> Origin:
    """Parse the address of a proxy; http:// is optional. Raises UsageError that hides the URL."""
    expected = f"{where} is http://HOST:PORT or https://HOST:PORT"
    return origin_of(url if "://" in url else f"http://{url}", expected)


def named_for(text: str, peer: str) -> str:
    """Return a sentence about a broker's ssl.* properties with the property names of another kind of server."""
    if peer == "registry":
        return re.sub(r"(?<![\w./-])ssl\.(?=[a-z])", "schema.registry.ssl.", text)
    return text.replace("ssl.ca.location", AUTHORITIES[peer])
