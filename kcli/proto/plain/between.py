"""The bytes between two values of an open batch depend on lengths only, so it is looked up."""

from __future__ import annotations

from kcli.proto.varint import encode_varint


class Between(dict[int, tuple[bytes, bytes]]):
    """A value's length to the bytes in front of and behind the offset delta of its record, whose key is null.
    The bytes in front begin with the header count, 0, of the record before."""

    def __init__(self, timestamp: bytes, delta_size: int) -> None:
        super().__init__()
        self.timestamp = timestamp
        self.delta_size = delta_size

    def __missing__(self, length: int) -> tuple[bytes, bytes]:
        behind = b"\x01" + encode_varint(length)
        size = 1 + len(self.timestamp) + self.delta_size + len(behind) + length + 1
        made = b"\x00" + encode_varint(size) + b"\x00" + self.timestamp, behind
        self[length] = made
        return made


class Around(dict[tuple[int, int, int], tuple[bytes, bytes, bytes]]):
    """The size of the offset delta and the lengths of key and value (-1 for null) to the bytes in front of the delta,
    between delta and key, and between key and value. The first begin with the header count, 0, of the record before."""

    def __init__(self, timestamp: bytes) -> None:
        super().__init__()
        self.timestamp = timestamp

    def __missing__(self, sizes: tuple[int, int, int]) -> tuple[bytes, bytes, bytes]:
        delta_size, key, value = sizes
        middle, behind = encode_varint(key), encode_varint(value)
        lengths = delta_size + len(middle) + max(key, 0) + len(behind) + max(value, 0)
        size = 1 + len(self.timestamp) + lengths + 1
        made = b"\x00" + encode_varint(size) + b"\x00" + self.timestamp, middle, behind
        self[sizes] = made
        return made
