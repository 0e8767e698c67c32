"""Gets a token from an OIDC provider with one POST, using client credentials (RFC 6749 4.4) or a JWT (RFC 7523)."""

from __future__ import annotations

import json
from urllib.parse import urlencode, urlsplit

from kcli.errors import AuthError, KcliError, UsageError
from kcli.redact import remember
from kcli.secret import without_login
from kcli.security import Tls
from kcli.security.http import LOOPBACK, UNAVAILABLE, Origin, Service, Unavailable, origin_of
from kcli.tasks import in_daemon_thread
from kcli.text.escape import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.security import Assertion, OAuth
    from kcli.security.http import Answer

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LARGEST = 1024 * 1024
LONGEST = 2**31  # longest lifetime of a token in seconds
RETRIES = 2


def check_endpoint(oauth: OAuth) -> None:
    """Raises UsageError if sending a secret to the endpoint would be unsafe."""
    at, url = urlsplit(oauth.token_endpoint), without_login(oauth.token_endpoint)
    if at.scheme == "http" and at.hostname not in LOOPBACK:
        raise UsageError(f"the token URL {url} is not https: the client's secret would be readable")
    if _endpoint(oauth)[0].user:
        raise UsageError(f"the token URL {url} has a login: use a client id and secret instead")
    if (assertion := oauth.assertion) is None:
        if oauth.grant == "jwt_bearer":
            raise UsageError("the grant jwt-bearer requires an assertion: a file with one, or a private key to sign it")
        if not oauth.client_id or oauth.client_secret is None:
            raise UsageError("a token URL requires a client id and a client secret, or an assertion")
    elif not (assertion.file or assertion.key_file or assertion.key_pem):
        raise UsageError("an assertion requires a file with it, or a private key to sign it")


def _endpoint(oauth: OAuth) -> tuple[Origin, str]:
    """Return the address and the query."""
    url, mark, query = oauth.token_endpoint.partition("?")
    expected = f"the token URL {without_login(oauth.token_endpoint)} is not an https URL"
    return origin_of(url, expected), mark + query


async def ask(oauth: OAuth) -> tuple[str, float | None]:
    """Return the token and its lifetime in seconds. Raises AuthError, ConnectError."""
    from kcli.security.http_client import HttpClient

    origin, query = _endpoint(oauth)
    form = {"grant_type": "client_credentials"}
    if oauth.assertion is None:
        origin = origin.replace(user=oauth.client_id, password=oauth.client_secret)
    else:
        form = await _with_assertion(oauth, oauth.assertion)
    if oauth.scope:
        form["scope"] = oauth.scope
    service = Service(
        origins=(origin,),
        peer="token URL",
        tls=Tls(ca=oauth.ca),
        proxy=oauth.proxy,
        media="application/x-www-form-urlencoded",
        connect_timeout=oauth.timeout,
        read_timeout=oauth.timeout,
        largest=LARGEST,
        retries=RETRIES,
    )
    client = HttpClient(service, None, _refusal)
    try:
        answer = await client.request("POST", query, urlencode(form).encode(), repeat=True)
    finally:
        await client.close()
    return _token(origin.url, answer.body)


async def _with_assertion(oauth: OAuth, assertion: Assertion) -> dict[str, str]:
    from kcli.security.assertion import make

    jwt = await in_daemon_thread("assertion", make, assertion)
    remember(jwt)
    if oauth.grant == "jwt_bearer":
        return {"grant_type": JWT_BEARER, "assertion": jwt}
    form = {"grant_type": "client_credentials", "client_assertion_type": CLIENT_ASSERTION, "client_assertion": jwt}
    return form | ({"client_id": oauth.client_id} if oauth.client_id else {})


def _refusal(answer: Answer, about: str, url: str, client: str) -> KcliError:
    document = _object(answer.body)
    words = ": ".join(printable(str(document[key])) for key in ("error", "error_description") if document.get(key))
    said = f"HTTP {answer.status}{f', {words}' if words else ''}"
    if answer.status >= 500 or answer.status in UNAVAILABLE:
        return Unavailable(f"the token URL {url} is in trouble: {said}", status=answer.status)
    return AuthError(f"the token URL {url} gave no token to client {printable(client)}: {said}")


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
