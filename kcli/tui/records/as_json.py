"""The value of a record as JSON, whatever it holds. Pure."""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 60
"""Maps and lists within one another that are shown; of those below it `…`."""


def as_json(value: Any, *, indent: int | None = None) -> str:
    """JSON of a decoded value. What JSON has no word for is its text: dates, bytes, keys of a map that are no text."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(value, DEEPEST), indent=indent, ensure_ascii=False, default=str)


def _plain(value: Any, left: int) -> Any:
    if isinstance(value, dict):
        return {_key(key): _plain(one, left - 1) for key, one in value.items()} if left else "…"
    if isinstance(value, (list, tuple)):
        return [_plain(one, left - 1) for one in value] if left else "…"
    return value


def _key(key: object) -> Any:
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    return key if key is None or isinstance(key, (str, int, float)) else str(key)
