"""A schema of each kind by its name, and Confluent's serializer of it, which is the oracle of its subject."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.json_format import ParseDict

from tests.serde.protobuf.samples import type_of

LINE = '{"id":7}'
VALUE = json.loads(LINE)
TYPES = {"topic": "TOPIC", "record": "RECORD", "topic-record": "TOPIC_RECORD", "associated": "ASSOCIATED"}
"""kcli's names of strategies, and Confluent's."""


def avro(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "shop", "fields": [{"name": "id", "type": "int"}]})


def protobuf(name: str) -> str:
    return f'syntax = "proto3"; package shop; message Before {{}} message {name} {{ int32 id = 1; }}'


def json_schema(name: str) -> str:
    return json.dumps({"title": f"shop.{name}", "type": "object", "properties": {"id": {"type": "integer"}}})


def confluent_protobuf(at: SchemaRegistryClient, name: str, conf: dict[str, Any]) -> Callable[..., bytes]:
    message = type_of(f"shop.{name}", protobuf(name))
    serializer = ProtobufSerializer(message, at, {"use.deprecated.format": False, **conf})
    return lambda value, context: serializer(ParseDict(value, message()), context)


class Kind(NamedTuple):
    """The text of a schema, and the serializer, both of the name without `shop.`; `ending` is that of a file."""

    name: str
    ending: str
    text: Callable[[str], str]
    serializer: Callable[[SchemaRegistryClient, str, dict[str, Any]], Callable[..., bytes]]

    def spec(self, place: str, name: str) -> str:
        """What --value-schema says: the second message of Protobuf is named."""
        return f"{place}#shop.{name}" if self.name == "protobuf" else place


KINDS = [
    Kind("avro", "avsc", avro, lambda at, name, conf: AvroSerializer(at, avro(name), conf=conf)),
    Kind("protobuf", "proto", protobuf, confluent_protobuf),
    Kind("json", "json", json_schema, lambda at, name, conf: JSONSerializer(json_schema(name), at, conf=conf)),
]


def by_confluent(
    url: str, kind: Kind, name: str, strategy: str, topic: str, field: str = "value", *, register: bool = False
) -> bytes:
    """What Confluent's serializer stores for VALUE by the latest version of its subject, which has to be there, or by
    the version that it registers."""
    conf = {
        "subject.name.strategy.type": TYPES[strategy],
        "auto.register.schemas": register,
        "use.latest.version": not register,
    }
    context = SerializationContext(topic, MessageField.KEY if field == "key" else MessageField.VALUE)
    with SchemaRegistryClient({"url": url}) as at:
        return kind.serializer(at, name, conf)(VALUE, context)
