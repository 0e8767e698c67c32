"""Values that Confluent's serializers encrypted, recorded (tests/serde/frames/README.md): marked, not decrypted."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from kcli.errors import KcliError
from kcli.proto.batch import Batch, read_batches
from kcli.registry.folder import FolderSchemas
from kcli.schemas import Schema
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.frame_ids import FieldFrames, FrameRewriter
from kcli.serde.schemas.readers import reader_of
from tests.each import each
from tests.proto.record_cores import CORES, built

RECORDED: list[dict[str, Any]] = json.loads((Path(__file__).parent.with_name("frames") / "encrypted.json").read_text())
ENDINGS = {"AVRO": "avsc", "PROTOBUF": "proto", "JSON": "json"}
SECRET = {"encrypted": "kek1"}
SHOWN = {"id": 7, "mail": SECRET, "photo": SECRET, "names": [SECRET, SECRET], "note": "hi"}
REASON = {"encrypted: kek1": 1}


def folder_of(row: dict[str, Any], path: Path) -> FolderSchemas:
    kind = row["form"].partition(" ")[0]
    ids = path / row["form"].replace(" ", "-") / "ids"
    ids.mkdir(parents=True)
    (ids / f"{row['id']}.{ENDINGS[kind]}").write_text(row["schema"])
    (ids / f"{row['id']}.meta.json").write_text(json.dumps({"guid": row["guid"], "ruleSet": row["rule_set"]}))
    return FolderSchemas(str(ids.parent))


def stored(row: dict[str, Any]) -> tuple[bytes, list[tuple[str, bytes]]]:
    return b64decode(row["value"]), [(name, b64decode(held)) for name, held in row["headers"]]


@each("row", RECORDED)
def test_what_confluent_encrypted_is_marked(row: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fields each by itself, by their tags in the schema; a payload that is encrypted whole stays, byte for byte."""
    schemas = folder_of(row, tmp_path_factory.mktemp("schemas"))
    value, headers = stored(row)
    decoding = SchemaDecoder([FieldDecoder("value", schemas, reader_of())])
    made = asyncio.run(decoding.batch(batch(value, headers), "guests", 0))
    (record,) = made
    reasons = dict(decoding.fields[0].undecoded.reasons)
    kind, what, _ = row["form"].split(" ", 2)
    if what == "fields":
        assert record.value is not None
        shown = SHOWN if kind == "AVRO" else {"id": 7, "mail": SECRET, "note": "hi"}
        assert (json.loads(record.value), reasons) == (shown, {})
    else:
        assert (record.value, reasons) == (value, REASON)


def batch(value: bytes, headers: list[tuple[str, bytes]]) -> Batch:
    return read_batches(built(CORES[-1], [(0, None, value, tuple(headers))]))[0]


@each("row", [row for row in RECORDED if not row["headers"]])
def test_ids_are_rewritten_where_the_payload_can_be_checked(
    row: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A payload that is encrypted whole cannot: a copy would keep an id that means another schema there."""
    value, headers = stored(row)

    async def new_id(kind: str, schema: Schema) -> int:
        return 99

    schemas = folder_of(row, tmp_path_factory.mktemp("schemas"))
    rewriter = FrameRewriter([FieldFrames("value", schemas, new_id)])
    if " payload " in row["form"]:
        with pytest.raises(
            KcliError,
            match=r"offset 0: its value is entirely encrypted \(kek1\), .* cannot be checked or " r"rewritten",
        ):
            asyncio.run(rewriter.batch(batch(value, headers), "guests", 0))
        return
    (record,) = asyncio.run(rewriter.batch(batch(value, headers), "guests", 0))
    assert record.value == b"\0\0\0\0\x63" + value[5:]
