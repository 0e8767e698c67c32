"""Profiles as TOML text, and that text in a file: nothing that stands there is changed but a profile one replaces."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from kcli.cli.commands.config.readers import ForeignCluster
from kcli.cli.documents.lined import Map
from kcli.cli.documents.toml_reader import header, load
from kcli.errors import UsageError
from kcli.secret import HIDDEN, secretive, without_login


def text_of(found: ForeignCluster, *, reveal: bool) -> str:
    """One profile as a table; secrets are *** unless revealed."""
    keys = list(found.properties)
    lines = [f"[profiles.{_key(found.name, dotted=False)}]"]
    lines += [f"bootstrap = {quoted(found.bootstrap)}"] if found.bootstrap else []
    for key, value in found.properties.items():
        clash = any(other != key and (other.startswith(f"{key}.") or key.startswith(f"{other}.")) for other in keys)
        shown = value if reveal else HIDDEN if secretive(key) else without_login(value)
        lines.append(f"{quoted(key) if clash else _key(key, dotted=True)} = {quoted(shown)}")
    return "\n".join(lines) + "\n"


def secrets_of(found: ForeignCluster) -> list[str]:
    return [key for key, value in found.properties.items() if secretive(key) or without_login(value) != value]


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
    with open(path, encoding="utf-8") as file:
        document = load(file.read(), path)
    return dict(_lines(document["profiles"][profile], ""))


def _lines(table: Map, above: str) -> Iterator[tuple[str, int]]:
    for key, value in table.items():
        yield above + key, table.lines[key]
        if isinstance(value, Map):
            yield from _lines(value, f"{above}{key}.")


def write(path: str, clusters: list[ForeignCluster], *, force: bool) -> list[str]:
    """Put the profiles into the file, made with mode 600 where there is none; what was there before a replacement is
    kept beside it. Returns the names of those replaced. Raises UsageError with nothing written."""
    from kcli.config.profiles.files import document

    path = os.path.realpath(path)
    before = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read()
    old = document(path) if before else {}
    there = [cluster.name for cluster in clusters if cluster.name in old.get("profiles", {})]
    if there and not force:
        raise UsageError(
            f"{path} has a profile {there[0]} already: --force replaces it, --name NAME calls it otherwise"
        )
    after = _without(before, there)
    gap = "\n" if after and not after.endswith("\n\n") else ""
    after += gap + "\n".join(text_of(cluster, reveal=True) for cluster in clusters)
    _check(path, old, after, {cluster.name for cluster in clusters})
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if there:
        _replace(f"{path}~", before)
    _replace(path, after)
    return there


def _check(path: str, old: dict[str, object], after: str, new: set[str]) -> None:
    """Whether nothing else has changed. Raises UsageError."""
    import tomllib

    try:
        parsed = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        parsed = {}
    profiles, others = parsed.pop("profiles", {}), {key: value for key, value in old.items() if key != "profiles"}
    kept = old.get("profiles", {})
    assert isinstance(kept, dict)
    same = parsed == others and {key: value for key, value in profiles.items() if key not in new} == {
        key: value for key, value in kept.items() if key not in new
    }
    if not same or not new <= set(profiles):
        raise UsageError(f"{path} is written so that nothing can be added safely: put the profile there by hand")


def _without(text: str, names: Iterable[str]) -> str:
    """The text without the tables of these profiles."""
    gone, kept, leaving = set(names), [], False
    for line in text.splitlines(keepends=True):
        if line.strip().startswith("["):
            path = header(line)
            leaving = len(path) > 1 and path[0] == "profiles" and path[1] in gone
        if not leaving:
            kept.append(line)
    return "".join(kept)


def _replace(path: str, text: str) -> None:
    """All or nothing, and never for others to read."""
    beside = f"{path}.{os.getpid()}"
    file = os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
