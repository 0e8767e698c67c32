"""Writers of simple Avro types. Each appends a value to a payload, and raises BadValue."""

from __future__ import annotations

from binascii import Error as NotBase64
from binascii import a2b_base64

from kcli.proto.varint import encode_varint
from kcli.serde.avro import logical as texts
from kcli.serde.avro.exact import FLOATS, PACKED, BadValue, Written, fits_floating, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from struct import Struct

    from kcli.serde.avro.types import Logical

    Write = Callable[[object, bytearray], None]


def _null(value: object, out: bytearray) -> None:
    if value is not None:
        raise BadValue(f"{shown(value)} is not null")


def _boolean(value: object, out: bytearray) -> None:
    if type(value) is not bool:
        raise BadValue(f"{shown(value)} is not true or false")
    out.append(value)


def _whole(kind: str, bits: int) -> Write:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def write(value: object, out: bytearray) -> None:
        if type(value) is not int:
            raise BadValue(f"{shown(value)} is not {'an' if kind == 'int' else 'a'} {kind}")
        if not low <= value <= high:
            raise BadValue(f"{shown(value)} does not fit in {kind}: it is from {low} to {high}")
        out += encode_varint(value)

    return write


def _floating(kind: str, packed: Struct, *, exact: bool = True) -> Write:
    def write(value: object, out: bytearray) -> None:
        if type(value) not in (int, float, Written) and not (type(value) is str and value in FLOATS):
            raise BadValue(f"{shown(value)} is not a {kind}")
        if exact and type(value) in (int, Written) and not fits_floating(kind, value):
            raise BadValue(f"{shown(value)} does not fit in {kind}: it would be stored as another number")
        try:
            out += packed.pack(float(value))  # type: ignore[arg-type]
        except OverflowError:
            raise BadValue(f"{shown(value)} does not fit in {kind}: it would be stored as another number") from None

    return write


def _string(value: object, out: bytearray) -> None:
    if type(value) is not str:
        raise BadValue(f"{shown(value)} is not a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise BadValue("it contains an unpaired surrogate") from None
    out += encode_varint(len(data))
    out += data


SCALARS: dict[str, Write] = {
    "null": _null,
    "boolean": _boolean,
    "int": _whole("int", 32),
    "long": _whole("long", 64),
    **{kind: _floating(kind, packed) for kind, packed in PACKED.items()},
    "string": _string,
}


ROUNDED = SCALARS | {kind: _floating(kind, packed, exact=False) for kind, packed in PACKED.items()}
"""The same for defaults, which Java rounds."""


def long_bytes(kind: str, logical: Logical) -> Write:
    """Write an int or a long that is a date, a time or a timestamp: from its text, or from the number."""
    plain = SCALARS[kind]

    def write(value: object, out: bytearray) -> None:
        if type(value) is str:
            try:
                value = texts.number(value, logical.name)
            except ValueError as problem:
                raise BadValue(f"{shown(value)} {problem}") from None
        plain(value, out)

    return write


def fixed_bytes(size: int, logical: Logical | None, *, latin: bool) -> Write:
    """Write bytes (`size` -1) or a fixed: from {"base64": …} or a string, a Latin-1 string if `latin`, or the text of a
    logical type."""

    def write(value: object, out: bytearray) -> None:
        data = _data(value, size, logical, latin)
        if size < 0:
            out += encode_varint(len(data))
        elif len(data) != size:
            raise BadValue(f"it has {len(data)} bytes, not {size}")
        out += data

    return write


def _data(value: object, size: int, logical: Logical | None, latin: bool) -> bytes:
    if type(value) is dict and set(value) == {"base64"} and type(value["base64"]) is str:
        try:
            return a2b_base64(value["base64"].encode(), strict_mode=True)
        except (NotBase64, UnicodeEncodeError):
            raise BadValue(f"{shown(value['base64'])} is not base64") from None
    try:
        if logical is not None:
            return _logical(value, size, logical)
        if type(value) is str:
            return value.encode("latin-1" if latin else "utf-8")
    except UnicodeEncodeError:
        raise BadValue(f"{shown(value)} is no text of this kind") from None
    except ValueError as problem:
        raise BadValue(f"{shown(value)} {problem}") from None
    raise BadValue(f'{shown(value)} is neither {{"base64": …}} nor a text')


def _logical(value: object, size: int, logical: Logical) -> bytes:
    """Raises ValueError."""
    if logical.name == "decimal" and type(value) in (str, int, Written):
        number = texts.unscaled(value.text if isinstance(value, Written) else str(value), logical)
        length = size if size >= 0 else (number + (number < 0)).bit_length() // 8 + 1
        try:
            return number.to_bytes(length, "big", signed=True)
        except OverflowError:
            raise ValueError(f"does not fit in {size} bytes") from None
    if logical.name == "big-decimal" and type(value) in (str, int, Written):
        return texts.big_decimal(value.text if isinstance(value, Written) else str(value))
    if logical.name == "uuid" and type(value) is str:
        return texts.uuid(value)
    if logical.name == "duration" and type(value) is dict:
        return texts.duration(value)
    raise ValueError(f"is no {logical.name}")
