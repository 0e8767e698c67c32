"""Protobuf and JSON Schema of Confluent's serializers under registries of others, read by `kcli consume`."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.json_format import ParseDict

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.oracles import Oracle
from tests.serde.protobuf.samples import ORDER, type_of

SHOWN: dict[str, Any] = {
    "order_id": str(2**60), "who": "Zoë", "state": "PAID", "maybe": 0, "person": {"full_name": "Ann"},
    "packed": [1, -2], "counts": {"a": 1},
    "whom": {"friends": [{"full_name": "Bob"}]}, "at": "2026-11-24T01:02:03.004Z",
    "raw": "AAE=", "data": {"x": [1.0, None, "y"]}, "wide": "7", "half": 0.1,
}  # fmt: skip
OPTIONS = {"use.deprecated.format": False}


@pytest.fixture
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={}) as sandbox:
        yield Shell(sandbox.bootstrap)


@pytest.fixture
def theirs(oracle: Oracle) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": oracle.url}) as client:
        yield client


def message(name: str = "shop.Order", shown: dict[str, Any] = SHOWN, *files: str) -> Any:
    return ParseDict(shown, type_of(name, *files or (ORDER,))())


def test_records_of_confluents_protobuf_serializer_are_read(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell
) -> None:
    """It registers the descriptor in base64, which Apicurio 2.6 refuses: there a text is registered."""
    topic = shell.topic()
    if oracle.name == "apicurio":
        id = theirs.register_schema(f"{topic}-value", Schema(ORDER, "PROTOBUF"))
        payload = b"\0" + id.to_bytes(4, "big") + b"\0" + message().SerializeToString()
    else:
        made = ProtobufSerializer(type_of("shop.Order", ORDER), theirs, OPTIONS)
        payload = made(message(), SerializationContext(topic, MessageField.VALUE)) or b""
    shell.ok("produce", topic, "--whole", stdin=payload)
    by = ["--schema-registry", oracle.url]
    line = shell.ok("consume", topic, "-e", *by)
    assert json.loads(line) == SHOWN
    assert shell.ok("count", topic, *by, "--where", "value.person.full_name == 'Ann'") == b"1\n"
    assert shell.ok("tail", topic, "-e", "-f", "%o %s", *by) == b"0 " + line.rstrip()
    assert json.loads(shell.ok("consume", topic, "-e", "--proto-names", "json", *by))["orderId"] == str(2**60)
    (envelope,) = shell.ok("consume", topic, "-e", "--envelope", *by).splitlines()
    assert b64decode(json.loads(envelope)["value"]["base64"]) == payload


def test_a_text_that_imports_another_and_messages_within_messages(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell
) -> None:
    topic = shell.topic()
    using = (
        'syntax = "proto3"; package use; import "0.proto"; message Ignored {} '
        "message Visit { message Inner { shop.Order order = 1; } }"
    )
    theirs.register_schema(f"{topic}.proto", Schema(ORDER, "PROTOBUF"))
    reference = SchemaReference("0.proto", f"{topic}.proto", 1)
    id = theirs.register_schema(f"{topic}-value", Schema(using, "PROTOBUF", [reference]))
    inner = message("use.Visit.Inner", {"order": SHOWN}, ORDER, using)
    frame = b"\0" + id.to_bytes(4, "big") + b"\4\2\0"
    shell.ok("produce", topic, "--whole", stdin=frame + inner.SerializeToString())
    line = shell.ok("consume", topic, "-e", "--schema-registry", oracle.url)
    assert json.loads(line) == {"order": SHOWN}
    assert shell.ok("consume", topic, "-e", "--schema-registry", oracle.url, "--value-schema", "topic") == line


def test_a_bare_payload_by_the_name_of_its_message(oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell) -> None:
    topic = shell.topic()
    theirs.register_schema(f"{topic}-value", Schema(ORDER, "PROTOBUF"))
    item = message("shop.Order.Person", {"full_name": "Ann"})
    shell.ok("produce", topic, "--whole", stdin=item.SerializeToString())
    by = ["--schema-registry", oracle.url, "--value-schema"]
    line = shell.ok("consume", topic, "-e", *by, "topic#shop.Order.Person")
    assert json.loads(line) == {"full_name": "Ann"}
    wrong = shell("consume", topic, "-e", *by, "topic#Plaice")
    assert (wrong.returncode, wrong.stdout) == (1, b"")
    assert b"it has no message Plaice" in wrong.stderr


def test_records_of_confluents_json_serializer_are_read(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell
) -> None:
    topic = shell.topic()
    schema = json.dumps({"title": "T", "type": "object", "properties": {"a": {"type": "integer"}}})
    context = SerializationContext(topic, MessageField.VALUE)
    payload = JSONSerializer(schema, theirs)({"a": 1}, context)
    shell.ok("produce", topic, "--whole", stdin=payload or b"")
    by = ["--schema-registry", oracle.url]
    assert shell.ok("consume", topic, "-e", *by, "--where", "value.a == 1") == b'{"a":1}\n'
    assert shell.ok("consume", topic, "-e", *by, "--value-schema", "topic") == b'{"a":1}\n'


def payload_of(shell: Shell, topic: str) -> bytes:
    """The only value of a topic as it is stored."""
    (envelope,) = shell.ok("consume", topic, "-e", "--envelope").splitlines()
    value = json.loads(envelope)["value"]
    return value.encode() if isinstance(value, str) else b64decode(value["base64"])


def test_confluents_deserializer_reads_protobuf_that_kcli_wrote(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell, tmp_path: Path
) -> None:
    topic = shell.topic()
    file = tmp_path / "order.proto"
    file.write_text(ORDER)
    by = ["--schema-registry", oracle.url, "--value-schema"]
    line = json.dumps(SHOWN).encode()
    unknown = shell("produce", topic, *by, f"file:{file}", stdin=line)
    assert (unknown.returncode, unknown.stderr.count(b"\n")) == (1, 1)
    shell.ok("produce", topic, *by, f"file:{file}", "--register", stdin=line)
    read = ProtobufDeserializer(type_of("shop.Order", ORDER), OPTIONS)
    assert read(payload_of(shell, topic), SerializationContext(topic, MessageField.VALUE)) == message()
    shell.ok("produce", topic, *by, f"file:{file}", stdin=line)
    shell.ok("produce", topic, *by, "topic#shop.Order", stdin=line)
    found = shell.ok("consume", topic, "-e", "--schema-registry", oracle.url).splitlines()
    assert [json.loads(one) for one in found] == [SHOWN] * 3
    file.write_text(ORDER.replace("int64 order_id", "int32 order_id"))
    changed = shell("produce", topic, *by, f"file:{file}", stdin=line)
    assert b"differs from the file" in changed.stderr


def test_confluents_deserializer_reads_json_that_kcli_wrote(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell, tmp_path: Path
) -> None:
    topic = shell.topic()
    file = tmp_path / "note.json"
    text = json.dumps({"title": "T", "type": "object", "properties": {"a": {"type": "integer"}}})
    file.write_text(text)
    by = ["--schema-registry", oracle.url, "--value-schema"]
    shell.ok("produce", topic, *by, f"file:{file}", "--register", stdin=b'{"a": 1}')
    read = JSONDeserializer(text, schema_registry_client=theirs)
    assert read(payload_of(shell, topic), SerializationContext(topic, MessageField.VALUE)) == {"a": 1}
    wrong = shell("produce", topic, *by, "topic", stdin=b'{"a": "x"}')
    assert (wrong.returncode, wrong.stderr.count(b"\n")) == (1, 1)


def test_a_header_names_the_schema_and_the_message() -> None:
    """As Confluent's serializer writes it: the GUID, then the indexes; the payload is bare."""
    with SandboxThread(topics={"orders": 1}, registry=True) as sandbox:
        headers: list[tuple[str, str | bytes | None]] = []
        with SchemaRegistryClient({"url": sandbox.registry_url}) as theirs:
            person = message("shop.Order.Person", {"full_name": "Ann"})
            options = {**OPTIONS, "schema.id.serializer": header_schema_id_serializer}
            made = ProtobufSerializer(type(person), theirs, options)
            payload = made(person, SerializationContext("orders", MessageField.VALUE, headers))
        assert payload == person.SerializeToString()
        shell = Shell(sandbox.bootstrap)
        envelope = {
            "value": {"base64": b64encode(payload or b"").decode()},
            "headers": [[name, {"base64": b64encode(cast(bytes, held)).decode()}] for name, held in headers],
        }
        shell.ok("produce", "orders", "--input", "json", stdin=json.dumps(envelope).encode())
        line = shell.ok("consume", "orders", "-e", "--schema-registry", sandbox.registry_url)
        assert json.loads(line) == {"full_name": "Ann"}
