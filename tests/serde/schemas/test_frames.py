"""Frames of other serializers than Confluent's: recorded bytes of Java's, and frames made to hurt."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.batch import read_batches
from kcli.registry.folder import FolderSchemas
from kcli.schemas import Schema
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.frames import frame_names
from kcli.serde.schemas.readers import reader_of
from tests.each import each
from tests.proto.record_cores import CORES, built

EVENTS = json.loads((Path(__file__).parent.with_name("frames") / "events.json").read_text())
RECORDED = json.loads((Path(__file__).parent.with_name("frames") / "recorded.json").read_text())
AZURE = json.loads((Path(__file__).parent.with_name("frames") / "azure.json").read_text())
ENCODINGS = json.loads((Path(__file__).parent.with_name("frames") / "encodings.json").read_text())
VISIT = """{"type":"record","name":"Visit","fields":[{"name":"id","type":"int"},
 {"name":"note","type":["null","string"]},{"name":"data","type":"bytes"}]}"""
NOTE = '{"type":"record","name":"Note","fields":[{"name":"id","type":"int"},{"name":"text","type":"string"}]}'
PROTO = 'syntax = "proto3"; package shop; message Other {} message Note { int32 id = 1; string text = 2; }'
GUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"
URI = "https://schemas.example.org/note"
PAYLOAD = b"\x0e\4hi"
SHOWN = b'{"id":7,"text":"hi"}'
SECONDS = 5.0  # of CPU, for what must take milliseconds


@pytest.fixture
def folder(tmp_path: Path) -> FolderSchemas:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "1.avsc").write_text(NOTE)
    (tmp_path / "ids" / "1.meta.json").write_text(json.dumps({"guid": GUID, "dataschema": [URI, "urn:note"]}))
    (tmp_path / "ids" / "2.proto").write_text(PROTO)
    (tmp_path / "ids" / "3.proto").write_text(PROTO)
    (tmp_path / "ids" / "3.meta.json").write_text(json.dumps({"guid": "3" + GUID[1:], "dataschema": f"{URI}.proto"}))
    (tmp_path / "ids" / "4.avsc").write_text("broken")
    (tmp_path / "subjects" / "notes").mkdir(parents=True)
    (tmp_path / "subjects" / "notes" / "1.avsc").write_text(NOTE)
    return FolderSchemas(str(tmp_path))


async def decoded(
    schemas: Any, rows: list[tuple[bytes | None, list[tuple[str, bytes | None]]]], kind: str = "value"
) -> tuple[list[bytes | None], dict[str, int]]:
    decoding = SchemaDecoder([FieldDecoder(kind, schemas, reader_of())])
    made = [(0, value if kind == "key" else None, value, tuple(headers)) for value, headers in rows]
    batch = await decoding.batch(read_batches(built(CORES[-1], made))[0], "t", 0)
    return [getattr(record, kind) for record in batch], dict(decoding.fields[0].undecoded.reasons)


@each("row", RECORDED)
def test_frames_that_java_wrote(row: dict[str, Any], folder: FolderSchemas) -> None:
    import asyncio

    rows: list[Any] = [(b64decode(row["value"]), [(name, b64decode(held)) for name, held in row["headers"]])]
    values, reasons = asyncio.run(decoded(folder, rows))
    assert reasons == {}
    short = "protobuf" in row["form"] or "coordinates" in row["form"]
    text = "hi" if short else "hi" + " hi" * 18
    assert values[0] is not None
    assert json.loads(values[0]) == {"id": 7, "text": text}, row["form"]


@each("row", AZURE)
def test_values_that_azures_encoder_wrote(row: dict[str, Any], folder: FolderSchemas) -> None:
    import asyncio

    headers: list[tuple[str, bytes | None]] = [("content-type", row["content-type"].encode())]
    (value,), reasons = asyncio.run(decoded(folder, [(b64decode(row["value"]), headers)]))
    assert (json.loads(value or b""), reasons) == (row["shown"], {})


@each("row", ENCODINGS)
def test_avro_that_java_wrote_as_bytes_and_as_json_is_shown_alike(row: dict[str, Any], tmp_path: Path) -> None:
    import asyncio

    (tmp_path / "ids").mkdir(exist_ok=True)
    for id in (4, 5):
        (tmp_path / "ids" / f"{id}.avsc").write_text(VISIT)
    data = b64decode(row["data"])
    headers: list[tuple[str, bytes | None]] = [(name, b64decode(held)) for name, held in row["headers"]]
    (seen,), reasons = asyncio.run(decoded(FolderSchemas(str(tmp_path)), [(data, headers)], row["part"]))
    if row["encoding"] == "JSON" and not headers:  # nothing says that JSON is behind the id
        assert (seen, len(reasons)) == (data, 1)
        return
    assert (json.loads(seen or b""), reasons) == ({"id": 7, "note": "hi", "data": {"base64": "Af8="}}, {})
    if row["encoding"] == "JSON":
        for broken in (data[:-1], data.replace(b"7", b'"x"'), data.replace(b"string", b"int"), b"", b"\xff"):
            rows: list[Any] = [(broken, headers)]
            (seen,), reasons = asyncio.run(decoded(FolderSchemas(str(tmp_path)), rows, row["part"]))
            assert seen == broken
            assert [reason.startswith("it is not the JSON of its schema: ") for reason in reasons] == [True]


@each("row", EVENTS)
def test_cloudevents_are_read_by_the_schema_that_the_folder_has_for_their_uri(
    row: dict[str, Any], folder: FolderSchemas
) -> None:
    import asyncio

    headers: list[tuple[str, bytes | None]] = [(name, b64decode(held)) for name, held in row["headers"]]
    value = b64decode(row["value"])
    assert asyncio.run(decoded(folder, [(value, headers)])) == ([SHOWN], {})
    plain = [(name, b"text/plain" if name == "content-type" else held) for name, held in headers]
    assert asyncio.run(decoded(folder, [(value, plain)])) == ([value], {}), "another content type is not looked at"
    other = [(name, b"urn:other" if name == "ce_dataschema" else held) for name, held in headers]
    values, reasons = asyncio.run(decoded(folder, [(value, other)]))
    assert values == [value]
    assert [reason.startswith("dataschema urn:other: ") for reason in reasons] == [True]


async def test_buf_names_the_message_and_the_commit(folder: FolderSchemas) -> None:
    """Headers as bsr-kafka-serde-go writes them; the payload is what Google's serializer makes."""
    commit = ("buf.registry.value.schema.commit", ("3" + GUID[1:]).replace("-", "").encode())
    message = ("buf.registry.value.schema.message", b"shop.Note")
    bare = b"\x08\7\x12\2hi"
    rows: list[Any] = [
        (bare, [message, commit]),
        (bare, [message]),
        (bare, [message, (commit[0], b"f" * 32)]),  # a commit that the folder does not know
        (bare, [("buf.registry.key.schema.message", b"shop.Note")]),
        (bare, [(message[0], b"shop.Unknown"), commit]),
        (b"", [(message[0], b"shop.Other")]),
        (None, [message]),
        (bare + b"\x0a", [message]),
    ]
    values, reasons = await decoded(folder, rows)
    assert values == [SHOWN, SHOWN, SHOWN, bare, bare, b"{}", None, bare + b"\x0a"]
    name = f"message shop.Unknown of commit {commit[1].decode()} in Buf's registry: "
    assert sorted(reason.startswith(name) for reason in reasons) == [False, True]
    keys, _ = await decoded(folder, [(bare, [("buf.registry.key.schema.message", b"shop.Note")])], "key")
    assert keys == [SHOWN]


async def test_hostile_headers_name_no_schema(folder: FolderSchemas) -> None:
    proto = ("content-type", b"application/protobuf")
    rows: list[Any] = [
        (PAYLOAD, [("buf.registry.value.schema.message", b"a" * 600)]),
        (PAYLOAD, [("buf.registry.value.schema.message", b"a\0b")]),
        (PAYLOAD, [("buf.registry.value.schema.message", None)]),
        (PAYLOAD, [proto, ("ce_dataschema", b"u" * 600)]),
        (PAYLOAD, [proto, ("ce_dataschema", None)]),
    ]
    assert await decoded(folder, rows) == ([PAYLOAD] * 5, {})
    values, reasons = await decoded(folder, [(PAYLOAD, [proto, ("ce_dataschema", b"\xff#\xff")])])
    assert values == [PAYLOAD]
    assert len(reasons) == 1


async def test_azure_and_apicurio_name_the_schema_in_headers(folder: FolderSchemas) -> None:
    azure = ("content-type", b"avro/binary+" + GUID.replace("-", "").encode())
    one = (1).to_bytes(8, "big")
    in_json = [("apicurio.value.globalId", one), ("apicurio.value.encoding", b"JSON")]
    of_key = [("apicurio.key.globalId", one)]
    typed = [("apicurio.value.contentId", (2).to_bytes(8, "big")), ("apicurio.protobuf.type", b"Note")]
    rows: list[Any] = [
        (PAYLOAD, [azure]), (SHOWN, in_json), (PAYLOAD, of_key), (b"\x08\7\x12\2hi", typed), (PAYLOAD, []),
        (None, [azure]),
        (PAYLOAD, [("content-type", b"text/plain")]),
    ]  # fmt: skip
    values, reasons = await decoded(folder, rows)
    assert values == [SHOWN, SHOWN, PAYLOAD, SHOWN, PAYLOAD, None, PAYLOAD]
    assert reasons == {}
    values, _ = await decoded(folder, rows[2:3], "key")
    assert values == [SHOWN]


ARTIFACT = ("apicurio.value.artifactId", b"notes")


@each(
    ("headers", "says"),
    [
        ([("apicurio.value.contentHash", b"0" * 64)], "schema with the content hash 0000"),
        ([("apicurio.value.contentHash", b"0" * 63), ("apicurio.key.artifactId", b"notes")], ""),
        ([("apicurio.value.artifactId", b"other")], "other: "),
        ([ARTIFACT, ("apicurio.value.groupId", b"shop")], "notes of the group shop: a folder has the default group"),
        ([ARTIFACT, ("apicurio.value.version", b"2")], "notes version 2: "),
        ([ARTIFACT, ("apicurio.value.version", b"1.0-\xff")], "notes version 1.0-\ufffd: "),
        ([ARTIFACT, ("apicurio.value.version", b"../../1")], "notes version ../../1: "),
        ([ARTIFACT, ("apicurio.value.version", b"1" * 513)], ""),
        ([("apicurio.value.artifactId", b"notes\0x")], ""),
    ],
)
def test_coordinates_that_lead_nowhere(
    headers: list[tuple[str, bytes]], says: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    import asyncio

    place = tmp_path_factory.mktemp("schemas")
    (place / "subjects" / "notes").mkdir(parents=True)
    (place / "subjects" / "notes" / "1.avsc").write_text(NOTE)
    rows: list[Any] = [(PAYLOAD, headers)]
    values, reasons = asyncio.run(decoded(FolderSchemas(str(place)), rows))
    assert values == [PAYLOAD]
    assert [reason.startswith(says) for reason in reasons] == [True] * bool(says)


async def test_coordinates_name_json_and_messages_too(folder: FolderSchemas) -> None:
    in_json = [ARTIFACT, ("apicurio.value.encoding", b"JSON")]
    digest = hashlib.sha256(PROTO.encode()).hexdigest().encode()
    typed = [("apicurio.value.contentHash", digest.upper()), ("apicurio.protobuf.type", b"Note")]
    rows: list[Any] = [(SHOWN, in_json), (b"\x08\7\x12\2hi", typed), (PAYLOAD, [ARTIFACT])]
    values, reasons = await decoded(folder, rows)
    assert (values, reasons) == ([SHOWN] * 3, {})


async def test_a_message_of_glue_is_a_number_among_all_by_their_names(folder: FolderSchemas) -> None:
    front = b"\3\0" + bytes.fromhex("30" + GUID.replace("-", "")[2:])
    values, reasons = await decoded(folder, [(front + b"\0\x08\7\x12\2hi", []), (front + b"\2", []), (front, [])])
    assert values[0] == SHOWN
    assert len(reasons) == 2


GLUE = b"\3\5" + bytes(range(16))


@each(
    ("packed", "says"),
    [
        (b"nix", "not compressed with zlib"),
        (zlib.compress(PAYLOAD)[:-1], "cut, or bytes are left"),
        (zlib.compress(PAYLOAD) + b"x", "cut, or bytes are left"),
        (zlib.compress(PAYLOAD + b"x"), "bytes are left after the value"),
        (zlib.compress(bytes(100 << 20), 9), "larger than 64 MiB or 1,000 times"),
    ],
    ids=lambda row: row[:8],
)
def test_compressed_payloads_that_are_refused_at_once(packed: bytes, says: str, folder: FolderSchemas) -> None:
    import asyncio

    began = time.process_time()
    values, reasons = asyncio.run(decoded(folder, [(GLUE + packed, []), (GLUE + zlib.compress(PAYLOAD), [])]))
    assert time.process_time() - began < SECONDS
    assert values == [GLUE + packed, SHOWN]
    assert list(reasons.values()) == [1]
    assert says in next(iter(reasons))


class Confluent:
    """A registry that knows each id of 1 to 300 and no other name; it counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        from kcli.schemas import SchemaNotFound

        self.asked += 1
        if not 1 <= id <= 300:
            raise SchemaNotFound(f"there is no schema {id}")
        return Schema(text=NOTE, id=id)

    async def by_global_id(self, id: int) -> Schema:
        from kcli.schemas import SchemaNotFound

        raise SchemaNotFound("no Apicurio")


@each("size", [8, 16])
def test_whole_numbers_are_never_taken_for_frames(size: int) -> None:
    """int64 keys, also two of them together, of all sizes: their first five bytes are an id that exists, or none."""
    import asyncio

    numbers = [number for shift in range(0, 62, 3) for number in (1 << shift, (1 << shift) + 7)]
    rows: list[Any] = [(number.to_bytes(8, "big") * (size // 8), []) for number in numbers]
    registry = Confluent()
    values, _ = asyncio.run(decoded(registry, rows, "key"))
    assert values == [row[0] for row in rows]
    assert registry.asked < 100


def test_headers_are_read_only_where_a_word_of_them_is() -> None:
    plain = read_batches(built(CORES[-1], [(0, None, b"v", (("h", b"x"),))] * 3))[0].columns()
    names, numbers, _ = frame_names(plain, plain.value_starts, plain.value_lengths, "value", b"h")
    assert (names, list(numbers)) == ([], [-1] * 3)
