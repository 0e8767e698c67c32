"""Strings that are never shown: passwords, tokens and keys in settings. Only `reveal()` returns the text.

`repr`, `str`, `format`, JSON and the locals in a traceback show `***`; pickling raises an error.
"""

from __future__ import annotations

from kcli import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

HIDDEN = redact.HIDDEN
WORDS = ("password", "secret", "token", "jaas", "credential", "assertion", "passphrase", "private", "key.pem")
OPEN = tuple(
    "endpoint.url token.file token.command client.credentials.client.id delegation.token credentials.source "
    "assertion.file private.key.file template.file assertion.algorithm claim.aud claim.iss claim.sub exp.seconds "
    "nbf.seconds jti.include".split()
)
PRIVATE = ("ssl.keystore.key", "sasl.oauthbearer.config", "sasl.oauthbearer.extensions", "basic.auth.user.info")


class Secret:
    """`Secret("hunter2").reveal() == "hunter2"`; equal to another Secret of the same text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text. Call it only where the text is sent."""
        redact.remember(self._text)
        return self._text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written down")


def secretive(key: str) -> bool:
    """Whether the value of a property with this name must be hidden; if in doubt, yes."""
    name = key.lower().replace("_", ".").removeprefix("kcli.").removeprefix("schema.registry.")
    return name in PRIVATE or (not name.endswith(OPEN) and any(word in name for word in WORDS))


def without_login(url: str) -> str:
    """Remove user name, password and query values from a URL, or from several separated by commas. Other texts are
    returned unchanged."""
    begins = [at for at in (url.find(",http://"), url.find(",https://")) if at >= 0]
    if begins:
        first = min(begins)
        return f"{without_login(url[:first])},{without_login(url[first + 1 :])}"
    scheme, there, rest = url.partition("://")
    if there and "@" in rest and not _is_place(rest):
        url = f"{scheme}://{HIDDEN}@{rest.rpartition('@')[2]}"  # the password may contain @, / and ?
    url, mark, query = url.partition("?")
    return url + (f"?{HIDDEN}" if "=" in query else mark + query)


def without_logins(servers: str) -> str:
    """Remove user names and passwords in front of the hosts in a list of HOST:PORT."""
    shown: list[str] = []
    for one in servers.split(","):
        if "@" not in one:
            shown.append(one)
            continue
        while shown and "@" not in shown[-1] and not _is_place(shown[-1]):
            shown.pop()  # part of a password that contains a comma
        shown.append(f"{HIDDEN}@{one.rpartition('@')[2]}")
    return ",".join(shown)


def _is_place(text: str) -> bool:
    """Whether the text begins with HOST or HOST:PORT, without a login."""
    import re

    return re.match(r"\s*(\w+://)?([^\s:@/?#\[\]]+|\[[0-9a-fA-F:.]+\])(:\d*)?\s*([/?#]|$)", text) is not None
