"""TOML as maps that know the line of each key, which tomllib does not have."""

from __future__ import annotations

import re
from typing import Any

from kcli.cli.documents.input_file import Map
from kcli.errors import UsageError

Key = tuple[str, ...]
Where = dict[Key, int]

KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(\.|=|\])""")

TOKEN = re.compile(
    r"""#[^\n]*|\"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""",
    re.DOTALL,
)


def load(text: str, path: str) -> Any:
    """The document. Raises UsageError with file and line."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        match = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(problem), re.DOTALL)
        line = (match and match.group(2)) or len(text.splitlines()) or 1
        raise UsageError(f"{path}:{line}: {match.group(1) if match else problem}") from None
    return _lined(document, (), _places(text), 1)


def header(line: str) -> list[str]:
    """The keys of `[a.b]` or `[[a.b]]`; [] for every other line."""
    plain = line.strip()
    inner = plain.lstrip("[")
    return _keys(inner, "]") if inner != plain else []


def _places(text: str) -> Where:
    """The line where each key comes first, by the keys above it and itself; a table of an array has its number among
    those."""
    places: Where = {}
    table: Key = ()
    tables: dict[Key, int] = {}
    for number, line in enumerate(TOKEN.sub(_one_line, text).split("\n"), 1):
        if keys := header(line):
            table = _table(keys, number, line.strip()[:2] == "[[", tables, places)
        else:
            keys = _keys(line, "=")
            for size in range(1, len(keys) + 1):
                places.setdefault((*table, *keys[:size]), number)
    return places


def _one_line(token: re.Match[str]) -> str:
    """A text of many lines without what looks like a key in it; comments and other texts as they are."""
    found = token.group()
    return '""' + "\n" * found.count("\n") if found[:3] in ('"""', "'''") else found


def _table(keys: list[str], number: int, array: bool, tables: dict[Key, int], places: Where) -> Key:
    """The place of a table, and of those around it, put down; the newest of an array counts."""
    full: Key = ()
    for size, key in enumerate(keys, 1):
        full = (*full, key)
        places.setdefault(full, number)
        if array and size == len(keys):
            tables[full] = tables.get(full, -1) + 1
        if full in tables:
            full = (*full, str(tables[full]))
            places.setdefault(full, number)
    return full


def _keys(text: str, end: str) -> list[str]:
    """The parts of a dotted key, up to `end`; [] for anything else."""
    import tomllib

    keys, at = [], 0
    while (match := KEY.match(text, at)) is not None:
        part, at = match.group(1), match.end()
        try:
            keys.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
        except tomllib.TOMLDecodeError:
            return []  # a line of a text, with an escape that TOML does not have
        if match.group(2) != ".":
            return keys if match.group(2) == end else []
    return []


def _lined(value: Any, path: Key, where: Where, line: int) -> Any:
    """`value` with each map as a Map; `line` is that of the key above it."""
    if isinstance(value, list):
        places = [(*path, str(number)) for number in range(len(value))]
        return [_lined(item, place, where, where.get(place, line)) for item, place in zip(value, places)]
    if not isinstance(value, dict):
        return value
    table = Map()
    for key, inner in value.items():
        place = (*path, key)
        table.lines[key] = where.get(place, line)
        table[key] = _lined(inner, place, where, table.lines[key])
    return table
