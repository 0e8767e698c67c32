"""Prints what `encrypted.json` beside this file holds: values as Confluent's serializers encrypt them. README.md says
how it is run. Keys are those of a KMS in the process, the registry is Confluent's mock.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from confluent_kafka.schema_registry import (
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.confluent import meta_pb2
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import (
    EncryptionExecutor,
    FieldEncryptionExecutor,
)
from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

TAGGED = {"confluent:tags": ["PII"]}
AVRO = {
    "type": "record", "name": "Guest", "namespace": "shop",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "mail", "type": "string", **TAGGED},
        {"name": "photo", "type": ["null", "bytes"], "default": None, **TAGGED},
        {"name": "names", "type": {"type": "array", "items": "string"}, **TAGGED},
        {"name": "note", "type": "string"},
    ],
}  # fmt: skip
JSON = {
    "title": "Guest", "type": "object",
    "properties": {"id": {"type": "integer"}, "mail": {"type": "string", **TAGGED}, "note": {"type": "string"}},
}  # fmt: skip
VALUE: dict[str, Any] = {"id": 7, "mail": "ann@example.org", "note": "hi"}


def guest() -> Any:
    """The class of a message with a tag, as protoc makes it of `(confluent.field_meta) = {tags: ["PII"]}`."""
    file = descriptor_pb2.FileDescriptorProto(
        name="guest.proto", package="shop", syntax="proto3", dependency=["confluent/meta.proto"]
    )
    message = file.message_type.add(name="Guest")
    kinds = descriptor_pb2.FieldDescriptorProto
    meta: Any = meta_pb2
    for number, (name, kind) in enumerate((("id", "INT32"), ("mail", "STRING"), ("note", "STRING")), 1):
        field = message.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL)
        field.type = getattr(kinds, f"TYPE_{kind}")
        if name == "mail":
            field.options.Extensions[meta.field_meta].tags.append("PII")
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Guest"))


def rules(of_fields: bool) -> RuleSet:
    given = {"encrypt.kek.name": "kek1", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key1"}
    kind = "ENCRYPT" if of_fields else "ENCRYPT_PAYLOAD"
    tags = ["PII"] if of_fields else None
    both, params = RuleMode.WRITEREAD, RuleParams(given)
    rule = Rule("pii", "", RuleKind.TRANSFORM, both, kind, tags, params, None, None, "ERROR,NONE", False)
    return RuleSet(None, [rule]) if of_fields else RuleSet(None, None, [rule])


def serializers(at: SchemaRegistryClient, options: dict[str, Any]) -> dict[str, tuple[Any, Any, Any]]:
    given = {"auto.register.schemas": False, "use.latest.version": True, **options}
    shared = {"secret": "a secret of the tests"}
    avro = {**VALUE, "photo": b"\0\1", "names": ["Ann", "Bo"]}
    plain = {"use.deprecated.format": False}
    Guest = guest()
    return {
        "AVRO": (AvroSerializer(at, None, conf=given, rule_conf=shared), AvroDeserializer(at, rule_conf=shared), avro),
        "JSON": (
            JSONSerializer(json.dumps(JSON), at, conf=given, rule_conf=shared),
            JSONDeserializer(None, schema_registry_client=at, rule_conf=shared), dict(VALUE),
        ),
        "PROTOBUF": (
            ProtobufSerializer(Guest, at, {**given, **plain}, rule_conf=shared),
            ProtobufDeserializer(Guest, plain, schema_registry_client=at, rule_conf=shared),
            json_format.ParseDict(VALUE, Guest()),
        ),
    }  # fmt: skip


def main() -> None:
    LocalKmsDriver.register()
    executors: list[Any] = [FieldEncryptionExecutor, EncryptionExecutor]
    for executor in executors:
        executor.register()
    rows = []
    for of_fields in (True, False):
        for in_header in (False, True):
            at = SchemaRegistryClient.new_client({"url": "mock://"})
            options = {"schema.id.serializer": header_schema_id_serializer} if in_header else {}
            for kind, (write, read, value) in serializers(at, options).items():
                topic = f"{kind.lower()}-guests"
                texts = {"AVRO": json.dumps(AVRO), "JSON": json.dumps(JSON)}
                text = texts.get(kind) or descriptor_text()
                at.register_schema(f"{topic}-value", Schema(text, kind, [], None, rules(of_fields)))
                headers: list[Any] = []
                context = SerializationContext(topic, MessageField.VALUE, headers)
                data = write(value, context)
                again = read(data, context)
                assert b"example.org" not in data
                assert "example.org" in str(again), (kind, data, again)
                found: Any = at.get_latest_version(f"{topic}-value")
                rows.append(
                    {
                        "form": f"{kind} {'fields' if of_fields else 'payload'} {'header' if in_header else 'prefix'}",
                        "id": found.schema_id,
                        "guid": found.guid,
                        "headers": [[name, b64encode(held).decode()] for name, held in headers],
                        "value": b64encode(data).decode(),
                        "schema": text,
                        "rule_set": found.schema.rule_set.to_dict(),
                    }
                )
    print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")


def descriptor_text() -> str:
    return b64encode(guest().DESCRIPTOR.file.serialized_pb).decode()


if __name__ == "__main__":
    main()
