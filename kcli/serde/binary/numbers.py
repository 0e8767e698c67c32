"""Numbers and UUIDs in the form of Kafka's serializers: big-endian, of a fixed size."""

from __future__ import annotations

from struct import Struct

from kcli.proto.plain.avro_texts import double, single, uuid
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

INTEGERS = {
    f"{'' if signed else 'u'}int{bits}": (bits // 8, signed) for signed in (True, False) for bits in (8, 16, 32, 64)
}
_FLOATS = {"float": Struct(">f"), "double": Struct(">d")}
UUID = 16


def packed_number(name: str, text: str) -> bytes:
    """Return the bytes of a number or UUID given as text. Raises ValueError."""
    if name in INTEGERS:
        size, signed = INTEGERS[name]
        try:
            return int(text).to_bytes(size, "big", signed=signed)
        except OverflowError:
            raise ValueError(f"{text} does not fit {name}") from None
    if name == "uuid":
        from uuid import UUID as Uuid

        return Uuid(text).bytes
    try:
        return _FLOATS[name].pack(float(text))
    except OverflowError:
        raise ValueError(f"{text} does not fit {name}") from None


class NumberReader(PayloadReader):
    """Reads integers, `float`, `double` and `uuid`, selected by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def json(self, data: bytes) -> bytes:
        name = self._name
        size = INTEGERS[name][0] if name in INTEGERS else UUID if name == "uuid" else _FLOATS[name].size
        if len(data) != size:
            raise Unreadable(f"it has {len(data):,} bytes; {name} has {size}")
        if name in INTEGERS:
            return b"%d" % int.from_bytes(data, "big", signed=INTEGERS[name][1])
        if name == "uuid":
            return uuid(data)
        number = _FLOATS[name].unpack(data)[0]
        return double(number) if name == "double" else single(number)
