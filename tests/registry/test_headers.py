"""Schemas that a header names by its GUID, as Confluent's serializers write it: by theirs and by kcli, read by both.

The registries have GUIDs. In its answer to a registration, which Confluent's serializer needs, srfake has none.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.json_format import MessageToDict, ParseDict

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.commands import Commands
from tests.registry.oracles import Oracle
from tests.serde.protobuf.samples import type_of

AVRO = json.dumps({"type": "record", "name": "Note", "fields": [{"name": "text", "type": "string"}]})
PROTOBUF = 'syntax = "proto3"; package p; message Other {} message Note { string text = 1; }'
JSON = json.dumps({"title": "Note", "type": "object", "properties": {"text": {"type": "string"}}})
OPTIONS = {"schema.id.serializer": header_schema_id_serializer}
PLAIN = {"use.deprecated.format": False}
VALUE = {"text": "hello"}  # Confluent's Avro deserializer refuses payloads of less than six bytes, bare ones too
Headers = list[tuple[str, str | bytes | None]]


class Kind(NamedTuple):
    """A kind of schema: its text, Confluent's serializer and deserializer; `value` is what they take and return for
    VALUE, `header` what follows the GUID."""

    name: str
    text: str
    ending: str
    writer: Callable[[SchemaRegistryClient], Any]
    reader: Callable[[SchemaRegistryClient], Any]
    value: Any
    header: bytes = b""


def note() -> Any:
    return type_of("p.Note", PROTOBUF)


KINDS = [
    Kind("avro", AVRO, "avsc", lambda at: AvroSerializer(at, AVRO, conf=OPTIONS), AvroDeserializer, lambda: VALUE),
    Kind(
        "protobuf", PROTOBUF, "proto", lambda at: ProtobufSerializer(note(), at, {**PLAIN, **OPTIONS}),
        lambda _: ProtobufDeserializer(note(), PLAIN), lambda: ParseDict(VALUE, note()()),
        b"\2\2",
    ),
    Kind(
        "json", JSON, "json", lambda at: JSONSerializer(JSON, at, conf=OPTIONS),
        lambda at: JSONDeserializer(JSON, schema_registry_client=at), lambda: VALUE,
    ),
]  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


@each_kind
def test_kcli_reads_what_confluent_wrote_and_writes_it_back(kind: Kind) -> None:
    """Byte for byte, by the envelope of `--decoded` alone."""
    with SandboxThread(topics={"notes": 1}, registry=True) as sandbox:
        headers: Headers = []
        with SchemaRegistryClient({"url": sandbox.registry_url}) as at:
            payload = kind.writer(at)(kind.value(), SerializationContext("notes", MessageField.VALUE, headers))
        ((name, named),) = headers
        assert (name, cast(bytes, named)[17:]) == ("__value_schema_id", kind.header)
        shell, by = Shell(sandbox.bootstrap), ("--schema-registry", sandbox.registry_url)
        stored = {
            "value": {"base64": b64encode(payload).decode()},
            "headers": [[name, {"base64": b64encode(cast(bytes, named)).decode()}]],
        }
        shell.ok("produce", "notes", "--input", "json", stdin=json.dumps(stored).encode())
        assert json.loads(shell.ok("consume", "notes", "-e", *by)) == VALUE
        decoded = shell.ok("consume", "notes", "-e", "-J", *by)
        shell.ok("produce", "notes", "--input", "json", "--value-schema", "from-record", *by, stdin=decoded)
        first, second = map(json.loads, shell.ok("consume", "notes", "-e", "--envelope").splitlines())
        assert first["value"] == second["value"]
        assert first["headers"] == second["headers"]


@each_kind
def test_confluent_reads_what_kcli_wrote(
    kind: Kind, complete: Oracle, tmp_path: Path, subject: Callable[..., str]
) -> None:
    topic = subject("notes")
    commands = Commands(complete.url, tmp_path)
    commands.registered(f"{topic}-value", commands.file(f"note.{kind.ending}", kind.text))
    with SandboxThread(topics={topic: 1}) as sandbox:
        shell, by = Shell(sandbox.bootstrap), ("--schema-registry", complete.url)
        spec = "topic#p.Note" if kind.name == "protobuf" else "topic"
        shell.ok(
            "produce", topic, "--value-schema", spec, "--schema-in", "header", *by, stdin=json.dumps(VALUE).encode()
        )
        assert json.loads(shell.ok("consume", topic, "-e", *by)) == VALUE
        (line,) = shell.ok("consume", topic, "-e", "--envelope").splitlines()
    envelope = json.loads(line)
    ((name, named),) = envelope["headers"]
    headers: Headers = [(name, bytes_of(named))]
    with SchemaRegistryClient({"url": complete.url}) as at:
        context = SerializationContext(topic, MessageField.VALUE, headers)
        read = kind.reader(at)(bytes_of(envelope["value"]), context)
    assert (MessageToDict(read) if kind.name == "protobuf" else read) == VALUE
    assert bytes_of(named)[17:] == kind.header


def bytes_of(held: Any) -> bytes:
    return held.encode() if isinstance(held, str) else b64decode(held["base64"])
