"""Confluent's message indexes: which message of its schema's file a payload is.

Zigzag varints are before the payload, a count first: `04 02 00` is the first message in the second one of the file.
A single 0 means the first message of the file; `02 00` says the same and is never written.
"""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto.faults import FAULTS, FEW_INDEXES, INDEXES
from kcli.proto.plain.protobuf_tree import Payload
from kcli.proto.protobuf_code import MOST_INDEXES
from kcli.proto.varint import encode_varint, read_varint
from kcli.serde.schemas.payloads import Unreadable


def read_indexes(data: bytes) -> tuple[tuple[int, ...], int]:
    """The indexes, and how many bytes they take. Raises Unreadable."""
    try:
        count, at = read_varint(data, 0)
        path = []
        if not 0 <= count <= MOST_INDEXES:
            raise Unreadable(FAULTS[INDEXES])
        for _ in range(count):
            index, at = read_varint(data, at)
            if index < 0:
                raise Unreadable(FAULTS[INDEXES])
            path.append(index)
    except (IndexError, DecodeError):
        raise Unreadable(FAULTS[FEW_INDEXES]) from None
    return tuple(path) or (0,), at


def read_number(data: bytes) -> int:
    """AWS Glue's number of a message. Raises Fault."""
    return Payload(data).varint(len(data))


def write_indexes(path: tuple[int, ...]) -> bytes:
    """The bytes before a payload of the message that the indexes name."""
    if path == (0,):
        return b"\0"
    return b"".join(map(encode_varint, (len(path), *path)))


def read_name(data: bytes) -> str | None:
    """The name of a message that Apicurio's serializer writes in place of indexes: its size, then field 1 with it."""
    if len(data) < 4 or data[0] > 127 or data[1] != 0x0A or data[2] != data[0] - 2 or len(data) <= data[0]:
        return None
    name = data[3 : data[0] + 1]
    return name.decode("ascii") if name.isascii() and name.replace(b".", b"_").decode().isidentifier() else None
