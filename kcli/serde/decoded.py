"""What an expression sees of a record's bytes: JSON where it is JSON, else text; never an error."""

from __future__ import annotations

from json import JSONDecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.proto.columns import Headers


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_read = JSONDecoder(parse_constant=_no_constant).raw_decode


def text_of(data: bytes | None) -> str | None:
    """Bytes as text; those that are not UTF-8 are kept as surrogate escapes."""
    return None if data is None else str(data, "utf-8", "surrogateescape")


def value_of(data: bytes | None) -> Any:
    """A value: what its JSON says, or its text."""
    if data is None:
        return None
    text = str(data, "utf-8", "surrogateescape")
    try:
        found, end = _read(text)  # most JSON has no space around it
        return found if end == len(text) else _trimmed(text)
    except (ValueError, RecursionError):
        return _trimmed(text) if text[:1] in " \t\r\n" else text


def _trimmed(text: str) -> Any:
    trimmed = text.strip(" \t\r\n")
    try:
        found, end = _read(trimmed)
    except (ValueError, RecursionError):
        return text
    return found if end == len(trimmed) else text


def key_of(data: bytes | None) -> Any:
    """A key: its text, so that `key == "42"` holds for the key 42; JSON where it is an object or a list."""
    if data is not None and data[:1] in (b"{", b"["):
        return value_of(data)
    return text_of(data)


def headers_of(headers: Headers) -> dict[str, str | None]:
    """Name to text; the last of several with one name, which is the one that counts."""
    return {name: text_of(value) for name, value in headers}
