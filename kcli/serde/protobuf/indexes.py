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
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class MessageReader(Protocol):
        """A reader of one message, which counts the fields that its schema does not have."""

        @property
        def unknown(self) -> int: ...

        def json(self, data: bytes) -> bytes: ...


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


# Payloads without message indexes, as KafkaJS's serializer writes them behind Confluent's frame.
#
# Nothing says which message such a payload is. It is believed where one message of the schema's file, and no other,
# reads it to its last byte without an unknown field; between two nothing is guessed. A payload that is read with
# indexes is what they say: up to three of them begin with a byte below 8, which no field does.


class UnindexedReader(PayloadReader):
    """`readers` are of the messages of a schema's file, by their names."""

    def __init__(self, readers: Mapping[str, MessageReader]) -> None:
        self._readers = readers

    def json(self, data: bytes) -> bytes:
        """The payload's JSON. Raises Unreadable, without a reason where no message reads it."""
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
        """The JSON of a payload by the names of the messages that read it."""
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
