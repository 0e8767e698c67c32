"""Frames with Apicurio's global ids, whose schemas its own API has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.oracles import Apicurio

NOTE = '{"type":"record","name":"Note","fields":[{"name":"id","type":"int"},{"name":"text","type":"string"}]}'
BASE = 'syntax = "proto3"; package shop; message Base { int32 x = 1; }'
USING = 'syntax = "proto3"; package shop; import "base.proto"; message Other {} message Use { Base base = 1; }'


@pytest.fixture
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={}) as sandbox:
        yield Shell(sandbox.bootstrap)


def global_id(apicurio: Apicurio, subject: str) -> bytes:
    own = apicurio.url.replace("/apis/ccompat/v7", "/apis/registry/v2")
    with urlopen(f"{own}/groups/default/artifacts/{subject}/meta", timeout=20) as answer:
        return int(json.load(answer)["globalId"]).to_bytes(8, "big")


def test_values_behind_global_ids(apicurio: Apicurio, registry: None, shell: Shell) -> None:
    """The same text under three subjects has one content id and three global ids."""
    topic = shell.topic()
    with SchemaRegistryClient({"url": apicurio.url}) as theirs:
        for subject in (f"{topic}-a", f"{topic}-b", f"{topic}-c"):
            theirs.register_schema(subject, Schema(NOTE, "AVRO"))
        theirs.register_schema(f"{topic}-base", Schema(BASE, "PROTOBUF"))
        reference = SchemaReference("base.proto", f"{topic}-base", 1)
        theirs.register_schema(f"{topic}-using", Schema(USING, "PROTOBUF", [reference]))
        text = json.dumps({"type": "object", "properties": {"a": {}}})
        theirs.register_schema(f"{topic}-json", Schema(text, "JSON"))
    payloads = {"a": b"\x0e\4hi", "c": b"\x0e\4hi", "using": b"\5\x0a\3Use\x0a\2\x08\5", "json": b'{"a":1}'}
    for subject, payload in payloads.items():
        shell.ok("produce", topic, "--whole", stdin=b"\0" + global_id(apicurio, f"{topic}-{subject}") + payload)
    shell.ok("produce", topic, "--whole", stdin=b"\0" + (2**31).to_bytes(8, "big") + b"x")
    done = shell("consume", topic, "-e", "--schema-registry", apicurio.url)
    hi = b'{"id":7,"text":"hi"}\n'
    assert done.stdout.startswith(hi + hi + b'{"base":{"x":5}}\n{"a":1}\n\0')
    assert b"1 value could not be decoded" in done.stderr
