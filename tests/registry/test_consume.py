"""What Confluent's serializers wrote under registries of others, read by `kcli consume`."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen
from uuid import UUID

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.oracles import Oracle, Srfake

ORDER: dict[str, Any] = {
    "type": "record", "name": "Order", "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "who", "type": {"type": "record", "name": "Person", "fields": [{"name": "name", "type": "string"}]}},
        {"name": "second", "type": ["null", "Person"], "default": None},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "hour", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "tags", "type": {"type": "map", "values": ["int", "string"]}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "half", "type": "float"},
    ],
}  # fmt: skip
VALUE = {
    "id": 2**60, "who": {"name": "Zoë \"Z\""}, "second": {"name": ""}, "total": Decimal("-12.30"),
    "day": date(2026, 11, 24), "at": datetime(2026, 11, 24, 1, 2, 3, 4, UTC), "hour": time(23, 59, 59, 999000),
    "tags": {"a": 1, "b": "x"}, "state": "PAID", "half": 0.1,
}  # fmt: skip
SHOWN = {
    "id": 2**60, "who": {"name": "Zoë \"Z\""}, "second": {"name": ""}, "total": "-12.30", "day": "2026-11-24",
    "at": "2026-11-24T01:02:03.000004Z", "hour": "23:59:59.999", "tags": {"a": 1, "b": "x"}, "state": "PAID",
    "half": 0.1,
}  # fmt: skip


@pytest.fixture
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={"orders": 1}) as sandbox:
        yield Shell(sandbox.bootstrap)


@pytest.fixture
def theirs(oracle: Oracle) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": oracle.url}) as client:
        yield client


def serialized(
    theirs: SchemaRegistryClient, schema: Schema | str, value: Any, topic: str, field: MessageField = MessageField.VALUE
) -> bytes:
    made = AvroSerializer(theirs, schema)(value, SerializationContext(topic, field))
    assert isinstance(made, bytes)
    return made


def test_records_of_confluents_serializer_are_read(oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell) -> None:
    payload = serialized(theirs, json.dumps(ORDER), VALUE, "orders")
    shell.ok("produce", "orders", "--whole", stdin=payload)
    line = shell.ok("consume", "orders", "-e", "--schema-registry", oracle.url)
    assert json.loads(line) == SHOWN
    where = ["--where", "value.who.name == 'Zoë \"Z\"' and value.total == '-12.30'"]
    assert shell.ok("count", "orders", "--schema-registry", oracle.url, *where) == b"1\n"
    assert shell.ok("consume", "orders", "-e", "--schema-registry", oracle.url, "--value-schema", "topic") == line


def test_keys_and_schemas_that_use_others(oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell) -> None:
    using = {"type": "record", "name": "Visit", "fields": [{"name": "who", "type": "shop.Person"}]}
    person = json.dumps({**ORDER["fields"][1]["type"], "namespace": "shop"})
    theirs.register_schema("person", Schema(person, "AVRO"))
    schema = Schema(json.dumps(using), "AVRO", [SchemaReference("shop.Person", "person", 1)])
    value = serialized(theirs, schema, {"who": {"name": "Ann"}}, "visits")
    key = serialized(theirs, '"string"', "k", "visits", MessageField.KEY)
    shell.ok("topics", "create", "visits", "-p", "1")
    envelope = {"key": {"base64": b64encode(key).decode()}, "value": {"base64": b64encode(value).decode()}}
    shell.ok("produce", "visits", "--input", "json", stdin=json.dumps(envelope).encode())
    line = shell.ok("consume", "visits", "-e", "-f", "%k %s", "--schema-registry", oracle.url)
    assert line == b'"k" {"who":{"name":"Ann"}}'


def test_kcli_registers_writes_and_reads(oracle: Oracle, shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "note.avsc"
    file.write_text('{"type":"record","name":"Note","fields":[{"name":"id","type":"int"}]}')
    shell.ok("topics", "create", "notes", "-p", "1")
    by = ["--schema-registry", oracle.url]
    unknown = shell("produce", "notes", *by, "--value-schema", f"file:{file}", stdin=b'{"id":1}')
    assert (unknown.returncode, unknown.stderr.count(b"\n")) == (1, 1)
    shell.ok("produce", "notes", *by, "--value-schema", f"file:{file}", "--register", stdin=b'{"id":1}')
    shell.ok("produce", "notes", *by, "--value-schema", f"file:{file}", stdin=b'{"id":2}')
    shell.ok("produce", "notes", *by, "--value-schema", "topic", stdin=b'{"id":3}')
    assert shell.ok("consume", "notes", "-e", *by) == b'{"id":1}\n{"id":2}\n{"id":3}\n'


def test_of_two_files_none_is_registered_where_one_is_refused(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell, tmp_path: Path
) -> None:
    topic = f"pairs-{oracle.name}"
    shell.ok("topics", "create", topic, "-p", "1")
    key, value = tmp_path / "key.avsc", tmp_path / "value.avsc"
    key.write_text('"string"')
    value.write_text('{"type":"record","name":"P","fields":[{"name":"id","type":"int"}]}')
    theirs.register_schema(f"{topic}-value", Schema(value.read_text(), "AVRO"))
    theirs.set_compatibility(f"{topic}-value", "FULL")
    value.write_text('{"type":"record","name":"P","fields":[{"name":"no","type":"string"}]}')
    by = ["--schema-registry", oracle.url, "--key-schema", f"file:{key}", "--value-schema", f"file:{value}"]
    done = shell("produce", topic, *by, "--register", "-k", '"k"', stdin=b'{"no":"x"}')
    if oracle.name == "srfake":  # finds everything compatible
        assert done.returncode == 0
        return
    assert done.returncode == 1
    assert f"{topic}-value: the schema is incompatible with the versions" in done.stderr.decode()
    assert f"{topic}-key" not in theirs.get_subjects()
    value.write_text('{"type":"record","name":"P","fields":[{"name":"id","type":"int"}]}')
    shell.ok("produce", topic, *by, "--register", "-k", '"k"', stdin=b'{"id":1}')
    assert shell.ok("consume", topic, "-e", "-f", "%k %s", "--schema-registry", oracle.url) == b'"k" {"id":1}'


def test_confluents_deserializer_reads_what_kcli_wrote(
    oracle: Oracle, theirs: SchemaRegistryClient, shell: Shell
) -> None:
    serialized(theirs, json.dumps(ORDER), VALUE, "orders")  # registers it
    by = ["--schema-registry", oracle.url]
    shell.ok("produce", "orders", *by, "--value-schema", "topic", stdin=json.dumps(SHOWN).encode())
    (envelope,) = shell.ok("consume", "orders", "-e", "--envelope").splitlines()
    payload = b64decode(json.loads(envelope)["value"]["base64"])
    read = AvroDeserializer(theirs)(payload, SerializationContext("orders", MessageField.VALUE))
    assert read == {**VALUE, "half": pytest.approx(0.1)}


@pytest.fixture
def ours() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 1}, registry=True) as sandbox:
        yield sandbox


@pytest.fixture
def in_ours(ours: SandboxThread) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": ours.registry_url}) as client:
        yield client


def test_records_whose_header_names_the_schema_by_its_guid(ours: SandboxThread, in_ours: SchemaRegistryClient) -> None:
    """As Confluent's serializer writes them: bare payloads, of keys too; its deserializer reads them as well."""
    options = {"schema.id.serializer": header_schema_id_serializer}
    headers: list[tuple[str, str | bytes | None]] = []
    parts = []
    for field, schema, given in (
        (MessageField.KEY, '"string"', "k"), (MessageField.VALUE, json.dumps(ORDER), VALUE),
    ):  # fmt: skip
        context = SerializationContext("orders", field, headers)
        parts.append(AvroSerializer(in_ours, schema, conf=options)(given, context))
    assert [name for name, _ in headers] == ["__key_schema_id", "__value_schema_id"]
    key, value = (b64encode(part or b"").decode() for part in parts)
    envelope = {
        "key": {"base64": key}, "value": {"base64": value},
        "headers": [[name, {"base64": b64encode(cast(bytes, content)).decode()}] for name, content in headers],
    }  # fmt: skip
    Shell(ours.bootstrap).ok("produce", "orders", "--input", "json", stdin=json.dumps(envelope).encode())
    line = Shell(ours.bootstrap).ok("consume", "orders", "-e", "-f", "%k %s", "--schema-registry", ours.registry_url)
    assert line.startswith(b'"k" {')
    assert json.loads(line[4:]) == SHOWN
    read = AvroDeserializer(in_ours)(parts[1], SerializationContext("orders", MessageField.VALUE, headers))
    assert read == {**VALUE, "half": pytest.approx(0.1)}


def test_a_guid_in_front_of_the_payload_names_the_schema(ours: SandboxThread, in_ours: SchemaRegistryClient) -> None:
    def prefixed(payload: bytes, context: SerializationContext | None, schema_id: Any) -> bytes:
        return bytes(schema_id.guid_to_bytes()) + payload

    options = {"schema.id.serializer": prefixed}
    context = SerializationContext("orders", MessageField.VALUE)
    payload = AvroSerializer(in_ours, json.dumps(ORDER), conf=options)(VALUE, context)
    assert payload is not None
    assert payload[0] == 1
    read = AvroDeserializer(in_ours)(payload, context)  # which knows this form
    assert read == {**VALUE, "half": pytest.approx(0.1)}
    Shell(ours.bootstrap).ok("produce", "orders", "--whole", stdin=payload)
    assert (
        json.loads(Shell(ours.bootstrap).ok("consume", "orders", "-e", "--schema-registry", ours.registry_url)) == SHOWN
    )


def test_a_guid_of_srfake_in_a_header(srfake: Srfake, registry: None, shell: Shell) -> None:
    """Whose answer to a registration has none, so that Confluent's serializer cannot write it."""
    with SchemaRegistryClient({"url": srfake.url}) as client:
        payload = serialized(client, json.dumps(ORDER), VALUE, "orders")[5:]
    with urlopen(f"{srfake.url}/subjects/orders-value/versions/latest", timeout=20) as answer:
        guid = UUID(json.load(answer)["guid"])
    header = ["__value_schema_id", {"base64": b64encode(b"\1" + guid.bytes).decode()}]
    envelope = {"value": {"base64": b64encode(payload).decode()}, "headers": [header]}
    shell.ok("produce", "orders", "--input", "json", stdin=json.dumps(envelope).encode())
    assert json.loads(shell.ok("consume", "orders", "-e", "--schema-registry", srfake.url)) == SHOWN
