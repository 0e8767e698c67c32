"""A sandbox with a registry, and records that confluent-kafka's serializers write."""

from __future__ import annotations

import json
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext


class Registry:
    """Registers schemas, and writes values by them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = SchemaRegistryClient({"url": url})

    def register(self, subject: str, schema: Any, kind: str = "AVRO") -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        return int(self.client.register_schema(subject, Schema(text, kind)))

    def latest(self, subject: str) -> tuple[int, Any]:
        """The id and the document of the latest version."""
        found = self.client.get_latest_version(subject)
        assert found.schema_id is not None
        assert found.schema.schema_str is not None
        return found.schema_id, json.loads(found.schema.schema_str)

    def avro(self, topic: str, schema: Any, *values: Any, field: MessageField = MessageField.VALUE) -> list[bytes]:
        """Frames of values; the schema is registered for the values of the topic, or its keys."""
        write = AvroSerializer(self.client, json.dumps(schema))
        context = SerializationContext(topic, field)
        return [write(value, context) for value in values]

    def protobuf(self, topic: str, value: Any) -> bytes:
        """The frame of a message."""
        write = ProtobufSerializer(type(value), self.client, {"use.deprecated.format": False})
        return write(value, SerializationContext(topic, MessageField.VALUE)) or b""

    def json(self, topic: str, schema: Any, value: Any) -> bytes:
        """The frame of an object."""
        write = JSONSerializer(json.dumps(schema), self.client)
        return write(value, SerializationContext(topic, MessageField.VALUE)) or b""
