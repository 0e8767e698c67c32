"""Placeholders for encrypted values, because kcli requests no keys: `{"encrypted": "KEK"}` instead of a field."""

from __future__ import annotations

import json
from math import isfinite

from kcli.schemas import AVRO, PROTOBUF
from kcli.serde.contracts.avro_fields import AvroFields
from kcli.serde.contracts.json_fields import JsonFields
from kcli.serde.contracts.protobuf_fields import EncryptedIndexed, MessageFields
from kcli.serde.contracts.rules import PAYLOAD, Rule, encrypts, rules_of
from kcli.serde.contracts.tags import Tags
from kcli.serde.protobuf.reader import IndexedReader
from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.schemas import Schema


def marked(schema: Schema, referred: Sequence[tuple[str, str]], reader: PayloadReader) -> PayloadReader:
    """Return the reader of a schema, adapted to its rules; `referred` are the schemas that it references. Fields are
    replaced by placeholders; if a rule encrypts payloads, values are not decoded."""
    rules = [rule for rule in rules_of(schema) if encrypts(rule)]
    if not rules:
        return reader
    if any(rule.type == PAYLOAD for rule in rules):
        return Sealed(rules[0])
    tags = Tags(schema, rules)
    if schema.kind == PROTOBUF:
        assert isinstance(reader, IndexedReader)
        return EncryptedIndexed(reader, MessageFields(reader.schema, tags))
    if schema.kind == AVRO:
        return EncryptedReader(reader, AvroFields(schema, [text for _, text in referred], tags))
    return EncryptedReader(reader, JsonFields(schema, referred, tags))


class Sealed(PayloadReader):
    """Decodes nothing: the values stay as stored."""

    def __init__(self, rule: Rule) -> None:
        self._reason = f"encrypted: {rule.key or rule.name}"

    def json(self, data: bytes) -> bytes:
        raise Unreadable(self._reason)


class EncryptedReader(PayloadReader):
    """Reads values of Avro or JSON; strings and bytes in fields that a rule encrypts are ciphertext, and replaced."""

    def __init__(self, reader: PayloadReader, fields: AvroFields | JsonFields) -> None:
        self._reader = reader
        self._fields = fields

    def json(self, data: bytes) -> bytes:
        try:
            value = self._fields.marked(json.loads(read_one(self._reader, data), parse_float=_float))
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        except RecursionError:
            raise Unreadable("it is nested too deeply to be marked") from None


class Wide(str):
    """A number that a double cannot represent, as text."""


def _float(text: str) -> float | Wide:
    value = float(text)
    return value if isfinite(value) else Wide(text)
