"""Converts ssl.*, sasl.* and security.protocol to `Security`: Java's and librdkafka's names are equivalent.

The last value wins, whatever its dialect: a CA file on the command line replaces a truststore of the profile.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.property_names import ASSERTION, AWS, KERBEROS, OAUTH, SASL, TLS
from kcli.secret import HIDDEN, Secret
from kcli.security import MECHANISMS, SECRET_FIELDS, Assertion, Aws, Kerberos, OAuth, Sasl, Security, Tls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from kcli.config.secrets.sources import Source

    Given = str | Source

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
TELLING = """
sasl.mechanism sasl.mechanisms sasl.username sasl.jaas.config ssl.ca.location ssl.truststore.location
ssl.keystore.location ssl.certificate.location
""".split()
"""A configuration with one of these is not PLAINTEXT, although other clients take a missing security.protocol
as that."""
FILES = "ca truststore certificate key keystore token_file keytab file key_file template_file".split()
INSTEAD = {  # a field: those it replaces
    "ca": ("ca_pem", "truststore"),
    "ca_pem": ("ca", "truststore"),
    "truststore": ("ca", "ca_pem"),
    "certificate": ("certificate_pem", "keystore"),
    "certificate_pem": ("certificate", "keystore"),
    "key": ("key_pem", "keystore"),
    "key_pem": ("key", "keystore"),
    "keystore": ("certificate", "certificate_pem", "key", "key_pem"),
    "token": ("token_file", "token_command", "token_endpoint"),
    "token_file": ("token", "token_command"),
    "token_command": ("token", "token_file"),
    "token_endpoint": ("token", "token_file", "token_command"),
}


def security_of(
    given: dict[str, tuple[Given, str]],
    warn: Callable[[str], None],
    note: Callable[[str], None],
    *,
    looking: bool = True,
) -> Security | None:
    """Return the TLS and SASL settings in the properties; None is PLAINTEXT. Resolves secrets, or uses *** without
    `looking`. Raises UsageError."""
    protocol = _protocol(given, warn)
    ours = [key for key in given if key in TLS or key in SASL or key in OAUTH or key in KERBEROS or key in AWS]
    if protocol is None:
        telling = next((key for key in TELLING if key in given), None)
        if telling is not None:
            choices = "SASL_SSL or SASL_PLAINTEXT" if telling.startswith("sasl") else "SSL or SASL_SSL"
            where = given[telling][1]
            raise UsageError(
                f"{where if telling in where else f'{where}: {telling}'} requires security.protocol={choices}"
            ).hinted(
                "login" if telling == "sasl.username" else "property",  # a login without a mechanism
                property=f"security.protocol={choices.partition(' ')[0]}",
            )
        return None
    tls, sasl = "SSL" in protocol.split("_"), protocol.startswith("SASL")
    unused = [key for key in ours if (key in TLS and not tls) or (key not in TLS and not sasl)]
    for key in unused:
        where = given[key][1]
        about = where if key in where else f"{where}: {key}"
        (warn if key in TELLING else note)(f"{about} is not used with security.protocol={protocol}")
    asked = Asked(given, warn, looking)
    return Security(tls=asked.tls() if tls else None, sasl=asked.sasl() if sasl else None) if tls or sasl else None


def _protocol(given: dict[str, tuple[Given, str]], warn: Callable[[str], None]) -> str | None:
    if "security.protocol" not in given:
        return None
    value, where = given["security.protocol"]
    text = (value if isinstance(value, str) else value.resolve(where, warn)).strip().upper()
    if text not in PROTOCOLS:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(text, PROTOCOLS) or f"; it is one of {', '.join(PROTOCOLS)}"
        raise UsageError(f"{where}: unknown security.protocol {text}{near}")
    return text


class Asked:
    """The properties while they are converted to settings."""

    def __init__(self, given: dict[str, tuple[Given, str]], warn: Callable[[str], None], looking: bool) -> None:
        self._given = given
        self._warn = warn
        self._looking = looking

    def _texts(self, names: Iterable[str]) -> Iterable[tuple[str, str, str]]:
        """Yield (property, text, source) in the order given."""
        for key, (value, where) in self._given.items():
            if key in names:
                if not isinstance(value, str):
                    value = value.resolve(f"{where}: {key}", self._warn) if self._looking else HIDDEN
                yield key, value, where

    def tls(self) -> Tls:
        """Raises UsageError."""
        fields: dict[str, Any] = {}
        for key, text, where in self._texts(TLS):
            if key == "ssl.endpoint.identification.algorithm":
                fields["verify_host"] = _word(key, text.lower(), {"https": True, "": False, "none": False}, where)
            elif key == "enable.ssl.certificate.verification":
                fields["verify"] = _word(key, text.lower(), {"true": True, "false": False}, where)
            elif key in ("ssl.enabled.protocols", "ssl.protocol"):
                fields.update(tls_versions(key, text, where))
            elif key == "ssl.cipher.suites":
                fields["ciphers"] = tls_ciphers(text)
            else:
                put(fields, TLS[key], text)
        paired(fields)
        return Tls(**fields)

    def sasl(self) -> Sasl:
        """Raises UsageError."""
        from kcli.config.secrets.login import jaas_fields
        from kcli.config.secrets.oauth import assertion_fields, oauth_fields

        fields: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {"oauth": {}, "kerberos": {}, "aws": {}}
        for key, text, where in self._texts(SASL):
            if key == "sasl.jaas.config":
                for part, some in jaas_fields(text, f"{where}: {key}").items():
                    (fields if part == "sasl" else parts[part]).update(some)
            elif SASL[key] == "mechanism":
                fields["mechanism"] = _mechanism(key, text, where)
            elif SASL[key] in ("delegation_token", "allow_insecure"):
                fields[SASL[key]] = _word(key, text.lower(), {"true": True, "false": False}, where)
            elif SASL[key] == "max_iterations":
                fields["max_iterations"] = _number(key, text, where)
            else:
                put(fields, SASL[key], text)
        for name, table in (("kerberos", KERBEROS), ("aws", AWS)):
            for key, text, _ in self._texts(table):
                put(parts[name], table[key], text)
        oauth_fields(self._texts(OAUTH), parts["oauth"])
        if assertion := assertion_fields(self._texts(ASSERTION)):
            parts["oauth"]["assertion"] = Assertion(**assertion)
        return self._whole(fields, parts)

    def _whole(self, fields: dict[str, Any], parts: dict[str, dict[str, Any]]) -> Sasl:
        mechanism = fields.pop("mechanism", None)
        if mechanism is None:
            raise UsageError(f"SASL requires sasl.mechanism: one of {', '.join(MECHANISMS)}").hinted(
                "property", property="sasl.mechanism=PLAIN"
            )
        if mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
            for name in ("username", "password"):
                if not fields.get(name):
                    raise UsageError(f"{mechanism} requires sasl.username and sasl.password; sasl.{name} is missing")
        unsecured = parts["oauth"].pop("unsecured", None)
        if mechanism == "OAUTHBEARER":
            if unsecured is not None and not {"token", "token_file", "token_command", "token_endpoint"} & {
                *parts["oauth"]
            }:
                from kcli.config.secrets.oauth import unsecured_token

                parts["oauth"]["token"] = Secret(unsecured_token(unsecured))
            if not {"token", "token_file", "token_command", "token_endpoint"} & {*parts["oauth"]}:
                raise UsageError(
                    "OAUTHBEARER requires a token: sasl.oauthbearer.token.endpoint.url with a client id and secret, "
                    "sasl.oauthbearer.token.command, sasl.oauthbearer.token.file or sasl.oauthbearer.token"
                )
            fields["oauth"] = OAuth(**parts["oauth"])
        elif mechanism == "GSSAPI":
            fields["kerberos"] = Kerberos(**parts["kerberos"])
        elif mechanism == "AWS_MSK_IAM":
            fields["aws"] = Aws(**parts["aws"])
        return Sasl(mechanism=mechanism, **fields)


def _word(key: str, text: str, words: dict[str, bool], where: str) -> bool:
    if text not in words:
        raise UsageError(f"{where}: {key} must be one of {', '.join(word or '(empty)' for word in words)}")
    return words[text]


def _number(key: str, text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**31):
        raise UsageError(f"{where}: {key} must be a number")
    return int(text)


def _mechanism(key: str, text: str, where: str) -> str:
    name = text.strip().upper()
    if name not in MECHANISMS:
        from kcli.text.suggest import did_you_mean

        raise UsageError(f"{where}: unknown {key} {text}{did_you_mean(name, MECHANISMS, 0.4)}")
    return name


def tls_versions(key: str, text: str, where: str) -> dict[str, str]:
    """Return Java's list of protocols as the lowest and the highest; versions below TLS 1.2 are never used."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in ("TLS", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"):
            raise UsageError(f"{where}: {key}: unknown version {name}; kcli supports TLSv1.2 and TLSv1.3")
    spoken = [name for name in ("TLSv1.2", "TLSv1.3") if name in names]
    if key == "ssl.protocol" or "TLS" in names:
        return {}  # Java's name of a context with all protocols
    if not spoken:
        raise UsageError(f"{where}: {key}: kcli supports TLSv1.2 and TLSv1.3, nothing older")
    return {"minimum": spoken[0], "maximum": spoken[-1]}


def tls_ciphers(text: str) -> str:
    """Return OpenSSL's names for Java's ciphers; those of TLS 1.3 are always enabled."""
    names = [name.strip() for name in text.replace(":", ",").split(",") if name.strip()]
    return ":".join(filter(None, map(_openssl, names)))


def _openssl(name: str) -> str:
    if not name.startswith("TLS_"):
        return name
    if "_WITH_" not in name:
        return ""
    exchange, _, rest = name.removeprefix("TLS_").partition("_WITH_")
    rest = rest.replace("AES_", "AES").replace("_CBC_", "_").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    return (rest if exchange == "RSA" else f"{exchange}_{rest}").replace("_", "-")


def paired(fields: dict[str, Any]) -> None:
    """Raise UsageError for a key without a certificate, and for an inline certificate without its key, as far as that
    is visible without reading a file or a secret."""
    key = next((name for name in ("key_pem", "key") if name in fields), "")
    if key and not {"certificate", "certificate_pem", "keystore"} & fields.keys():
        named = "ssl.key.location" if key == "key" else "the private key (ssl.key.pem, ssl.keystore.key)"
        raise UsageError(
            f"{named} has no certificate: set ssl.certificate.location, ssl.certificate.pem or "
            "ssl.keystore.certificate.chain"
        )
    chain = fields.get("certificate_pem", HIDDEN)
    if not key and chain != HIDDEN and "PRIVATE KEY-----" not in chain:
        raise UsageError(
            "the certificate (ssl.certificate.pem, ssl.keystore.certificate.chain) has no private key: set "
            "ssl.key.location, ssl.key.pem or ssl.keystore.key"
        )


def put(fields: dict[str, Any], field: str, text: str) -> None:
    for other in INSTEAD.get(field, ()):
        fields.pop(other, None)
    if text[:1] == "~" and field in FILES:
        from os.path import expanduser

        text = expanduser(text)
    if text:
        fields[field] = Secret(text) if field in SECRET_FIELDS else text
