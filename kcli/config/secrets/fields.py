"""Fields of `Security` while they are collected: the last word wins, and replaces the fields that mean the same."""

from __future__ import annotations

from kcli.secret import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECRETS = """
truststore_password key_pem key_password keystore_password password token client_secret secret_key session_token
""".split()
FILES = ("ca", "truststore", "certificate", "key", "keystore", "token_file", "keytab")
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


def put(fields: dict[str, Any], field: str, text: str) -> None:
    for other in INSTEAD.get(field, ()):
        fields.pop(other, None)
    if text[:1] == "~" and field in FILES:
        from os.path import expanduser

        text = expanduser(text)
    if text:
        fields[field] = Secret(text) if field in SECRETS else text
