"""Writes a declared document as YAML, TOML or JSON, each of which reads back as the same document."""

from __future__ import annotations

import re
from typing import Any

BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*|-?\d+(\.\d+)?")
WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
KEY = re.compile(r"[A-Za-z0-9_-]+")


def text_of(document: dict[str, Any], format: str) -> str:
    """Return the whole text, with a final line end."""
    return {"yaml": _yaml, "toml": _toml, "json": _json}[format](document)


def _json(document: dict[str, Any]) -> str:
    from json import dumps

    return dumps(document, ensure_ascii=False, indent=2) + "\n"


def quoted(text: str) -> str:
    """Return a text in quotation marks, in a form that YAML, TOML and JSON read alike."""
    from json import dumps

    literal = dumps(text, ensure_ascii=False)
    return "".join(f"\\u{ord(c):04x}" if "\x7f" <= c < "\xa0" or c in "\u2028\u2029\ufeff" else c for c in literal)


# -- YAML -------------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> str:
    """Return a scalar; in quotation marks if it could be taken for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    return text if BARE.fullmatch(text) and text.lower() not in WORDS else quoted(text)


def _yaml(document: dict[str, Any]) -> str:
    return "".join(_block(document, 0))


def _block(value: dict[str, Any], depth: int) -> list[str]:
    out: list[str] = []
    for key, item in value.items():
        if not depth and out:
            out.append("\n")
        lead = "  " * depth + _plain(str(key)) + ":"
        if isinstance(item, dict) and item and not _short(item):
            out += [lead + "\n", *_block(item, depth + 1)]
        elif isinstance(item, list) and any(isinstance(part, dict) for part in item):
            out.append(lead + "\n")
            for part in item:
                inner = "".join(_block(part, depth + 1))
                out.append("  " * depth + "- " + inner[2 * (depth + 1) :])
        else:
            out.append(f"{lead} {_inline(item)}\n")
    return out


def _short(value: dict[str, Any]) -> bool:
    """Whether the source of a secret fits on one line."""
    return value.keys() <= {"env", "file", "keyring", "command"}


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_plain(str(key))}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return _plain(value)


# -- TOML -------------------------------------------------------------------------------------------------------------


def _name(key: str) -> str:
    return key if KEY.fullmatch(key) else quoted(key)


def _toml(document: dict[str, Any]) -> str:
    return "".join(_table(document, ()))


def _table(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    """Return values first, then the tables below."""
    out: list[str] = []
    below = {key: item for key, item in table.items() if _tabular(item)}
    for key, item in table.items():
        if key not in below:
            out.append(f"{_name(str(key))} = {_value(item)}\n")
    for key, item in below.items():
        at = (*path, str(key))
        name = ".".join(map(_name, at))
        if isinstance(item, list):
            for part in item:
                out += ["\n", f"[[{name}]]\n", *_table(part, at)]
        else:
            inner = _table(item, at)
            if not item or any(not _tabular(part) for part in item.values()):
                out += ["\n", f"[{name}]\n"]
            out += inner
    return out


def _tabular(value: Any) -> bool:
    if isinstance(value, dict):
        return not (value and _short(value))
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_name(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else quoted(str(value))
