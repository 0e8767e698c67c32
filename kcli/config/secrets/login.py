"""What a login module of `sasl.jaas.config` says, as fields of the settings. Other modules are refused: in Java they
are code that is run (CVE-2023-25194)."""

from __future__ import annotations

from kcli.config.secrets.jaas import parse
from kcli.errors import UsageError
from kcli.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, dict[str, Any]]

PASSWORD = ("username", "password")
OAUTH = {"clientId": "client_id", "clientSecret": "client_secret", "scope": "scope"}


def jaas_fields(text: str, where: str) -> Fields:
    """Fields by part of the settings: sasl, oauth, kerberos or aws. Raises UsageError."""
    module, options = parse(text, where)
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
            raise UsageError(f"{where}: {name}: put the role into a profile of ~/.aws/config and name that profile")
    return {"aws": {"profile": options["awsProfileName"]} if "awsProfileName" in options else {}}


MODULES = {
    "PlainLoginModule": _password,
    "ScramLoginModule": _password,
    "OAuthBearerLoginModule": _oauth,
    "Krb5LoginModule": _kerberos,
    "IAMLoginModule": _aws,
}
