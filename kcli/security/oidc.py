"""The client credentials grant of an OIDC provider (RFC 6749 4.4): one POST over https, no redirects, bounded."""

from __future__ import annotations

import json
from base64 import b64encode
from http.client import HTTPException
from ssl import SSLContext, create_default_context
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from kcli.errors import AuthError, ConnectError, UsageError
from kcli.redact import remember
from kcli.secret import without_login
from kcli.system import files
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.security import OAuth

LARGEST = 1024 * 1024
LONGEST = 2**31  # seconds that a token may live
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_endpoint(oauth: OAuth) -> None:
    """Raises UsageError for an endpoint to which no secret may be sent."""
    at, url = urlsplit(oauth.token_endpoint), without_login(oauth.token_endpoint)
    if at.scheme == "http" and at.hostname not in LOOPBACK:
        raise UsageError(f"the token URL {url} is not https: the client's secret would be readable")
    if at.scheme not in ("http", "https") or not at.hostname:
        raise UsageError(f"the token URL {url} is not an https URL")
    if not oauth.client_id or oauth.client_secret is None:
        raise UsageError("a token URL wants a client id and a client secret")


class _NoRedirect(HTTPRedirectHandler):
    """Credentials go where they were meant to go."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def ask(oauth: OAuth) -> tuple[str, float | None]:
    """The token and its life in seconds. Raises AuthError, ConnectError."""
    assert oauth.client_secret is not None
    pair = b64encode(f"{oauth.client_id}:{oauth.client_secret.reveal()}".encode()).decode()
    remember(pair)
    form = {"grant_type": "client_credentials"} | ({"scope": oauth.scope} if oauth.scope else {})
    request = Request(
        oauth.token_endpoint,
        urlencode(form).encode(),
        {
            "Authorization": f"Basic {pair}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        },
        method="POST",
    )
    url = without_login(oauth.token_endpoint)  # for messages
    opener = build_opener(_NoRedirect, HTTPSHandler(context=_context(oauth)), *_proxies(oauth))
    try:
        with opener.open(request, timeout=oauth.timeout) as answer:
            body = answer.read(LARGEST)
    except HTTPError as refused:
        with refused:
            raise _refusal(oauth, url, refused.code, refused.read(LARGEST)) from None
    except (URLError, HTTPException, OSError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise ConnectError(f"the token URL {url} cannot be reached: {printable(str(reason))}") from None
    return _token(url, body)


def _context(oauth: OAuth) -> SSLContext:
    try:
        pem = files.read(oauth.ca, files.KEYS).decode("latin-1") or "-" if oauth.ca else None  # "" is the system's
        return create_default_context(cadata=pem)
    except OSError as problem:
        raise AuthError(f"the authorities of the token URL, {oauth.ca}: {problem.strerror or problem}") from None


def _proxies(oauth: OAuth) -> list[ProxyHandler]:
    """No proxy is used to reach this machine."""
    return [ProxyHandler({})] if urlsplit(oauth.token_endpoint).hostname in LOOPBACK else []


def _refusal(oauth: OAuth, url: str, status: int, body: bytes) -> AuthError | ConnectError:
    document = _object(body)
    words = ": ".join(printable(str(document[key])) for key in ("error", "error_description") if document.get(key))
    if status >= 500 or status == 429:
        return ConnectError(f"the token URL {url} is in trouble: HTTP {status}{f', {words}' if words else ''}")
    client = printable(oauth.client_id)
    return AuthError(f"the token URL {url} gave client {client} no token: HTTP {status}{f', {words}' if words else ''}")


def _token(url: str, body: bytes) -> tuple[str, float | None]:
    document = _object(body)
    token = document.get("access_token")
    if not isinstance(token, str) or not token:
        raise AuthError(f"the token URL {url} answered without an access_token")
    lifetime = document.get("expires_in")
    if not isinstance(lifetime, int | float) or not 0 < lifetime < LONGEST:
        return token, None
    return token, float(lifetime)


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
