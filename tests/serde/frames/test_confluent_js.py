"""What Confluent's own client for Node (@confluentinc/schemaregistry) writes, kcli reads, and the other way round, with
the schemas of real registries."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcli.registry.lookup import open_schemas
from kcli.registry.settings import RegistrySettings
from kcli.security.http import Origin
from kcli.serde.schemas.single import decode_one
from tests.registry.commands import Commands
from tests.registry.conftest import apicurio as apicurio
from tests.registry.conftest import oracle as oracle
from tests.registry.conftest import registry as registry
from tests.registry.conftest import sandboxed as sandboxed
from tests.registry.conftest import srfake as srfake
from tests.registry.conftest import subject as subject
from tests.registry.oracles import Oracle
from tests.serde.frames.node import serdes
from tests.serde.schemas.test_kafkajs import shown

Names = Callable[[str], str]

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.timeout(700)]  # npm fetches it once


async def test_what_it_wrote_is_read(oracle: Oracle, subject: Names) -> None:
    """The schema's id is in front, or its GUID in a header, where a registry has them for all."""
    places = ["prefix", "header"] if oracle.name == "sandbox" else ["prefix"]
    written = serdes("write", oracle.url, subject("node"), ",".join(places))
    assert {row["form"] for row in written} == {"avro", "json", "protobuf"}
    assert len({bool(row["headers"]) for row in written}) == len(places)
    schemas = open_schemas(RegistrySettings(origins=(Origin(url=oracle.url),)))
    try:
        for row in written:
            headers = [(name, b64decode(held)) for name, held in row["headers"]]
            found = await decode_one("value", b64decode(row["frame"]), headers, schemas)
            assert found.reason == "", row
            assert plain(json.loads(found.json or b"")) == plain(shown(row["value"])), row
    finally:
        await schemas.close()


def plain(value: Any) -> Any:
    """Integers of 64 bits are texts in the JSON of Protobuf's own libraries."""
    if isinstance(value, dict):
        return {name: int(inner) if name == "id" else plain(inner) for name, inner in value.items()}
    return value


def test_what_kcli_wrote_it_reads(oracle: Oracle, subject: Names, tmp_path: Path) -> None:
    """By the schemas that it registered; its Protobuf schemas are descriptors. The bytes are its own, too."""
    commands = Commands(oracle.url, tmp_path, oracle.name)
    theirs, ours = serdes("write", oracle.url, subject("node"), "prefix"), []
    for row in theirs:
        spec = f"{row['topic']}-value" + (f"#{row['message']}" if row["message"] else "")
        lines = commands.file("lines", json.dumps(shown(row["value"]), ensure_ascii=False, separators=(",", ":")))
        done = commands.run("encode", lines, "--value-schema", spec, "--output", "base64")
        ours.append(row | {"frame": done.out.decode().strip()})
    assert ours == theirs
    assert serdes("read", oracle.url, lines=ours) == [row["value"] for row in ours]


PROTO = """syntax = "proto3"; package shop;
message Other { string x = 1; }
message Order {
  message Part { sint32 size = 1; }
  int64 id = 1; string note = 2; repeated int32 parts = 3; Other other = 4; Part part = 5;
}"""
MESSAGES = [
    ("shop.Order", {"id": "1234567890123", "note": "hé", "parts": [1, 2, 300], "other": {"x": "in"}}),
    ("shop.Order", {}),
    ("shop.Other", {"x": "hé"}),
    ("shop.Order.Part", {"size": -3}),
]


def test_a_text_that_kcli_registered_with_the_sandbox_is_a_descriptor_to_it(
    sandboxed: Oracle, registry: None, subject: Names, tmp_path: Path
) -> None:
    """It asks for `format=serialized`, as it has no parser of texts."""
    commands = Commands(sandboxed.url, tmp_path, sandboxed.name)
    topic = subject("text")
    commands.registered(f"{topic}-value", commands.file("shop.proto", PROTO))
    rows = []
    for message, value in MESSAGES:
        lines = commands.file("lines", json.dumps(value) + "\n")
        done = commands.run("encode", lines, "--value-schema", f"{topic}-value#{message}", "--output", "base64")
        rows.append({"form": "protobuf", "topic": topic, "headers": [], "frame": done.out.decode().strip()})
    assert serdes("read", sandboxed.url, lines=rows) == [value for _, value in MESSAGES]
