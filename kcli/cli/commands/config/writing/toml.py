"""Profiles as TOML text, and the lines of a file's keys."""

from __future__ import annotations

from collections.abc import Iterator

from kcli.cli.documents.input_file import Map, read_text
from kcli.cli.documents.toml_reader import load
from kcli.config.profiles import FILES, MAP
from kcli.secret import HIDDEN, secretive, without_login
from kcli.system.files import SETTINGS
from kcli.values import Value, field


class NewProfile(Value):
    """A profile that is no table of a file yet: properties as -X has them; `guard` is "", read_only or protected."""

    name: str = ""
    bootstrap: str = ""
    properties: dict[str, str] = field(factory=dict)
    guard: str = ""
    broker_map: dict[str, str] = field(factory=dict)


def text_of(profile: NewProfile, *, reveal: bool) -> str:
    """One profile as a table; secrets are *** unless revealed."""
    keys = list(profile.properties)
    lines = [f"[profiles.{_key(profile.name, dotted=False)}]"]
    lines += [f"bootstrap = {quoted(profile.bootstrap)}"] if profile.bootstrap else []
    lines += [f"{profile.guard} = true"] if profile.guard else []
    for key, value in profile.properties.items():
        clash = any(other != key and (other.startswith(f"{key}.") or key.startswith(f"{other}.")) for other in keys)
        shown = _value(key, value, reveal=reveal)
        lines.append(f"{quoted(key) if clash else _key(key, dotted=True)} = {shown}")
    pairs = ", ".join(f"{quoted(host)} = {quoted(to)}" for host, to in profile.broker_map.items())
    lines += [f"{MAP} = {{ {pairs} }}"] if pairs else []
    return "\n".join(lines) + "\n"


def _value(key: str, value: str, *, reveal: bool) -> str:
    """A source is a table, and no secret."""
    from kcli.config.secrets.sources import written

    source = written(value, key)
    if source is not None and f"{key}.{source.kind}" not in FILES:
        words = ", ".join(quoted(word) for word in source.what)
        return f"{{ {source.kind} = {f'[{words}]' if source.kind == 'command' else words} }}"
    return quoted(value if reveal or source is not None else HIDDEN if secretive(key) else without_login(value))


def secrets_of(profile: NewProfile) -> list[str]:
    """The properties that are secrets, as plain text."""
    from kcli.config.secrets.sources import written

    return [
        key
        for key, value in profile.properties.items()
        if written(value, key) is None and (secretive(key) or without_login(value) != value)
    ]


def quoted(text: str) -> str:
    """A basic string of TOML."""
    out = []
    for char in text:
        if char in '"\\':
            out.append(f"\\{char}")
        elif char == "\n":
            out.append("\\n")
        elif char < " " or char == "\x7f":
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return f'"{"".join(out)}"'


def _key(name: str, *, dotted: bool) -> str:
    bare = name.replace(".", "") if dotted else name
    usual = bare.isascii() and bare.replace("-", "").replace("_", "").isalnum()
    return name if usual and ".." not in name and name.strip(".") == name else quoted(name)


def lines_of(path: str, profile: str) -> dict[str, int]:
    """The line of each key of a profile, by its dotted name."""
    document = load(read_text(path, SETTINGS), path)
    return dict(_lines(document["profiles"][profile], ""))


def _lines(table: Map, above: str) -> Iterator[tuple[str, int]]:
    for key, value in table.items():
        yield above + key, table.lines[key]
        if isinstance(value, Map):
            yield from _lines(value, f"{above}{key}.")
