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


async def test_its_protobuf_has_no_indexes_and_stays_as_it_is(folder: FolderSchemas) -> None:
    """Confluent's format has them, and its own deserializers refuse such a value too."""
    (row,) = (row for row in RECORDED if row["form"] == "protobuf")
    frame = b64decode(row["frame"])
    assert await decode_one("value", frame, [], folder) == (
        None,
        (await folder.by_id(row["id"])),
        "its message indexes are not Confluent's",
    )
    write = writer_of(Schema(kind=PROTOBUF, text=row["schema"]), [], framed=True)
    ours = frame[:5] + write(json.dumps(row["value"]))
    assert ours == frame[:5] + b"\0" + frame[5:], "with the index of the first message; KafkaJS reads it so, too"
    found = await decode_one("value", ours, [], folder)
    assert json.loads(found.json or b"") == row["value"]
