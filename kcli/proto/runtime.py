"""Functions for the generated codecs: varints, tagged fields, and errors for invalid bytes.

Nothing is allocated before its length was checked against the available bytes.
"""

from __future__ import annotations

import struct

from kcli.errors import DecodeError, EncodeError, TooOld
from kcli.proto.varint import encode_unsigned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def uvarint(b: Any, i: int) -> tuple[int, int]:
    """Return an unsigned varint at `i`, at most five bytes, and its end."""
    n = b[i]
    return (n, i + 1) if n < 128 else more(b, i + 1, n)


def more(b: Any, i: int, first: int) -> tuple[int, int]:
    """Return the rest of an unsigned varint whose first byte was `first`."""
    value = first & 127
    for shift in (7, 14, 21, 28):
        byte = b[i]
        i += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, i
    raise DecodeError("a varint is longer than five bytes")


_pack_h, _pack_i = struct.Struct(">h").pack, struct.Struct(">i").pack


def _compact(n: int) -> bytes:
    return encode_unsigned(n + 1)


def _write_tags(tags: list[tuple[int, bytes]], out: Callable[[bytes], None]) -> None:
    out(encode_unsigned(len(tags)))
    for tag, data in tags:
        out(encode_unsigned(tag))
        out(encode_unsigned(len(data)))
        out(data)


def _uuids(ids: list[bytes]) -> bytes:
    if any(len(uuid) != 16 for uuid in ids):
        raise EncodeError("a uuid has 16 bytes")
    return b"".join(ids)


def _absent(struct: str, name: str, value: object, version: int) -> None:
    raise TooOld(f"{struct}.{name} = {value!r} cannot be encoded in version {version}")


def _null(name: str) -> None:
    raise DecodeError(f"{name} is null where it may not be")


def _bad_length(name: str, n: int) -> None:
    raise DecodeError(f"{name} has the length {n}")


def _short(name: str, want: int, have: int) -> None:
    raise DecodeError(f"{name} needs {want} bytes, but only {have} are left")


def _too_many(name: str, n: int, left: int) -> None:
    raise DecodeError(f"{name} claims {n} elements with {left} bytes left")


def _tag_size(name: str, size: int) -> None:
    raise DecodeError(f"tagged field {name} does not fill its {size} bytes")


RUNTIME: dict[str, Any] = {
    "pack": struct.pack,
    "unpack_from": struct.unpack_from,
    "str16": _pack_h,
    "len32": _pack_i,
    "compact": _compact,
    "more": more,
    "uvarint": uvarint,
    "write_tags": _write_tags,
    "uuids": _uuids,
    "absent": _absent,
    "null": _null,
    "bad_length": _bad_length,
    "short": _short,
    "too_many": _too_many,
    "tag_size": _tag_size,
}
