"""Frames with Apicurio's global ids, whose schemas its own API has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from urllib.request import Request, urlopen

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


def own(apicurio: Apicurio) -> str:
    """The address of its own API."""
    return apicurio.url.replace("/apis/ccompat/v7", "/apis/registry/v2")


def global_id(apicurio: Apicurio, subject: str) -> bytes:
    with urlopen(f"{own(apicurio)}/groups/default/artifacts/{subject}/meta", timeout=20) as answer:
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
    by, other = ("--schema-registry", apicurio.url), shell.topic()
    lines = shell("consume", topic, "-e", "-J", *by).stdout
    shell.ok("produce", other, "--input", "json", "--value-schema", "from-record", *by, stdin=lines)
    before, after = ([json.loads(one)["value"] for one in shell.ok("consume", name, "-e", "--envelope").splitlines()]
                     for name in (topic, other))  # fmt: skip
    assert [after[n] for n in (0, 1, 3, 4)] == [before[n] for n in (0, 1, 3, 4)]
    assert shell("consume", other, "-e", *by).stdout == done.stdout, "Protobuf has indexes now, and no name"


def test_values_whose_headers_have_a_hash_or_coordinates(apicurio: Apicurio, registry: None, shell: Shell) -> None:
    """As Apicurio's serializers write them where they have no ids; the group may be another one than the default."""
    topic = shell.topic()
    text = NOTE.replace("Note", topic.replace("-", ""))
    with SchemaRegistryClient({"url": apicurio.url}) as theirs:
        theirs.register_schema(topic, Schema(text, "AVRO"))
    described = {
        "Content-Type": "application/json", "X-Registry-ArtifactId": f"{topic}/x", "X-Registry-ArtifactType": "AVRO",
        "X-Registry-Version": "v1.0",
    }  # fmt: skip
    urlopen(Request(f"{own(apicurio)}/groups/shop/artifacts", text.encode(), described), timeout=20).close()
    digest = hashlib.sha256(text.encode()).hexdigest()
    good = [
        {"contentHash": digest, "artifactId": "no"}, {"artifactId": topic}, {"artifactId": topic, "version": "1"},
        {"artifactId": topic, "groupId": "default"}, {"artifactId": f"{topic}/x", "groupId": "shop"},
        {"artifactId": f"{topic}/x", "groupId": "shop", "version": "v1.0"},
    ]  # fmt: skip
    bad = [{"artifactId": topic, "version": "7"}, {"artifactId": "../nix"}, {"contentHash": "0" * 64}]
    for headers in good + bad:
        pairs = [[f"apicurio.value.{name}", held] for name, held in headers.items()]
        envelope = {"value": "\x0e\4hi", "headers": pairs}
        shell.ok("produce", topic, "--input", "json", stdin=json.dumps(envelope).encode())
    by = ("--schema-registry", apicurio.url)
    read = shell("consume", topic, "-e", *by)
    assert read.stdout == b'{"id":7,"text":"hi"}\n' * len(good) + b"\x0e\4hi\n" * len(bad)
    assert b"3 values could not be decoded" in read.stderr
    lines = shell("consume", topic, "-e", "-J", *by).stdout.splitlines()
    named = [json.loads(line).get("value_schema") for line in lines]
    assert named[2] == {"subject": topic, "version": 1, "type": "AVRO", "frame": ""}
    again = b"".join(line + b"\n" for line in lines[: len(good)])
    other = shell.topic()
    shell.ok("produce", other, "--input", "json", "--value-schema", "from-record", *by, stdin=again)
    stored = [json.loads(line) for line in shell.ok("consume", other, "-e", "--envelope").splitlines()]
    assert [(row["value"], row["headers"]) for row in stored] == [
        ("\x0e\4hi", [[f"apicurio.value.{name}", held] for name, held in headers.items()]) for headers in good
    ]
    assert named[len(good) :] == [None] * len(bad)
