"""Encoded headers at a record's end: order, repetitions and nulls are kept."""

from __future__ import annotations

from kcli.proto.varint import encode_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.columns import Headers


def encode_headers(headers: Headers) -> bytes:
    """Return the count and the headers as they end a record."""
    parts = [encode_varint(len(headers))]
    for name, content in headers:
        named = name.encode("utf-8", "surrogateescape")
        parts += (encode_varint(len(named)), named)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)
    return b"".join(parts)
