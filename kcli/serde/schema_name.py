"""The full name of a schema, which the strategies `record` and `topic-record` use in subjects."""

from __future__ import annotations

import json

from kcli.schemas import AVRO, PROTOBUF, SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.schemas import Schema
    from kcli.serde.schemas.readers import References


def schema_name(schema: Schema, referred: References, message: str = "") -> str:
    """Return the name as in Confluent's serializers: of an Avro record, enum or fixed with its namespace, of a Protobuf
    `message` ("" is the first) with its package, or the title of a JSON schema. "" if there is none. Raises
    SchemaRefused."""
    texts = [text for _, text in referred]
    if schema.kind == AVRO:
        from kcli.serde.avro.parse import parse
        from kcli.serde.avro.types import Named

        parsed = parse(schema.text, texts)
        return parsed.name if isinstance(parsed, Named) else ""
    if schema.kind == PROTOBUF:
        from kcli.serde.protobuf.reader import parsed_schema

        return parsed_schema(schema.text, tuple(texts)).message(message).name
    return _title(schema)


def schema_names(schema: Schema, referred: References) -> list[str]:
    """Return the names that the schema's subjects may have: its name; for Protobuf those of all messages of its file,
    the first one first. Raises SchemaRefused."""
    if schema.kind != PROTOBUF:
        name = schema_name(schema, referred)
        return [name] if name else []
    from kcli.serde.protobuf.reader import all_messages, parsed_schema

    messages = parsed_schema(schema.text, tuple(text for _, text in referred)).messages
    return [message.name for message in all_messages(messages) if not message.entry]


def _title(schema: Schema) -> str:
    """Return the title of a JSON schema."""
    try:
        document = json.loads(schema.text)
    except (ValueError, RecursionError):
        raise SchemaRefused("the JSON schema is not JSON") from None
    title = document.get("title") if isinstance(document, dict) else None
    return title if isinstance(title, str) else ""
