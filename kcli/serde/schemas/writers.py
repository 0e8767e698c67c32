"""Creates encoders for a registry's schemas, by type, from JSON to payloads; and tells whether two texts are the same
schema."""

from __future__ import annotations

import json

from kcli.errors import UsageError
from kcli.schemas import AVRO, JSON, PROTOBUF
from kcli.serde.avro.exact import BadValue, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.protobuf.reader import ProtobufSchema
    from kcli.serde.schemas.labels import Label
    from kcli.serde.schemas.readers import References

    Write = Callable[[str], bytes]
    """Returns the payload of a JSON text, after what a frame has before it. Raises ValueError."""


HEADERS = {"key": "__key_schema_id", "value": "__value_schema_id"}
"""Confluent's headers with the schema of a bare key or value."""


def writer_of(
    schema: Schema,
    referred: References,
    *,
    message: str = "",
    framed: bool = True,
    numbered: bool = False,
    conditions: Sequence[Rule] = (),
    specified: bool = False,
) -> Write:
    """Return the encoder of a schema; `message` names a Protobuf message, whose indexes precede a `framed` payload, or
    its number (AWS Glue) a `numbered` one. `specified`: Avro values are in the specification's JSON. Values rejected by
    `conditions` raise BadValue. Raises SchemaRefused and UsageError."""
    front = b""
    if schema.kind == PROTOBUF:
        bare = _protobuf(schema, referred, message)
        if numbered or framed:
            front = (message_number if numbered else message_indexes)(schema, referred, message)
    else:
        bare = _json(schema, referred, conditions) if schema.kind == JSON else _avro(schema, referred, specified)
    if conditions and schema.kind != JSON:
        bare = checked(bare, schema, referred, message, conditions)
    return (lambda text: front + bare(text)) if front else bare


def checked(write: Write, schema: Schema, referred: References, message: str, conditions: Sequence[Rule]) -> Write:
    """Return the encoder of bare payloads with rules applied to the written values. Raises SchemaRefused and
    UsageError."""
    from kcli.serde.contracts.rules import check_cel

    check_cel(schema, conditions)
    from kcli.serde.rules.cel import rules_run

    run = rules_run(schema, conditions, referred, message)
    return lambda text: run(write(text))


class RecordWriter:
    """Encodes keys or values in the form described by a label. Raises SchemaRefused, and UsageError for a frame that
    cannot be written."""

    def __init__(self, label: Label, *, conditions: Sequence[Rule] = (), specified: bool = False) -> None:
        """Values rejected by `conditions` raise BadValue; `specified` is as in `writer_of`."""
        schema, frame = label.schema, label.frame or b""
        if frame[:2] == b"\3\5":
            raise UsageError("kcli cannot write AWS Glue frames for compressed payloads")
        self._frame = label.frame
        self._id, self._guid = label.schema.id, label.schema.guid.replace("-", "").lower()
        referred = list(label.referred)
        self._front = b""
        self._write: Write = writer_of(
            schema, referred, message=label.message, framed=False, conditions=conditions, specified=specified
        )
        if schema.kind == PROTOBUF and (label.frame is None or frame[:1] in b"\0\1"):
            self._front = message_indexes(schema, referred, label.message)
        elif schema.kind == PROTOBUF and frame[:1] == b"\3":
            self._front = message_number(schema, referred, label.message)

    def write(self, text: str, header: bytes | None) -> bytes:
        """Return the stored form of a JSON text, in a record with this content of the header that may name the schema.
        Raises ValueError."""
        payload = self._write(text)
        if self._frame is not None:
            return self._frame + (self._front if self._frame else b"") + payload
        if header is not None and len(header) >= {0: 5, 1: 17}.get(next(iter(header), -1), len(header) + 1):
            guid = self._guid if header[0] else ""
            if (guid and header[1:17].hex() != guid) or (not header[0] and header[1:5] != self._id.to_bytes(4, "big")):
                raise ValueError("its header refers to another schema than the given one")
            return payload
        return b"\0" + self._id.to_bytes(4, "big") + self._front + payload


def message_indexes(schema: Schema, referred: References, message: str) -> bytes:
    """Confluent's indexes of a message. Raises SchemaRefused and UsageError."""
    from kcli.serde.protobuf.indexes import write_indexes
    from kcli.serde.protobuf.reader import parsed_schema

    read = parsed_schema(schema.text, tuple(texts(referred)))
    return write_indexes(read.path(read.message(message)))


def message_number(schema: Schema, referred: References, message: str) -> bytes:
    """AWS Glue's number of a message. Raises SchemaRefused and UsageError."""
    from kcli.proto.varint import encode_unsigned
    from kcli.serde.protobuf.reader import parsed_schema

    read = parsed_schema(schema.text, tuple(texts(referred)))
    return encode_unsigned(read.number(read.message(message)))


def same(left: Schema, right: Schema, needed: References, own_needed: References) -> bool:
    """Whether two texts are one schema to readers. `needed` are the schemas that `left` refers to, `own_needed`
    those of `right`. Raises SchemaRefused."""
    if left.kind != right.kind:
        return False
    if left.kind == JSON:
        return bool(json.loads(left.text) == json.loads(right.text))
    if left.kind == PROTOBUF:
        from kcli.serde.protobuf.reader import parsed_schema

        return parsed_schema(left.text, tuple(texts(needed))).same(parsed_schema(right.text, tuple(texts(own_needed))))
    from kcli.serde.avro.canonical import canonical
    from kcli.serde.avro.parse import parse

    return canonical(parse(left.text, texts(needed))) == canonical(parse(right.text, texts(own_needed)))


def texts(referred: References) -> list[str]:
    return [text for _, text in referred]


def _avro(schema: Schema, referred: References, specified: bool) -> Write:
    from kcli.serde.avro.parse import parse
    from kcli.serde.avro.write import AvroWriter

    assert schema.kind == AVRO
    parsed = parse(schema.text, texts(referred))
    writer = AvroWriter(parsed, specified=specified)
    of_text = parsed.kind == "string"

    def write(text: str) -> bytes:
        try:
            value = read_json(text)
        except ValueError as problem:
            if not of_text:
                raise ValueError(f"is not JSON: {problem}") from None
            value = text
        if of_text and not isinstance(value, str):
            value = text  # a key such as 42 is a text here
        return writer.write(value)

    return write


def _protobuf(schema: Schema, referred: References, message: str) -> Write:
    from kcli.serde.protobuf.reader import parsed_schema

    read: ProtobufSchema = parsed_schema(schema.text, tuple(texts(referred)))
    writer = read.writer(read.message(message))

    def write(text: str) -> bytes:
        return writer.write(_value(text))

    return write


def _json(schema: Schema, referred: References, rules: Sequence[Rule]) -> Write:
    """What rules make of a value is held against the schema, as with Confluent's serializers."""
    from kcli.serde.json_schema.validate import JsonValidator

    validator = JsonValidator(schema.text, referred)

    def read(text: str) -> bytes:
        _value(text)
        return text.encode()

    run = checked(read, schema, referred, "", rules) if rules else read

    def write(text: str) -> bytes:
        payload = run(text)
        problem = validator.problem(json.loads(payload), payload)
        if problem is not None:
            raise BadValue(problem)
        return payload

    return write


def _value(text: str) -> object:
    try:
        return read_json(text)
    except ValueError as problem:
        raise ValueError(f"is not JSON: {problem}") from None
