"""Which Protobuf message each payload is that was read: mostly told by its first byte."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.proto.buffer import Buffer
    from kcli.serde.schemas.readers import Reader

NUMBER = 10
"""Bytes of AWS Glue's number of a message; readers of one message need none."""
SHORT = (2, 4, 6)
"""First bytes of payloads with one, two or three message indexes; no field begins so."""


class Messages:
    """The full names of the messages that the payloads of one reader are."""

    def __init__(self, reader: Reader) -> None:
        self.reader: Any = reader
        self._indexed = hasattr(reader, "numbered")
        self._short = getattr(reader, "core", None) is not None
        self._first = ""
        self._by_front: dict[bytes, str] = {}

    def name(self, data: Buffer, start: int, stop: int) -> str:
        """The message of the payload at data[start:stop], which the reader has read before."""
        if self._indexed and start < stop:
            first = data[start]
            if not first:  # most payloads are the first message of their file
                if not self._first:
                    self._first = str(self.reader.message_name(b"\0"))
                return self._first
            if first in SHORT:
                front = bytes(data[start : min(start + 1 + (first >> 1), stop)])
                name = self._by_front.get(front)
                if name is None:
                    name = self._by_front[front] = str(self.reader.message_name(front))
                if name:
                    return name
        elif self._short:
            stop = min(start + NUMBER, stop)
        return str(self.reader.message_name(bytes(data[start:stop])))
