"""What an expression sees of a record's bytes: JSON and msgpack maps for what they are, else text; never an error."""

from __future__ import annotations

import re

from kcli.serde.formats import MAPS, json_of, read_any, read_msgpack, reader

_UNESCAPED = re.compile(rb'"[^"\\\x00-\x1f]*"')
"""A JSON text that is between its quotes as it is written."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.proto.columns import Headers


def text_of(data: bytes | None) -> str | None:
    """Bytes as text; those that are not UTF-8 are kept as surrogate escapes."""
    return None if data is None else str(data, "utf-8", "surrogateescape")


def value_of(data: bytes | None) -> Any:
    """A value: what its JSON or its msgpack map says, or its text."""
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
    """How values of a format are seen: json, msgpack, url, auto (whichever their bytes show); None is `value_of`.
    What is not of the format is text. Raises ValueError for a format that there is not."""
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
    """A key: its text, so that `key == "42"` holds for the key 42; JSON where it is an object or a list."""
    if data is not None and data[:1] in (b"{", b"["):
        return value_of(data)
    return text_of(data)


def decoded_key_of(data: bytes | None) -> Any:
    """A key that a schema decoded to JSON: a text without its quotes, so that `key == "ann"` holds."""
    return value_of(data) if data is not None and data[:1] == b'"' else key_of(data)


def decoded_key_bytes(data: bytes) -> bytes:
    """The bytes of such a key that a pattern is looked for in: those of its text, without the quotes."""
    if _UNESCAPED.fullmatch(data):
        return data[1:-1]
    text = decoded_key_of(data) if data[:1] == b'"' else None
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else data


def headers_of(headers: Headers) -> dict[str, str | None]:
    """Name to text; the last of several with one name, which is the one that counts."""
    return {name: text_of(value) for name, value in headers}
