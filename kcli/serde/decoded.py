"""The values that an expression sees: JSON and msgpack maps decoded, anything else as text, without errors."""

from __future__ import annotations

import re

from kcli.serde.formats import MAPS, json_of, read_any, read_msgpack, reader

_UNESCAPED = re.compile(rb'"[^"\\\x00-\x1f]*"')
"""A JSON string without escapes."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.columns import Headers


def text_of(data: bytes | None) -> str | None:
    """Return bytes as text; invalid UTF-8 becomes surrogate escapes."""
    return None if data is None else str(data, "utf-8", "surrogateescape")


def value_of(data: bytes | None) -> Any:
    """Return a value decoded from JSON or a msgpack map, else its text."""
    if data is None:
        return None
    text = str(data, "utf-8", "surrogateescape")
    try:
        return json_of(text)
    except ValueError:
        if not data or data[0] not in MAPS:
            return text
    try:
        return read_msgpack(data)
    except ValueError:
        return text


def values_as(format: str | None) -> Callable[[bytes | None], Any]:
    """Return the decoder of a format: json, msgpack, url, auto (detected); None is `value_of`. Bytes of another format
    become text. Raises ValueError for an unknown format."""
    if format is None:
        return value_of
    read = read_any if format == "auto" else reader(format)

    def seen(data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            return read(data)
        except ValueError:
            return value_of(data) if format == "auto" else text_of(data)

    return seen


def key_of(data: bytes | None) -> Any:
    """Return a key as text, so that `key == "42"` matches the key 42; objects and lists are decoded from JSON."""
    if data is not None and data[:1] in (b"{", b"["):
        return value_of(data)
    return text_of(data)


def decoded_key_of(data: bytes | None) -> Any:
    """Return a key that a schema decoded to JSON: a string without its quotes, so that `key == "ann"` matches."""
    return value_of(data) if data is not None and data[:1] == b'"' else key_of(data)


def decoded_key_bytes(data: bytes) -> bytes:
    """Return the bytes in which a pattern searches such a key: those of its text, without quotes."""
    if _UNESCAPED.fullmatch(data):
        return data[1:-1]
    text = decoded_key_of(data) if data[:1] == b'"' else None
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else data


def headers_of(headers: Headers) -> dict[str, str | None]:
    """Return names and texts; the last of several headers with one name counts."""
    return {name: text_of(value) for name, value in headers}
