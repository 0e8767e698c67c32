"""One profile: a table of a TOML file, checked."""

from __future__ import annotations

import os

from kcli.errors import UsageError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from kcli.config.secrets.sources import Source

FLAGS = ("read_only", "protected")
SERVERS = ("bootstrap", "bootstrap_servers", "bootstrap.servers", "metadata.broker.list")
MAP = "broker_map"
REGISTRY = "registry"
"""The short name a profile has for schema.registry.url; a folder (`file:schemas`) is meant from the file's."""
TAKING = tuple(
    "sasl.oauthbearer.token.file sasl.oauthbearer.token.command sasl.kerberos.keytab bearer.auth.token.file "
    "bearer.auth.token.command sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.template.file "
    "sasl.oauthbearer.assertion.jwt.template.file".split()
)
KEYS = ("ssl.key.location", "ssl.keystore.location", "sasl.oauthbearer.assertion.private.key.file")
"""Files of private keys: a project may have its own."""
FILES = frozenset((*TAKING, *KEYS))
"""Properties whose last word is not a source's kind in TOML: `token.file = "x"`."""
MECHANISM = ("sasl.mechanism", "sasl.mechanisms")
AMBIENT = ("GSSAPI", "AWS_MSK_IAM")
"""Mechanisms whose secrets are the user's tickets and credentials, which no property names."""
AMBIENT_MODULES = ("Krb5LoginModule", "IAMLoginModule")
SWITCHES = {
    "allow.insecure.auth": ("true",),
    "enable.ssl.certificate.verification": ("false",),
    "ssl.endpoint.identification.algorithm": ("", "none"),
}
"""Properties that turn a protection off, and the values that do."""


class Profile(Frozen):
    """One profile: `where` names it in errors, `properties` are as -X has them, `guard` is "", read_only or
    protected, `broker_map` is FROM=TO, `warnings` are about its file; `taken` is the first key that takes something
    from elsewhere, `unprotecting` the first that turns a protection off, `command` the first that runs a command.
    `trusted` is False for a project's profile that the user's file does not trust: it gets no secrets. `project` is the
    project's file that defines or chooses the profile, "" for none."""

    name: str = ""
    where: str = ""
    bootstrap: str | None = None
    properties: tuple[tuple[str, str | Source], ...] = ()
    guard: str = ""
    broker_map: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    taken: str = ""
    unprotecting: str = ""
    command: str = ""
    trusted: bool = True
    path: str = ""
    project: str = ""

    @property
    def choice(self) -> str:
        """That a project's file chooses the cluster, in words."""
        from kcli.secret import without_logins

        servers = without_logins(self.bootstrap or "")
        return f"{self.project} chooses the cluster: profile {self.name}, {servers}"


def profile_of(name: str, table: Mapping[str, object], path: str) -> Profile:
    """A table of a file as a profile. Raises UsageError."""
    where = f"{path}: profile {name}"
    guard, servers = "", None
    table = dict(table)
    mapped = _mapped(table.pop(MAP, {}), where)
    properties: list[tuple[str, str | Source]] = []
    for key, value in flat("", table, where, os.path.dirname(path)):
        if key in FLAGS:
            if not isinstance(value, bool):
                raise UsageError(f"{where}: {key} is true or false")
            if value and guard != "read_only":  # the stricter one, where both are set
                guard = key
        elif key in SERVERS:
            servers = _text(value)
        elif key == REGISTRY:
            url = value if _is_source(value) else _registry(_text(value), os.path.dirname(path))
            properties.append(("schema.registry.url", url))
        else:
            properties.append((key, value if _is_source(value) else _text(value)))
    taken = [key for key, value in properties if _takes(key, value, os.path.dirname(os.path.realpath(path)))]
    switches = [key for key, value in properties if str(value).strip().lower() in SWITCHES.get(_bare(key), ())]
    return Profile(
        name=name,
        where=where,
        bootstrap=servers,
        properties=tuple(properties),
        guard=guard,
        broker_map=mapped,
        warnings=_open_secrets(properties, path),
        taken=taken[0] if taken else "",
        unprotecting=switches[0] if switches else "",
        command=next((key for key, value in properties if runs_command(key, value)), ""),
        path=path,
    )


def _bare(key: str) -> str:
    """The name of a property, also where it is a schema registry's."""
    return key.removeprefix("schema.registry.")


def _registry(url: str, folder: str) -> str:
    """The registry's address; a folder of schemas with its whole path."""
    if not url.startswith("file:") or url.startswith("file:///"):
        return url
    return f"file:{os.path.join(folder, os.path.expanduser(url.removeprefix('file:')))}"


def _takes(key: str, value: str | Source, folder: str) -> bool:
    """Whether a property takes something that is not in its file or beside it."""
    key = _bare(key)
    if not isinstance(value, str) or key in TAKING or "${" in value:
        return True
    if key in KEYS:
        path = os.path.expanduser(value)
        places = (os.path.realpath(os.path.join(folder, path)), os.path.realpath(path))
        return not all(place.startswith(os.path.join(folder, "")) for place in places)
    if key in MECHANISM:
        return value.strip().upper() in AMBIENT
    if key == "sasl.jaas.config":
        return any(module in value for module in AMBIENT_MODULES)
    return key == "sasl.oauthbearer.token.endpoint.url" and value.startswith("file:")


def runs_command(key: str, value: str | Source) -> bool:
    """Whether a property's value comes from a command."""
    named = value.startswith("${command:") if isinstance(value, str) else value.kind == "command"
    return named or key.endswith("token.command")


def refused_command(where: str, key: str, path: str, reason: str) -> UsageError:
    """`reason` says why the file is not trusted."""
    return UsageError(f"{where}: {key} runs a command, which is refused because {path} {reason}")


def gives_secret(key: str, value: str) -> bool:
    """Whether a property is a secret, or says where one is."""
    from kcli.secret import secretive

    key = _bare(key)
    if key in MECHANISM:
        return value.strip().upper() in AMBIENT
    if secretive(key) or key in TAKING or key in KEYS or key.startswith("sasl.aws."):
        return True
    return value.startswith("file:") and key != "url"


def _mapped(table: Any, where: str) -> tuple[str, ...]:
    pairs = table.items() if isinstance(table, dict) else ()
    if not isinstance(table, dict) or not all(isinstance(to, str) for _, to in pairs):
        raise UsageError(f'{where}: {MAP} is a table: {MAP} = {{ "host:port" = "host:port" }}')
    return tuple(f"{pair}={to}" for pair, to in pairs)


def _is_source(value: Any) -> bool:
    return not isinstance(value, str | bool | int | float | list)


def _open_secrets(properties: list[tuple[str, str | Source]], path: str) -> tuple[str, ...]:
    """The warning about a file with secrets in it that others can read."""
    from kcli.secret import secretive
    from kcli.system.files import OTHERS_READ, has_modes

    plain = [key for key, value in properties if isinstance(value, str) and secretive(key) and value[:2] != "${"]
    if not plain or not has_modes() or not os.path.exists(path) or not os.stat(path).st_mode & OTHERS_READ:
        return ()
    return (f"{path} has {plain[0]} in it and can be read by others: chmod 600 it",)


def flat(prefix: str, table: dict[str, Any], where: str, folder: str) -> Iterable[tuple[str, Any]]:
    """`client.id = …` is a table in a table for TOML and one key for us; `{ env = "X" }` is a source."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            from kcli.config.secrets.sources import from_table, is_source

            if is_source(value) and not any(_bare(f"{name}.{kind}") in FILES for kind in value):
                yield name, from_table(value, f"{where}: {name}", folder)
            else:
                yield from flat(f"{name}.", value, where, folder)
        elif isinstance(value, str | int | float | list):
            yield name, value
        else:
            raise UsageError(f"{where}: {name} is a text, a number, true, false or a list")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)
