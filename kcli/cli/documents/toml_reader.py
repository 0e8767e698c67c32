"""TOML as maps that know the line of each key, which tomllib does not tell."""

from __future__ import annotations

import re

from kcli.cli.documents.lined import Map
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Where = dict[tuple[str, ...], int]

KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(\.|=|\])""")


def load(text: str, path: str) -> Any:
    """The document. Raises UsageError with file and line."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        said = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(problem), re.DOTALL)
        line = (said and said.group(2)) or len(text.splitlines()) or 1
        raise UsageError(f"{path}:{line}: {said.group(1) if said else problem}") from None
    return _lined(document, (), _places(text), 1)


def _places(text: str) -> Where:
    """Where each key is named first, by the keys above it; a table of an array has its number among those."""
    found: Where = {}
    table: tuple[str, ...] = ()
    tables: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.strip()
        opened = len(plain) - len(plain.lstrip("["))
        keys = _keys(plain[opened:], "]" if opened else "=")
        if not keys:
            continue
        if not opened:
            for size in range(1, len(keys) + 1):
                found.setdefault((*table, *keys[:size]), number)
            continue
        full: tuple[str, ...] = ()
        for at, key in enumerate(keys, 1):
            full = (*full, key)
            found.setdefault(full, number)
            if opened == 2 and at == len(keys):
                tables[full] = tables.get(full, -1) + 1
            if full in tables:
                full = (*full, str(tables[full]))
                found.setdefault(full, number)
        table = full
    return found


def _keys(text: str, end: str) -> list[str]:
    """The parts of a dotted key, up to `end`; [] for anything else."""
    found, at = [], 0
    while (match := KEY.match(text, at)) is not None:
        part = match.group(1)
        found.append(part[1:-1].replace('\\"', '"') if part[0] in "\"'" else part)
        if match.group(2) == end:
            return found
        if match.group(2) != ".":
            return []
        at = match.end()
    return []


def _lined(value: Any, path: tuple[str, ...], where: Where, line: int) -> Any:
    if isinstance(value, list):
        parts = [(one, (*path, str(number))) for number, one in enumerate(value)]
        return [_lined(one, at, where, where.get(at, line)) for one, at in parts]
    if not isinstance(value, dict):
        return value
    found = Map()
    for key, one in value.items():
        at = (*path, key)
        found.lines[key] = where.get(at, line)
        found[key] = _lined(one, at, where, found.lines[key])
    return found
