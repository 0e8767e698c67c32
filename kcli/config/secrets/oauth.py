"""sasl.oauthbearer.* of both dialects: the source of a token (KIP-768, KIP-1139, librdkafka's method=oidc)."""

from __future__ import annotations

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

HANDLERS = ("OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler", "IAMClientCallbackHandler")
GRANTS = {
    "client_credentials": "client_credentials",
    "DefaultJwtRetriever": "client_credentials",
    "ClientCredentialsJwtRetriever": "client_credentials",
    "FileJwtRetriever": "client_credentials",
    "urn:ietf:params:oauth:grant-type:jwt-bearer": "jwt_bearer",
    "JwtBearerJwtRetriever": "jwt_bearer",
}
"""Values of sasl.oauthbearer.grant.type, and classes of sasl.oauthbearer.jwt.retriever.class."""
LIFE = 3600  # seconds


def oauth_fields(given: Iterable[tuple[str, str, str]], fields: dict[str, Any]) -> None:
    """Add the properties to the fields of OAuth. Raises UsageError."""
    from kcli.config.secrets.secured import put
    from kcli.property_names import OAUTH

    for key, text, where in given:
        field = OAUTH[key]
        if key == "sasl.oauthbearer.extensions":
            fields[field] = _pairs(text, ",", f"{where}: {key}")
        elif key == "sasl.oauthbearer.token.command":
            from kcli.config.secrets.sources import words_of

            put(fields, field, text)
            fields[field] = words_of(text, f"{where}: {key}")
        elif key == "sasl.oauthbearer.token.endpoint.url" and text.startswith("file:"):
            put(fields, "token_file", text.removeprefix("file://").removeprefix("file:"))
        elif key == "sasl.oauthbearer.config":
            _unsecured(text, fields)
        elif field == "grant":
            fields[field] = _grant(key, text, where)
        elif field == "timeout":
            fields[field] = _seconds(key, text, where)
        elif field:
            put(fields, field, text)
        else:
            _check(key, text, where)


def _check(key: str, text: str, where: str) -> None:
    """Check a property of which only one value is supported, which is the behaviour anyway."""
    if key.endswith("callback.handler.class"):
        if text.rpartition(".")[2] not in HANDLERS:
            raise UsageError(
                f"{where}: {key}: kcli cannot run Java classes; sasl.oauthbearer.token.command can print a token"
            )
    elif key == "sasl.oauthbearer.method" and text.lower() not in ("oidc", "default"):
        raise UsageError(f"{where}: {key} must be oidc or default")


def _grant(key: str, text: str, where: str) -> str:
    """Return the grant for librdkafka's name or Kafka's class."""
    if (grant := GRANTS.get(text.rpartition(".")[2])) is None:
        raise UsageError(f"{where}: {key} {text}: expected {', '.join(GRANTS)}; for others, use a token command")
    return grant


def assertion_fields(given: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Return the fields of the Assertion that the properties set. Raises UsageError."""
    from kcli.config.secrets.secured import put
    from kcli.property_names import ASSERTION

    fields: dict[str, Any] = {}
    for key, text, where in given:
        field = ASSERTION[key]
        if field in ("expires", "not_before"):
            fields[field] = 1000 * _seconds(key, text, where)
        elif field == "unique_id":
            if text.lower() not in ("true", "false"):
                raise UsageError(f"{where}: {key} must be true or false")
            fields[field] = text.lower() == "true"
        elif field == "algorithm":
            if text.upper() not in ("RS256", "ES256"):
                raise UsageError(f"{where}: {key} must be RS256 or ES256")
            fields[field] = text.upper()
        else:
            put(fields, field, text)
    return fields


def _pairs(text: str, between: str, where: str) -> tuple[tuple[str, str], ...]:
    found = []
    for item in filter(None, (part.strip() for part in text.split(between))):
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"{where}: expected NAME=VALUE, several separated by {between!r}")
        found.append((name.strip(), value.strip()))
    return tuple(found)


def _seconds(key: str, text: str, where: str) -> float:
    if not (text.isascii() and text.isdigit() and int(text) < 2**31):
        raise UsageError(f"{where}: {key} must be a number")
    return max(0.001, int(text) / 1000)


def _unsecured(text: str, fields: dict[str, Any]) -> None:
    """Parse librdkafka's `principal=me scope=a,b lifeSeconds=600`: the claims of an unsigned token."""
    claims = dict(pair.partition("=")[::2] for pair in text.split())
    token_claims = {"sub": claims.get("principal", "")}
    if "scope" in claims:
        token_claims["scope"] = claims["scope"]
    if "lifeSeconds" in claims:
        token_claims["lifeSeconds"] = claims["lifeSeconds"]
    fields["unsecured"] = token_claims


def unsecured_token(claims: dict[str, str]) -> str:
    """Return an unsigned JWT, for test brokers (RFC 7515, appendix A.5)."""
    import time
    from base64 import urlsafe_b64encode
    from json import dumps

    now = int(time.time())
    claims = dict(claims)
    life = claims.pop("lifeSeconds", "")
    body: dict[str, Any] = {**claims, "iat": now, "exp": now + (int(life) if life.isdigit() else LIFE)}
    parts = ({"alg": "none"}, body)
    return ".".join(urlsafe_b64encode(dumps(part).encode()).decode().rstrip("=") for part in parts) + "."
