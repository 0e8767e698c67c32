"""AWS Glue's frames of Protobuf, as its serializer for Java writes them: `tests/serde/frames/GlueProtobuf.java`."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from kcli.proto.batch import read_batches
from kcli.registry.folder import FolderSchemas
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.writers import writer_of
from tests.proto.record_cores import CORES, built

FRAMES = Path(__file__).parent.with_name("frames")
ROWS = json.loads((FRAMES / "glue.json").read_text())
GUID = "30010203-0405-0607-0809-0a0b0c0d0e0f"
SHOWN = {
    "shop.Zebra": '{"id":7,"counts":{"a":1}}',
    "shop.Zebra.Inner": '{"a":"hi"}',
    "shop.Zebra.Inner.Deep": '{"b":true}',
    "shop.Note": '{"id":7,"text":"hi","tags":{"k":"v"}}',
    "shop.Apple": '{"note":{"id":8}}',
}
"""Among them are entries of maps, which Java counts as messages: shop.Note.TagsEntry is before shop.Zebra."""


def schema_text() -> str:
    """The schema as the Java file has it."""
    declared = re.search(r"SCHEMA = (.*?);\n", (FRAMES / "GlueProtobuf.java").read_text(), re.DOTALL)
    assert declared is not None
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', declared[1])).replace('\\"', '"')


async def test_messages_that_java_wrote_are_read(tmp_path: Path) -> None:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "1.proto").write_text(schema_text())
    (tmp_path / "ids" / "1.meta.json").write_text(json.dumps({"guid": GUID}))
    decoding = SchemaDecoder([FieldDecoder("value", FolderSchemas(str(tmp_path)), reader_of())])
    rows: list[Any] = [(0, None, b64decode(row["value"]), ()) for row in ROWS]
    batch = await decoding.batch(read_batches(built(CORES[-1], rows))[0], "t", 0)
    assert [(record.value or b"").decode() for record in batch] == [SHOWN[row["message"]] for row in ROWS]
    assert {row["compression"] for row in ROWS} == {"NONE", "ZLIB"}


def test_what_is_written_is_what_java_writes() -> None:
    schema = Schema(kind=PROTOBUF, text=schema_text())
    for row in ROWS:
        if row["compression"] == "NONE":
            write = writer_of(schema, [], message=row["message"], framed=False, numbered=True)
            assert write(SHOWN[row["message"]]) == b64decode(row["value"])[18:], row["message"]
