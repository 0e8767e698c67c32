"""Confluent's message indexes, which identify a payload's message in the schema's file.

Zigzag varints before the payload, with a count first: `04 02 00` is the first message nested in the second one of the
file. A single 0 means the first message of the file; `02 00` means the same and is never written.
"""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto.faults import FAULTS, FEW_INDEXES, INDEXES
from kcli.proto.plain.protobuf_tree import Payload
from kcli.proto.protobuf_code import MOST_INDEXES
from kcli.proto.varint import encode_varint, read_varint
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class MessageReader(Protocol):
        """A reader of one message, which counts unknown fields."""

        @property
        def unknown(self) -> int: ...

        def json(self, data: bytes) -> bytes: ...


def read_indexes(data: bytes) -> tuple[tuple[int, ...], int]:
    """Return the indexes and their size in bytes. Raises Unreadable."""
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
    """Return AWS Glue's number of a message. Raises Fault."""
    return Payload(data).varint(len(data))


def write_indexes(path: tuple[int, ...]) -> bytes:
    """Return the indexes of a message, to be written before its payload."""
    if path == (0,):
        return b"\0"
    return b"".join(map(encode_varint, (len(path), *path)))


def read_name(data: bytes) -> str | None:
    """Return the message name that Apicurio's serializer writes instead of indexes: its size, then field 1."""
    if len(data) < 4 or data[0] > 127 or data[1] != 0x0A or data[2] != data[0] - 2 or len(data) <= data[0]:
        return None
    name = data[3 : data[0] + 1]
    return name.decode("ascii") if name.isascii() and name.replace(b".", b"_").decode().isidentifier() else None


# Payloads without message indexes, as KafkaJS's serializer writes them after Confluent's frame.
#
# Nothing identifies the message. It is accepted if exactly one message of the schema's file reads the payload to its
# last byte without an unknown field; otherwise there is no guess. A payload that can be read with indexes is read with
# them: up to three indexes begin with a byte below 8, which no field does.


class UnindexedReader(PayloadReader):
    """`readers` are those of the messages in a schema's file, by name."""

    def __init__(self, readers: Mapping[str, MessageReader]) -> None:
        self._readers = readers

    def json(self, data: bytes) -> bytes:
        """Return the payload's JSON. Raises Unreadable, without a reason if no message reads it."""
        readings = self.fits(data)
        if len(readings) > 1:
            raise Unreadable(
                f"it has no message indexes, and {' and '.join(list(readings)[:3])} read it; "
                "#MESSAGE behind the schema says which message it is"
            )
        for shown in readings.values():
            return shown
        raise Unreadable

    def fits(self, data: bytes) -> dict[str, bytes]:
        """Return the payload's JSON by the names of the messages that can read it."""
        readings = {}
        for name, reader in self._readers.items():
            unknown = reader.unknown
            try:
                shown = reader.json(data)
            except Unreadable:
                continue
            if reader.unknown == unknown:
                readings[name] = shown
        return readings
