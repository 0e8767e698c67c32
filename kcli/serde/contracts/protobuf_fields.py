"""Replaces encrypted strings and bytes in Protobuf values by placeholders. Tags are the options
`(confluent.field_meta).tags` of fields."""

from __future__ import annotations

import json

from kcli.proto import protobuf_code as code
from kcli.serde.contracts.tags import sealed
from kcli.serde.protobuf.schema.types import Message
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.serde.contracts.rules import Rule
    from kcli.serde.contracts.tags import Tags
    from kcli.serde.protobuf.reader import IndexedReader, ProtobufReader, ProtobufSchema
    from kcli.serde.protobuf.schema.types import Field

_OWN_JSON = "google.protobuf."
"""Messages whose JSON is not an object with their fields."""


class MessageFields:
    """The messages of a schema whose fields are encrypted by rules."""

    def __init__(self, schema: ProtobufSchema, tags: Tags) -> None:
        self._schema = schema
        self._tags = tags

    def marked(self, text: bytes, name: str) -> bytes:
        """Return the JSON of a message with encrypted parts replaced."""
        value = json.loads(text)
        self._message(self._schema.message(name), value)
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def _message(self, message: Message, value: Any) -> None:
        if not isinstance(value, dict) or message.name.startswith(_OWN_JSON):
            return
        for field in message.fields.values():
            for name in {field.name, field.json_name} & value.keys():
                rule = self._tags.rule(f"{message.name}.{field.name}", field.tags)
                value[name] = self._field(field, value[name], rule)

    def _field(self, field: Field, value: Any, rule: Rule | None) -> Any:
        if field.entry is not None and isinstance(value, dict):
            return {key: self._one(field.entry.fields[2], item, rule) for key, item in value.items()}
        if field.repeated and isinstance(value, list):
            return [self._one(field, item, rule) for item in value]
        return self._one(field, value, rule)

    def _one(self, field: Field, value: Any, rule: Rule | None) -> Any:
        if isinstance(field.type, Message):
            self._message(field.type, value)
        elif rule is not None and field.kind in (code.STRING, code.BYTES):
            return sealed(rule)
        return value


class EncryptedMessages(PayloadReader):
    """Reads payloads of one message, or after the indexes that an IndexedReader reads, and replaces encrypted
    fields."""

    def __init__(self, reader: ProtobufReader, fields: MessageFields) -> None:
        self._reader = reader
        self._fields = fields

    @property
    def unknown(self) -> int:
        return self._reader.unknown

    def json(self, data: bytes) -> bytes:
        try:
            return self._fields.marked(self._reader.json(data), self._reader.message_name(data))
        except Unreadable:
            fitting = getattr(self._reader, "unindexed", None)  # KafkaJS writes no message indexes
            found = {} if fitting is None or (data and data[0] < 8) else fitting.fits(data)
            if len(found) != 1:
                raise
        ((name, text),) = found.items()
        return self._fields.marked(text, name)

    def message_name(self, data: bytes) -> str:
        return self._reader.message_name(data)


class EncryptedIndexed(EncryptedMessages):
    """The reader of a schema, with a reader for each of its messages."""

    def __init__(self, reader: IndexedReader, fields: MessageFields) -> None:
        super().__init__(reader, fields)
        self._messages = reader

    def numbered(self) -> PayloadReader:
        return EncryptedMessages(self._messages.numbered(), self._fields)

    def named(self, indexes: bytes) -> PayloadReader:
        return EncryptedMessages(self._messages.named(indexes), self._fields)

    def message(self, name: str) -> PayloadReader:
        return EncryptedMessages(self._messages.message(name), self._fields)
