"""Converts properties to settings of a registry connection: `schema.registry.url`, `basic.auth.*`, `bearer.auth.*` and
`schema.registry.ssl.*`. Checks values and resolves secrets, but does not connect."""

from __future__ import annotations

import re

from kcli.config.properties.known import convert
from kcli.config.secrets.secured import Asked
from kcli.errors import UsageError
from kcli.registry.subjects import STRATEGIES, TOPIC, strategy_named
from kcli.secret import HIDDEN, Secret
from kcli.security import OAuth
from kcli.security.http import Service, named_for, origin_of, proxy_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from kcli.config.properties.merged import Properties
    from kcli.config.secrets.secured import Given
    from kcli.security import Sasl, Tls
    from kcli.security.http import Origin

KINDS = ("confluent", "apicurio", "karapace", "redpanda", "glue", "azure", "file")
FOLDER = "file:"
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
BASIC = ("USER_INFO", "URL", "SASL_INHERIT")
BEARER = ("STATIC_TOKEN", "OAUTHBEARER", "SASL_OAUTHBEARER_INHERIT")
TOKENS = {
    "bearer.auth.token": "token",
    "bearer.auth.token.file": "token_file",
    "bearer.auth.token.command": "token_command",
    "bearer.auth.issuer.endpoint.url": "token_endpoint",
}
CLIENT = {"bearer.auth.client.id": "client_id", "bearer.auth.scope": "scope"}
HEADERS = {
    "bearer.auth.logical.cluster": "Target-Sr-Cluster",
    "bearer.auth.identity.pool.id": "Confluent-Identity-Pool-Id",
}


AZURE = ".servicebus.windows.net"
_GLUE = re.compile(r"glue(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com|api\.aws)(?:\.cn)?")
"""Addresses of AWS Glue, with their region."""


class RegistrySettings(Service):
    """A registry reached by HTTP, or a folder instead. `credentials` names the properties of the user and password, or
    of the token. `disk`: whether schemas are kept in the cache folder."""

    accept: str = f"{MEDIA_TYPE}, application/json;q=0.5"
    media: str = MEDIA_TYPE
    folder: str = ""
    kind: str = ""  # "": guessed
    credentials: str = ""
    oauth: OAuth | None = None
    headers: tuple[tuple[str, str], ...] = ()
    disk: bool = True
    glue_region: str = ""  # "": from the environment
    glue_registry: str = "default-registry"
    azure_group: str = ""
    key_strategy: str = ""  # "": topic; others are in subjects.py
    value_strategy: str = ""

    @property
    def name(self) -> str:
        """The name in messages and caches, without a login."""
        return self.folder or ",".join(origin.url for origin in self.origins)

    def strategy(self, kind: str) -> str:
        """Return the subject strategy of keys or values (`kind`)."""
        return (self.key_strategy if kind == "key" else self.value_strategy) or TOPIC


def registry_of(properties: Properties, *, looking: bool = True) -> RegistrySettings | None:
    """Return the registry that the properties set, None without `schema.registry.url`. The brokers' secrets are
    resolved only if their credentials are inherited. Raises UsageError."""
    given = properties.registry()
    if "url" not in given:
        return None
    return _Reader(given, properties, looking).settings()


class _Reader:
    def __init__(self, given: Mapping[str, tuple[Given, str]], properties: Properties, looking: bool) -> None:
        self._given = given
        self._properties = properties
        self._warnings = properties.warnings
        self._looking = looking

    def settings(self) -> RegistrySettings:
        where = self._where("url")
        url = self._text("url").strip()
        kind = self._text("kind").strip().lower()
        if kind and kind not in KINDS:
            raise UsageError(f"{self._where('kind')}: schema.registry.kind must be one of {', '.join(KINDS)}")
        strategies: dict[str, Any] = {f"{field}_strategy": self._strategy(field) for field in ("key", "value")}
        if url.startswith(FOLDER):
            path = url.removeprefix(FOLDER)
            return RegistrySettings(folder=path.removeprefix("//") or ".", kind="file", **strategies)
        expected = f"{where}: schema.registry.url is http://HOST:PORT, https://HOST:PORT or file:FOLDER"
        origins = tuple(origin_of(part.strip(), expected) for part in url.split(",") if part.strip())
        if not origins:
            raise UsageError(f"{where}: schema.registry.url is empty; write https://HOST:PORT")
        fields: dict[str, Any] = {"origins": origins, "kind": kind, "tls": self._tls(origins), **strategies}
        if proxy := self._text("proxy").strip():
            fields["proxy"] = proxy
            if proxy != HIDDEN:
                proxy_at(proxy, f"{self._where('proxy')}: schema.registry.proxy")
        if kind == "glue" or (not kind and all(_GLUE.fullmatch(origin.host) for origin in origins)):
            self._glue(fields)
        if kind == "azure" or (not kind and all(origin.host.endswith(AZURE) for origin in origins)):
            fields |= {"kind": "azure", "azure_group": self._text("azure.group")}
        self._basic(fields)
        self._bearer(fields)
        self._readable(fields)
        for key, field in (("http.connect.timeout.ms", "connect_timeout"), ("http.read.timeout.ms", "read_timeout")):
            if key in self._given:
                seconds = convert(key, self._text(key), "ms", self._where(key))
                if not isinstance(seconds, float) or seconds <= 0:
                    raise UsageError(f"{self._where(key)}: {key} must be more than 0")
                fields[field] = seconds
        return RegistrySettings(**fields)

    def _glue(self, fields: dict[str, Any]) -> None:
        """Handle AWS Glue, whose requests are signed with AWS credentials."""
        for origin in fields["origins"]:
            if not origin.secure and not origin.loopback:
                raise UsageError(f"{origin.url}: requests to AWS Glue are signed, and must use https")
            if origin.user:
                raise UsageError(f"{origin.url}: AWS Glue does not accept a login; it uses AWS credentials")
        other = next((key for key in self._given if key.startswith(("basic.auth.", "bearer.auth."))), "")
        if other:
            raise UsageError(f"{self._where(other)}: {other} cannot be used with AWS Glue, which uses AWS credentials")
        match = _GLUE.fullmatch(fields["origins"][0].host)
        region = self._text("glue.region") or (match[1] if match else "")
        fields |= {"kind": "glue", "glue_region": region}
        if "glue.registry.name" in self._given:
            fields["glue_registry"] = self._text("glue.registry.name")

    def _strategy(self, field: str) -> str:
        """Return the subject strategy of keys or values; "" if not set."""
        key = f"{field}.subject.name.strategy"
        text = self._text(key).strip()
        if text and text != HIDDEN and not strategy_named(text):
            raise UsageError(f"{self._where(key)}: {key} must be one of {', '.join(STRATEGIES)}, not {text}")
        return strategy_named(text)

    def _text(self, key: str) -> str:
        if key not in self._given:
            return ""
        value, where = self._given[key]
        if isinstance(value, str):
            return value
        return value.resolve(f"{where}: {key}", self._warnings.append) if self._looking else HIDDEN

    def _where(self, key: str) -> str:
        return self._given[key][1]

    def _tls(self, origins: tuple[Origin, ...]) -> Tls | None:
        """Return the https settings, None if no address uses https."""
        ours = {key: given for key, given in self._given.items() if "ssl." in key}
        if not any(origin.secure for origin in origins):
            if ours:
                self._warnings.append("schema.registry.ssl.* is not used: schema.registry.url is not https")
            return None
        try:
            tls = Asked(ours, self._warnings.append, self._looking).tls()
        except UsageError as problem:
            raise UsageError(named_for(str(problem), "registry")) from None
        self._warnings.extend(tls.warnings("registry's"))
        return tls

    def _basic(self, fields: dict[str, Any]) -> None:
        """Set the logins of the addresses."""
        source = self._source("basic.auth.credentials.source", BASIC)
        user_info = self._text("basic.auth.user.info")
        if not source:
            source = "USER_INFO" if user_info else "URL"
        origins: tuple[Origin, ...] = fields["origins"]
        if source == "USER_INFO":
            user, colon, password = user_info.partition(":")
            if not colon or not user:
                if user_info == HIDDEN and not self._looking:
                    return
                raise UsageError("basic.auth.user.info is USER:PASSWORD")
            fields["credentials"] = "basic.auth.user.info"
        elif source == "SASL_INHERIT":
            sasl = self._inherited()
            if sasl is None or not sasl.username or sasl.password is None:
                raise UsageError(
                    "basic.auth.credentials.source=SASL_INHERIT requires sasl.username and sasl.password, or "
                    "sasl.jaas.config, of the brokers"
                )
            user, password = sasl.username, sasl.password.reveal()
            fields["credentials"] = "sasl.username"
        else:
            fields["credentials"] = "schema.registry.url" if any(origin.user for origin in origins) else ""
            return
        secret = Secret(password)
        fields["origins"] = tuple(origin.replace(user=user, password=secret) for origin in origins)

    def _inherited(self) -> Sasl | None:
        """Return the brokers' credentials."""
        security = self._properties.security()
        return security.sasl if security is not None else None

    def _bearer(self, fields: dict[str, Any]) -> None:
        """Set the source of tokens."""
        source = self._source("bearer.auth.credentials.source", BEARER)
        named = [key for key in TOKENS if key in self._given]
        if not named and not source:
            return
        if fields["credentials"]:
            other = "bearer.auth.credentials.source" if source else named[0]
            raise UsageError(f"{fields['credentials']} and {other} cannot be combined: set only one of them")
        if source == "SASL_OAUTHBEARER_INHERIT":
            sasl = self._inherited()
            if sasl is None or sasl.oauth is None:
                raise UsageError(f"bearer.auth.credentials.source={source} requires sasl.mechanism=OAUTHBEARER")
            fields["oauth"], fields["credentials"] = sasl.oauth, "sasl.oauthbearer.*"
        else:
            fields["oauth"], fields["credentials"] = self._oauth(named, source), named[0] if named else ""
        fields["headers"] = tuple((HEADERS[key], self._text(key)) for key in HEADERS if self._text(key))

    def _oauth(self, named: list[str], source: str) -> OAuth:
        fields: dict[str, Any] = {field: self._text(key) for key, field in CLIENT.items() if key in self._given}
        if source == "OAUTHBEARER":
            named[:] = [key for key in named if key != "bearer.auth.token"]
        if len(named) != 1:
            wants = "name one of" if len(named) > 1 else f"bearer.auth.credentials.source={source} requires one of"
            raise UsageError(f"{wants} {', '.join(TOKENS)}")
        text = self._text(named[0])
        field = TOKENS[named[0]]
        if field == "token_command":
            from kcli.config.secrets.sources import words_of

            fields[field] = words_of(text, f"{self._where(named[0])}: {named[0]}")
        else:
            fields[field] = Secret(text) if field == "token" else text
        if "bearer.auth.client.secret" in self._given:
            fields["client_secret"] = Secret(self._text("bearer.auth.client.secret"))
        oauth = OAuth(**fields, proxy=self._text("proxy").strip())
        if oauth.token_endpoint:
            from kcli.security.oidc import check_endpoint

            check_endpoint(oauth)
        return oauth

    def _source(self, key: str, known: tuple[str, ...]) -> str:
        source = self._text(key).strip().upper()
        if source and source not in known:
            raise UsageError(f"{self._where(key)}: {key} must be one of {', '.join(known)}")
        return source

    def _readable(self, fields: dict[str, Any]) -> None:
        """Raise UsageError if credentials would be readable on the network."""
        if not fields["credentials"] or self._text("allow.insecure.auth").strip().lower() == "true":
            return
        for origin in fields["origins"]:
            if not origin.secure and not origin.loopback and (origin.user or fields.get("oauth") is not None):
                raise UsageError(
                    f"the credentials would be sent to {origin.url} unencrypted, so others could read them: "
                    "use https, or set schema.registry.allow.insecure.auth=true"
                )
