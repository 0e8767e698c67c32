"""Which message of its writer's schema a payload of Protobuf is, by its name's form and by what is in front of it."""

from __future__ import annotations

from kcli.pipeline.schemas.sealed import Known
from kcli.proto.faults import Fault
from kcli.proto.plain.protobuf_tree import Payload
from kcli.serde.protobuf.indexes import read_indexes, read_name
from kcli.serde.protobuf.reader import IndexedReader, ProtobufSchema, parsed_schema
from kcli.serde.protobuf.schema.types import Message, message_at
from kcli.serde.schemas.frames import APICURIO, BUF, EVENT, GLUE, JSON_FORMS, front
from kcli.serde.schemas.payloads import Unreadable

MOST_FRONT = 400  # bytes in front of a payload that say which message it is


def parsed(known: Known) -> ProtobufSchema:
    """Raises SchemaRefused."""
    return parsed_schema(known.schema.text, tuple(text for _, text in known.referred))


class BareMessage:
    """The message of payloads with nothing in front: the one that the user names, "" for the first."""

    def __init__(self, known: Known, message: str) -> None:
        """Raises SchemaRefused."""
        self._name = parsed(known).message(message).name

    def message(self, data: bytes) -> tuple[str, int]:
        """Its full name, and no bytes in front of it."""
        return self._name, 0

    def unindexed(self, data: bytes, *, chosen: bool) -> str:
        """Payloads have no indexes anyway."""
        return ""


class Fronts:
    """The messages of payloads behind one name. `wanted` is the full name of the reader's message."""

    def __init__(self, known: Known, name: bytes, wanted: str) -> None:
        """Raises SchemaRefused."""
        self._schema = parsed(known)
        self._form, self._rest = name[0], name[front(name) :]
        self._wanted = wanted
        self._indexed: IndexedReader | None = None

    def message(self, data: bytes) -> tuple[str, int]:
        """The full name of the message, and how many bytes are in front of it. Raises Unreadable, SchemaRefused."""
        if self._form in JSON_FORMS:  # written anew as the reader's message
            return self._wanted, 0
        if self._form == GLUE:
            return self._numbered(data)
        if self._form in (BUF, EVENT) or (self._form in APICURIO and self._rest):
            return self._schema.message(self._rest.decode(errors="replace")).name, 0
        name = None if self._rest else read_name(data)
        if name is not None:
            return self._schema.message(name).name, data[0] + 1
        path, size = read_indexes(self._rest or data)
        found: Message | None = message_at(self._schema.messages, path)
        if found is None:
            raise Unreadable(f"its schema has no message with the indexes {', '.join(map(str, path))}")
        return found.name, 0 if self._rest else size

    def _numbered(self, data: bytes) -> tuple[str, int]:
        """By AWS Glue's number of the message."""
        payload, ordered = Payload(data), self._schema.ordered()
        try:
            number = payload.varint(len(data))
        except Fault as fault:
            raise Unreadable(str(fault)) from None
        if number >= len(ordered):
            raise Unreadable(f"its schema has no message with the number {number}")
        return ordered[number].name, payload.at

    def unindexed(self, data: bytes, *, chosen: bool) -> str:
        """The full name of the only message that a payload without indexes can be, as KafkaJS writes it; "" for none.
        Where the reader's message is `chosen` by the user, it goes before others. Raises Unreadable for several."""
        if self._form in (GLUE, BUF, EVENT, *JSON_FORMS) or self._rest or (data and data[0] < 8):
            return ""
        if self._indexed is None:
            self._indexed = IndexedReader(self._schema)
        try:
            self._indexed.json(data)
            return ""  # it is what its indexes say
        except Unreadable:
            pass
        names = list(self._indexed.unindexed.fits(data))
        if chosen and self._wanted in names:
            return self._wanted
        if len(names) > 1:
            raise Unreadable(
                f"it has no message indexes, and {' and '.join(names[:3])} read it; #MESSAGE behind the reader's "
                "schema says which message it is"
            )
        return next(iter(names), "")
