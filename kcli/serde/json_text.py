"""Values of records as JSON texts: JSON unchanged, msgpack converted, anything else as a JSON string.

What JSON cannot express is written like in `consume -J`: bytes are {"base64": "…"}.
"""

from __future__ import annotations

import re
from base64 import b64encode
from json import dumps
from math import isfinite

from kcli.serde.formats import MAPS, json_of, read_msgpack, read_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
"""A token of valid JSON: a string, a bracket, comma or colon, or a number or word."""


def any_json(data: bytes | None) -> str:
    """Return the JSON of any key or value on one line: null, JSON unchanged, a msgpack map, else a string."""
    if data is None:
        return "null"
    text = json_or_map(data)
    return spelled(data) if text is None else text


def json_or_map(data: bytes) -> str | None:
    """Return JSON as written, or a msgpack map as JSON, on one line; None for anything else."""
    written = written_json(data)
    if written is None and data[:1] and data[0] in MAPS:
        return msgpack_json(data)
    return written


def written_json(data: bytes) -> str | None:
    """Return a JSON value on one line, with its numbers and escapes as written; None if invalid."""
    try:
        text = data.decode()
        json_of(text)
    except ValueError:
        return None
    text = text.strip(" \t\r\n")
    return text if "\n" not in text and "\r" not in text else one_line(text)


def msgpack_json(data: bytes) -> str | None:
    """Return a msgpack value as JSON; None if invalid."""
    try:
        return spelled(read_msgpack(data))
    except (ValueError, RecursionError):
        return None


def url_json(data: bytes) -> str | None:
    """Return the fields of a URL query as a JSON object; None if invalid."""
    try:
        return spelled(read_url(data))
    except ValueError:
        return None


def one_line(text: str) -> str:
    """Return JSON on one line."""
    joined = {",": ", ", ":": ": "}
    return "".join(joined.get(token, token) for token in TOKEN.findall(text))


def spelled(value: Any) -> str:
    """Return a msgpack value, or bytes, as JSON. Field names become strings: 1 is "1". NaN and the infinities become
    strings. Raises RecursionError."""
    return dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_name(key): _plain(field) for key, field in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "code"):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": b64encode(value).decode()}
    if isinstance(value, str):
        return value if value.isascii() else _plain(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if hasattr(value, "code"):  # msgpack's type for extensions
        return {"extension": value.code, "base64": b64encode(value.data).decode()}
    return value


def _name(key: Any) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else dumps(plain, ensure_ascii=False)
