"""Payloads without message indexes, as KafkaJS's serializer writes them behind Confluent's frame.

Nothing says which message such a payload is. It is believed where one message of the schema's file, and no other, reads
it to its last byte without an unknown field; between two nothing is guessed. A payload that is read with indexes
is what they say: up to three of them begin with a byte below 8, which no field does.
"""

from __future__ import annotations

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
