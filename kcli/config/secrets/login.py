"""Converts a login module in `sasl.jaas.config` to settings. Unknown modules are refused: in Java they are code that is
run (CVE-2023-25194)."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Fields = dict[str, dict[str, Any]]

PASSWORD = ("username", "password")
OAUTH = {"clientId": "client_id", "clientSecret": "client_secret", "scope": "scope"}
FLAGS = ("required", "requisite", "sufficient", "optional")
SPECIAL = "=;"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def jaas_fields(text: str, where: str) -> Fields:
    """Return fields by part of the settings: sasl, oauth, kerberos or aws. Raises UsageError."""
    module, options = parse_jaas(text, where)
    if module not in MODULES:
        known = ", ".join(MODULES)
        raise UsageError(f"{where}: unknown login module {module}; known: {known}")
    return MODULES[module](options, where)


def _password(options: dict[str, str], where: str) -> Fields:
    fields: dict[str, Any] = {}
    for name in PASSWORD:
        if name in options:
            fields[name] = Secret(options[name]) if name == "password" else options[name]
    if options.get("tokenauth", "").lower() == "true":
        fields["delegation_token"] = True
    return {"sasl": fields}


def _oauth(options: dict[str, str], where: str) -> Fields:
    fields: dict[str, Any] = {}
    for name, field in OAUTH.items():
        if name in options:
            fields[field] = Secret(options[name]) if field == "client_secret" else options[name]
    extensions = tuple(
        (name.removeprefix("extension_"), value) for name, value in options.items() if name.startswith("extension_")
    )
    if extensions:
        fields["extensions"] = extensions
    claims = {
        name.partition("Claim_")[2]: value
        for name, value in options.items()
        if name.startswith("unsecuredLogin") and "Claim_" in name
    }
    if claims:
        fields["unsecured"] = claims
    return {"oauth": fields}


def _kerberos(options: dict[str, str], where: str) -> Fields:
    fields: dict[str, Any] = {}
    for name, field in (("principal", "principal"), ("keyTab", "keytab"), ("serviceName", "service")):
        if name in options:
            fields[field] = options[name]
    return {"kerberos": fields}


def _aws(options: dict[str, str], where: str) -> Fields:
    for name in options:
        if name.startswith(("awsRole", "awsSts")):
            raise UsageError(f"{where}: {name}: put the role into a profile of ~/.aws/config and use that profile")
    return {"aws": {"profile": options["awsProfileName"]} if "awsProfileName" in options else {}}


MODULES = {
    "PlainLoginModule": _password,
    "ScramLoginModule": _password,
    "OAuthBearerLoginModule": _oauth,
    "Krb5LoginModule": _kerberos,
    "IAMLoginModule": _aws,
}


def parse_jaas(text: str, where: str) -> tuple[str, dict[str, str]]:
    """Return the simple name of the module's class, and its options. Raises UsageError, which never contains a
    value."""
    words = list(_words(text, where))
    if len(words) < 2 or words[0][1] or words[0][0] in SPECIAL:
        raise UsageError(f'{where}: expected LoginModule required name="value" …;')
    if words[1][0].lower() not in FLAGS:
        raise UsageError(f"{where}: expected, after the login module, one of {', '.join(FLAGS)}")
    options: dict[str, str] = {}
    at = 2
    while at < len(words) and words[at] != (";", False):
        name, quoted = words[at]
        if quoted or name in SPECIAL or at + 2 >= len(words) or words[at + 1] != ("=", False):
            raise UsageError(f'{where}: expected name="value" after {_shown(words, at)}')
        if words[at + 2] in (("=", False), (";", False)):
            raise UsageError(f"{where}: {name} has no value")
        options[name] = words[at + 2][0]
        at += 3
    if at >= len(words):
        raise UsageError(f"{where}: it must end with a semicolon")
    if at + 1 < len(words):
        raise UsageError(f"{where}: only one login module is allowed, and nothing after its semicolon")
    return words[0][0].rpartition(".")[2], options


def _shown(words: list[tuple[str, bool]], at: int) -> str:
    """Return the text before a mistake: an option's name, never its value."""
    return words[at - 3][0] if at >= 5 else words[1][0]


def _words(text: str, where: str) -> Iterator[tuple[str, bool]]:
    """Yield (word, whether it was quoted)."""
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char.isspace():
            at += 1
        elif char in SPECIAL:
            yield char, False
            at += 1
        elif char in "\"'":
            word, at = _quoted(text, at, where)
            yield word, True
        else:
            begin = at
            while at < end and not text[at].isspace() and text[at] not in SPECIAL:
                at += 1
            yield text[begin:at], False


def _quoted(text: str, at: int, where: str) -> tuple[str, int]:
    quote = text[at]
    out: list[str] = []
    at += 1
    while at < len(text):
        char = text[at]
        at += 1
        if char == quote:
            return "".join(out), at
        if char == "\\" and at < len(text):
            out.append(ESCAPES.get(text[at], text[at]))
            at += 1
        else:
            out.append(char)
    raise UsageError(f"{where}: a quotation mark is not closed")
