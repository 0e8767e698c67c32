"""Bytes that KafkaJS's serializers wrote, recorded (tests/serde/frames/README.md), read and written."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from kcli.registry.folder import FolderSchemas
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from kcli.serde.schemas.single import decode_one
from kcli.serde.schemas.writers import writer_of

RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent.with_name("frames") / "kafkajs.json").read_text())
KINDS = {"avro": (AVRO, "avsc"), "json": (JSON, "json"), "protobuf": (PROTOBUF, "proto")}


def shown(value: Any) -> Any:
    """The value as kcli shows it: Node's buffers are bytes."""
    if isinstance(value, dict) and value.get("type") == "Buffer":
        return {"base64": b64encode(bytes(value["data"])).decode()}
    if isinstance(value, dict):
        return {name: shown(inner) for name, inner in value.items()}
    return value


@pytest.fixture
def folder(tmp_path: Path) -> FolderSchemas:
    (tmp_path / "ids").mkdir()
    for row in RECORDED:
        (tmp_path / "ids" / f"{row['id']}.{KINDS[row['form']][1]}").write_text(row["schema"])
    return FolderSchemas(str(tmp_path))


@pytest.mark.parametrize("row", [row for row in RECORDED if row["form"] != "protobuf"], ids=lambda row: row["form"])
async def test_what_it_wrote_is_read_and_the_same_bytes_are_written(row: dict[str, Any], folder: FolderSchemas) -> None:
    frame, value = b64decode(row["frame"]), shown(row["value"])
    found = await decode_one("value", frame, [], folder)
    assert found.reason == ""
    assert found.json is not None
    assert json.loads(found.json) == value
    write = writer_of(Schema(kind=KINDS[row["form"]][0], text=row["schema"]), [], framed=True)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert frame[:5] + write(text) == frame


PROTOBUFS = [row for row in RECORDED if row["form"] == "protobuf"]


@pytest.mark.parametrize("row", PROTOBUFS, ids=lambda row: ",".join(row["value"]))
async def test_its_protobuf_has_no_indexes_and_is_the_one_message_that_fits(
    row: dict[str, Any], folder: FolderSchemas
) -> None:
    """Confluent's format has them, and its own deserializers refuse such a value."""
    frame = b64decode(row["frame"])
    decoded = await decode_one("value", frame, [], folder)
    assert (json.loads(decoded.json or b""), decoded.reason) == (row["value"], "")


async def test_its_protobuf_with_indexes_is_what_kcli_writes(folder: FolderSchemas) -> None:
    row = PROTOBUFS[0]
    frame = b64decode(row["frame"])
    write = writer_of(Schema(kind=PROTOBUF, text=row["schema"]), [], framed=True)
    ours = frame[:5] + write(json.dumps(row["value"]))
    assert ours == frame[:5] + b"\0" + frame[5:], "with the index of the first message; KafkaJS reads it so, too"
    found = await decode_one("value", ours, [], folder)
    assert json.loads(found.json or b"") == row["value"]


TWO = (
    'syntax = "proto3"; message A { string x = 1; } message B { string x = 1; int32 y = 2; message In { bool z = 4; } }'
)
NESTED = 'syntax = "proto3"; message A { int32 n = 1; message B { message C { message D { int32 n = 1; } } } }'


@pytest.mark.parametrize(
    ("schema", "payload", "found"),
    [
        (TWO, b"\x0a\2hi\x10\5", '{"x":"hi","y":5}'),
        (TWO, b"\x0a\2hi", "it has no message indexes, and A and B read it; #MESSAGE behind the schema says which"),
        (TWO, b"\x20\1", '{"z":true}'),
        (TWO, b"", "it has no message indexes, and A and B and B.In read it"),
        (TWO, b"\x28\1", "its message indexes are not Confluent's"),
        (TWO, b"\x0a\2h", "the payload ends before its message indexes do"),
        (TWO, b"\2\2\x0a\1", "the payload ends in the middle of a value"),
        (NESTED, b"\x08\0\0\0\0\x08\7", '{"n":7}'),
        (NESTED, b"\x08\0", "it has no message indexes, and A and A.B.C.D read it"),
    ],
)
async def test_without_indexes_nothing_is_guessed(tmp_path: Path, schema: str, payload: bytes, found: str) -> None:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "9.proto").write_text(schema)
    decoded = await decode_one("value", b"\0\0\0\0\x09" + payload, [], FolderSchemas(str(tmp_path)))
    assert found in ((decoded.json or b"").decode() or decoded.reason)
