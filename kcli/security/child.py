"""The environment of programs that a configuration runs: `${command:…}`, token commands."""

from __future__ import annotations

import os

from kcli.property_names import ASSERTION, AWS, OAUTH, SASL, TLS
from kcli.secret import secretive, without_login
from kcli.security import SECRET_FIELDS

SECRETS = {
    name for table in (TLS, SASL, OAUTH, ASSERTION, AWS) for name, field in table.items() if field in SECRET_FIELDS
}
"""Properties that the settings keep as a `Secret`."""


def environment() -> dict[str, str]:
    """Return this process's environment without kcli's own secrets."""
    return {name: text for name, text in os.environ.items() if name[:5] != "KCLI_" or not _secret(name, text)}


def _secret(name: str, text: str) -> bool:
    key = name[5:].lower().replace("_", ".").removeprefix("schema.registry.")
    return key in SECRETS or secretive(key) or without_login(text) != text
