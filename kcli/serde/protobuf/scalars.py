"""Encodes JSON scalars for Protobuf: whole numbers also from strings, bytes from base64. Raises BadValue for others."""

from __future__ import annotations

import math
from base64 import b64decode, urlsafe_b64decode
from binascii import Error as Base64Error
from decimal import Decimal
from struct import error as StructError

from kcli.proto import protobuf_code as code
from kcli.proto.plain.protobuf_tree import FIXED
from kcli.proto.varint import encode_unsigned, encode_varint
from kcli.serde.avro.exact import BadValue, Written, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Encode = Callable[[object], bytes]

_WORDS = {number: word for word, number in code.KINDS.items()}
_BITS = {
    **dict.fromkeys((code.INT32, code.SINT32, code.SFIXED32), (-(1 << 31), (1 << 31) - 1)),
    **dict.fromkeys((code.INT64, code.SINT64, code.SFIXED64), (-(1 << 63), (1 << 63) - 1)),
    **dict.fromkeys((code.UINT32, code.FIXED32), (0, (1 << 32) - 1)),
    **dict.fromkeys((code.UINT64, code.FIXED64), (0, (1 << 64) - 1)),
}
"""The range of each kind."""
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LONGEST = 400  # characters of a number: no valid number is longer


def is_zero(data: bytes) -> bool:
    """Whether an encoded scalar is 0 or empty: fields without presence omit it."""
    return not any(data)


def _whole(kind: int) -> Encode:
    least, most = _BITS[kind]
    word = _WORDS[kind]

    def encode(value: object) -> bytes:
        number = _integer(value)
        if number is None or not least <= number <= most:
            raise BadValue(f"{shown(value)} is not {'an' if word[0] in 'iu' else 'a'} {word}")
        if kind in FIXED:
            return FIXED[kind].pack(number)
        if kind in (code.SINT32, code.SINT64):
            return encode_varint(number)
        return encode_unsigned(number & code.MASK)

    return encode


def _integer(value: object) -> int | None:
    """Return a whole number: 7, "7", 7.0 and 7e2 are accepted; None for others."""
    if type(value) is int:
        return value
    if isinstance(value, Written):
        value = value.text
    if type(value) is not str or len(value) > _LONGEST or not value.isascii() or value != value.strip():
        return None
    try:
        if not math.isfinite(near := float(value)) or abs(near) > 1 << 65 or "_" in value:
            return None
        number = Decimal(value)
        return int(number) if near == 0 or number == number.to_integral_value() else None
    except ArithmeticError:
        return None
    except ValueError:
        return None


def _float(kind: int) -> Encode:
    word = _WORDS[kind]

    def encode(value: object) -> bytes:
        number = _FLOATS.get(value) if isinstance(value, str) else None
        if number is None and not isinstance(value, bool) and isinstance(value, int | float | str):
            try:
                number = float(value)
            except (ValueError, OverflowError):
                number = None
            if number is None or not math.isfinite(number) or (isinstance(value, str) and not value.strip() == value):
                raise BadValue(f"{shown(value)} is not a {word}")
        if number is None:
            raise BadValue(f"{shown(value)} is not a {word}")
        try:
            return FIXED[kind].pack(number)
        except (OverflowError, StructError):
            raise BadValue(f"{shown(value)} is not a {word}") from None

    return encode


def _bool(value: object) -> bytes:
    if not isinstance(value, bool):
        raise BadValue(f"{shown(value)} is not a bool")
    return b"\1" if value else b"\0"


def _string(value: object) -> bytes:
    if type(value) is not str:
        raise BadValue(f"{shown(value)} is not a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise BadValue("it contains an unpaired surrogate, which UTF-8 cannot encode") from None
    return encode_unsigned(len(data)) + data


def _bytes(value: object) -> bytes:
    """Decode base64 in either alphabet, with or without padding."""
    if type(value) is not str:
        raise BadValue(f"{shown(value)} is not bytes: write base64")
    text = value.rstrip("=")
    text += "=" * (-len(text) % 4)
    try:
        if "-" in text or "_" in text:
            data = urlsafe_b64decode(text) if "+" not in text and "/" not in text else None
        else:
            data = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        data = None
    if data is None:
        raise BadValue(f"{shown(value)} is not base64")
    return encode_unsigned(len(data)) + data


ENCODE: dict[int, Encode] = {
    **{kind: _whole(kind) for kind in _BITS},
    code.DOUBLE: _float(code.DOUBLE),
    code.FLOAT: _float(code.FLOAT),
    code.BOOL: _bool,
    code.STRING: _string,
    code.BYTES: _bytes,
}


def key_of(kind: int, name: str) -> bytes:
    """Encode a map key, which is a string in JSON. Raises BadValue."""
    if kind == code.BOOL:
        if name not in ("true", "false"):
            raise BadValue(f"{shown(name)} is neither true nor false")
        return _bool(name == "true")
    return ENCODE[kind](name)
