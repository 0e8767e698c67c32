"""The reference page of properties: Kafka's and librdkafka's names, what they set, and their defaults."""

from __future__ import annotations

from kcli.cli.output.hints import worded
from kcli.config.properties.known import CLIENT, CONSUMER, GROUP, KNOWN, PRODUCER, SERVERS
from kcli.config.properties.names import INSTEAD, OF_A_REGISTRY, REFUSED, REGISTRY_PREFIX
from kcli.errors import Hint
from kcli.property_names import ASSERTION, AWS, KERBEROS, OAUTH, SASL, TLS
from kcli.security import Assertion, Aws, Kerberos, OAuth, Sasl, Tls
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.values import Frozen

HEAD = """# Properties

Property names of the Java clients and of librdkafka, for `-X NAME=VALUE`, `-F FILE`, profiles, and `KCLI_*` in the
environment (`KCLI_LINGER_MS=50`). Names in one row mean the same. *Setting* is the field in [the
library](../library/names.md), where times are seconds and sizes bytes. `kcli config show` prints the properties in
effect and where each value comes from.

"""
PARTS: dict[str, tuple[str, type[Frozen]]] = {
    CLIENT: ("Connections and metadata", ClientSettings),
    PRODUCER: ("Producing", ProducerSettings),
    CONSUMER: ("Consuming", ConsumerSettings),
    GROUP: ("Groups", GroupSettings),
}
SECURITY: dict[str, tuple[dict[str, str], type[Frozen]]] = {
    "TLS": (TLS, Tls),
    "SASL": (SASL, Sasl),
    "OAUTHBEARER": (OAUTH, OAuth),
    "Assertions of OAUTHBEARER": (ASSERTION, Assertion),
    "GSSAPI": (KERBEROS, Kerberos),
    "AWS_MSK_IAM": (AWS, Aws),
}
LAST = """Other properties of the Java clients and librdkafka have no effect: kcli ignores them, and `-v` lists them.
Unknown properties are refused."""
REGISTRY = """For `--schema-registry` ([schemas](../schemas.md)). `basic.auth.`, `bearer.auth.`, `http.`,
`key.subject.` and `value.subject.` also work without the prefix; TLS properties need it:
`schema.registry.ssl.ca.location`.
"""
PROTOCOL = "`security.protocol`: PLAINTEXT (default), SSL, SASL_PLAINTEXT or SASL_SSL.\n\n"
SETTINGS = "| property | setting | default | values |\n|---|---|---|---|\n"
VALUES = {"ms": "milliseconds", "KiB": "KiB", "int": "number", "bool": "true, false", "text": "text", "names": "names"}
OF_COMMANDS = {"isolation.level": "read_committed; in the library read_uncommitted"}
"""Defaults of commands that the settings of the library do not have."""
WORDS = {"ssl.endpoint.identification.algorithm": "https"}
"""Defaults that the property says by another word than the setting."""


def page() -> str:
    """The text of the page."""
    servers = " or ".join(f"`{name}`" for name in SERVERS)
    parts = [f"{HEAD}The servers: {servers}, or the option `-b`.\n"]
    parts += [f"## {title}\n\n{SETTINGS}{_settings(part, kind)}" for part, (title, kind) in PARTS.items()]
    for title, (names, kind) in SECURITY.items():
        rows = _merged({name: (field or "(several)", _default(kind, name, field)) for name, field in names.items()})
        first = PROTOCOL if title == "TLS" else ""
        parts.append(f"## {title}\n\n{first}| property | setting | default |\n|---|---|---|\n{rows}")
    registry = "".join(f"- `{REGISTRY_PREFIX}{name}`\n" for name in OF_A_REGISTRY if name not in TLS)
    parts.append(f"## Schema registry\n\n{REGISTRY}\n{registry}")
    refused = "".join(
        f"- `{name}{'…' if name.endswith('.') else ''}`: {worded(why, Hint(INSTEAD.get(name, '')))}\n"
        for name, why in REFUSED.items()
    )
    why = "kcli refuses these properties: ignoring them would make a connection less safe, or change it."
    parts.append(f"## Refused\n\n{why}\n\n{refused}")
    return "\n".join([*parts, LAST]) + "\n"


def _settings(part: str, kind: type[Frozen]) -> str:
    rows: dict[str, tuple[str, ...]] = {}
    for name, (parts, field, unit) in KNOWN.items():
        if part in parts:
            values = ", ".join(unit) if isinstance(unit, dict) else VALUES[str(unit)]
            rows[name] = (field, OF_COMMANDS.get(name) or _text(getattr(kind(), field), unit), values)
    return _merged(rows)


def _merged(rows: dict[str, tuple[str, ...]]) -> str:
    """Rows that differ in their names only are one."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, row in rows.items():
        names.setdefault(row, []).append(f"`{name}`")
    return "".join(
        f"| {', '.join(same)} | `{row[0]}` | {' | '.join(row[1:])} |\n" for row, same in names.items()
    ).replace("`(several)`", "several")


def _default(kind: type[Frozen], name: str, field: str) -> str:
    if name in WORDS:
        return WORDS[name]
    return _text(getattr(kind(), field), "ms" if name.endswith(".ms") else "text") if field else ""


def _text(value: object, unit: object) -> str:
    """A default as the property says it."""
    if isinstance(unit, dict):
        return next((word for word, meant in unit.items() if meant == value), "")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, float) and unit == "ms":
        return f"{value * 1000:.0f}"
    if isinstance(value, int) and unit == "KiB":
        return str(value // 1024)
    return "" if value is None else str(value)
