"""An Avro payload being read: its bytes, and the JSON of what was read up to here."""

from __future__ import annotations

from kcli.proto import avro_code as op
from kcli.proto import faults
from kcli.proto.faults import Fault
from kcli.proto.plain.avro_texts import replaced, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence


class Payload:
    """One payload being read."""

    def __init__(self, code: array[int], texts: Sequence[bytes], data: bytes) -> None:
        self.code, self.texts, self.data = code, texts, data
        self.at = 0
        self.out: list[bytes] = []
        self.size = 0
        self.most = op.ROOM + op.RATIO * len(data)
        self.nothing = 0

    def put(self, written: bytes) -> None:
        self.size += len(written)
        if self.size > self.most:
            raise Fault(faults.LARGE)
        self.out.append(written)

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise Fault(faults.CUT)
        return self.data[start : self.at]

    def number(self, bits: int = 64) -> int:
        """A zigzag varint."""
        value = 0
        for shift in range(0, bits, 7):
            if self.at >= len(self.data):
                raise Fault(faults.CUT)
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                if value >> bits:
                    break
                return (value >> 1) ^ -(value & 1)
        raise Fault(faults.VARINT)

    def length(self) -> int:
        length = self.number()
        if length < 0:
            raise Fault(faults.NEGATIVE)
        if length > len(self.data) - self.at:
            raise Fault(faults.CUT)
        return length

    def index(self, count: int) -> int:
        index = self.number()
        if not 0 <= index < count:
            raise Fault(faults.INDEX)
        return index

    def string(self) -> None:
        data = self.take(self.length())
        try:
            self.put(text(data))
        except UnicodeDecodeError:
            self.put(text(replaced(data)))

    def empty(self) -> None:
        """A value that took no bytes: counted, because a block may claim any number of them."""
        self.nothing += 1
        if self.nothing > op.MOST_NOTHING:
            raise Fault(faults.NOTHING)
