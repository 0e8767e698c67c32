"""Converts Protobuf payloads to JSON in plain Python: runs a program of `protobuf_code` over a payload. The twin of
`compiled/protobuf.pxi`.

A payload that is not of its message, or exceeds a limit, has a fault, and its row is unchanged.
"""

from __future__ import annotations

from kcli.errors import DecodeError
from kcli.proto import faults
from kcli.proto import protobuf_code as code
from kcli.proto.faults import Fault
from kcli.proto.plain.protobuf_show import KNOWN, Shown
from kcli.proto.plain.protobuf_tree import Payload, Program
from kcli.proto.varint import read_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Mapping, Sequence

    Find = Callable[[bytes, int], int]
    """Returns the number of the message that these bytes before a payload identify in this form; NOT_NAMED or
    UNKNOWN."""


class ProtobufReader:
    """A compiled schema: the program, its texts, and the messages that an Any can contain, by name. `front` is what
    precedes a payload, `find` returns its message. `unknown` counts the fields that the schema lacks."""

    def __init__(
        self, program: array[int], texts: Sequence[bytes], names: Mapping[bytes, int], front: int, find: Find
    ) -> None:
        self._program = Program(program, texts, names)
        self._front = front
        self._find = find
        self.unknown = 0

    def json(self, data: bytes) -> bytes:
        """Return a payload's JSON. Raises Fault."""
        if self._front == code.BARE:
            return self._read(data, 0, code.BARE)
        if self._front == code.BY_NUMBER:
            number = Payload(data)
            number.varint(len(data))
            return self._read(data, number.at, code.BY_NUMBER)
        try:
            return self._read(data, _indexes(data), code.BY_INDEXES)
        except Fault:
            size = _name(data)
            if not size or self._find(data[:size], code.BY_NAME) == code.NOT_NAMED:
                raise
        return self._read(data, size, code.BY_NAME)

    def _read(self, data: bytes, size: int, form: int) -> bytes:
        number = self._find(data[:size], form)
        if number < 0:
            raise Fault(faults.NO_MESSAGE)
        message, payload = self._program.messages[number], Payload(data[size:])
        shown = Shown(len(payload.data), self._program, KNOWN)
        shown.message(message, payload.tree(message), 0)
        self.unknown += payload.unknown
        return shown.text()


def _indexes(data: bytes) -> int:
    """Return the size of Confluent's message indexes."""
    try:
        count, at = read_varint(data, 0)
        if not 0 <= count <= code.MOST_INDEXES:
            raise Fault(faults.INDEXES)
        for _ in range(count):
            index, at = read_varint(data, at)
            if index < 0:
                raise Fault(faults.INDEXES)
    except (IndexError, DecodeError):
        raise Fault(faults.FEW_INDEXES) from None
    return at


def _name(data: bytes) -> int:
    """Return the size of a message's name as Apicurio's serializer writes it: its size, then field 1. 0 for other
    bytes."""
    if len(data) < 4 or data[0] > 127 or data[1] != 0x0A or data[2] != data[0] - 2 or len(data) <= data[0]:
        return 0
    return data[0] + 1
