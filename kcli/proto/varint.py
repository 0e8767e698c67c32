"""Varints: unsigned ones, and the zigzag ones of records: at most 5 bytes for 32 bits, 10 for 64. `runtime.py` has
those of messages."""

from __future__ import annotations

from kcli.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer


_ONE_BYTE = [bytes((value,)) for value in range(128)]


def encode_unsigned(value: int) -> bytes:
    """Encode `value`, 0 or more, as an unsigned varint: 7 bits per byte, low bits first."""
    if value < 128:
        return _ONE_BYTE[value]
    if value < 16384:  # most lengths need no loop
        return bytes((value & 127 | 128, value >> 7))
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encode_varint(value: int) -> bytes:
    """Encode `value` as a zigzag varint."""
    left = value << 1 if value >= 0 else ~(value << 1)
    return _ONE_BYTE[left] if left < 128 else encode_unsigned(left)


def varint_size(value: int) -> int:
    """Return the size of `encode_varint`'s result in bytes."""
    left = value << 1 if value >= 0 else ~(value << 1)
    return 1 if left < 128 else (left.bit_length() + 6) // 7


def read_more(data: Buffer, at: int, first: int, bits: int) -> tuple[int, int]:
    """Finish an unsigned varint whose first byte, above 127, was already read; return (value, start of the next field).
    Raises DecodeError if it does not fit in `bits`, IndexError at the end of `data`."""
    value = first & 127
    for shift in range(7, bits, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> bits:
                break
            return value, at
    raise DecodeError(f"a varint does not fit in {bits} bits")


def read_varint(data: Buffer, at: int, bits: int = 32) -> tuple[int, int]:
    """Return (value, start of the next field) for a zigzag varint at `at`. Raises like `read_more`."""
    value = data[at]
    at += 1
    if value > 127:
        value, at = read_more(data, at, value, bits)
    return (value >> 1) ^ -(value & 1), at
