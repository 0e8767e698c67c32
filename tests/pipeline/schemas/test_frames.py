"""Frames of other serializers than Confluent's, as typed columns: what `kcli consume` reads, Spark reads."""

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa

from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas import reading
from kcli.pipeline.schemas.fields import column_of, field_of
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.plain.gather import spans
from kcli.proto.spans import Gathered
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema, SchemaRefused
from tests.each import each
from tests.serde.schemas.test_frames import EVENTS, GLUE, GUID, NOTE, PAYLOAD, PROTO, RECORDED, SHOWN
from tests.serde.schemas.test_frames import folder as folder
from tests.serde.schemas.test_kafkajs import KINDS, NESTED, PROTOBUFS, TWO, shown
from tests.serde.schemas.test_kafkajs import RECORDED as KAFKAJS

ROW = {"id": 7, "text": "hi"}
MESSAGE = b"\x08\7\x12\2hi"
OBJECT = '{"type":"object","properties":{"id":{"type":"integer"},"text":{"type":"string"}}}'
READERS = {"avro": (AVRO, NOTE), "protobuf": (PROTOBUF, PROTO), "json-schema": (JSON, OBJECT)}
GUID_BYTES = bytes.fromhex(GUID.replace("-", ""))
Headers = list[tuple[str, bytes | None]]


def nothing_asked_yet() -> None:
    """What others asked of folders is forgotten."""
    reading._found.clear()


@pytest.fixture(autouse=True)
def fresh() -> None:
    nothing_asked_yet()


def read(
    place: Path,
    form: str,
    rows: list[tuple[bytes | None, Headers]],
    *,
    kind: str = "value",
    schema: str = "",
    message: str = "",
) -> tuple[list[Any], dict[int, str]]:
    """The cells of keys or values by the schemas of a folder, read with that of READERS or another one."""
    settings = registry_settings({"schemaregistry": f"file:{place}"})
    assert settings is not None
    known = Known(schema=Schema(kind=READERS[form][0], text=schema or READERS[form][1]))
    sealed = SealedSchemas(field=kind, form=form, reader=known, message=message, settings=settings)
    flat = [header for _, headers in rows for header in headers]
    ends = [0]
    for _, headers in rows:
        ends.append(ends[-1] + len(headers))
    titles, contents = spans([name.encode() for name, _ in flat]), spans([content for _, content in flat])
    got = Gathered(len(rows), b"", b"", b"", None, None, array("i", ends).tobytes(), titles, contents)
    made, errors = field_of(sealed)(pa.array([value for value, _ in rows], pa.binary()), got)
    made.validate(full=True)
    return made.to_pylist(), errors


@each("row", RECORDED)
def test_frames_that_java_wrote_are_columns(row: dict[str, Any], folder: Any, tmp_path: Path) -> None:
    headers: Headers = [(name, b64decode(held)) for name, held in row["headers"]]
    of_messages = "protobuf" in row["form"]
    form = "protobuf" if of_messages else "avro"
    rows, errors = read(tmp_path, form, [(b64decode(row["value"]), headers)], message="Note" if of_messages else "")
    text = "hi" if of_messages or "coordinates" in row["form"] else "hi" + " hi" * 18
    assert (rows, errors) == ([{"id": 7, "text": text}], {}), row["form"]


@each("row", EVENTS)
def test_events_are_columns_by_the_schema_of_their_uri(row: dict[str, Any], folder: Any, tmp_path: Path) -> None:
    headers: Headers = [(name, b64decode(held)) for name, held in row["headers"]]
    value = b64decode(row["value"])
    form = "avro" if value == PAYLOAD else "protobuf"
    assert read(tmp_path, form, [(value, headers)], message="" if form == "avro" else "Note") == ([ROW], {})


def test_headers_of_azure_apicurio_and_confluent_name_schemas(folder: Any, tmp_path: Path) -> None:
    azure: Any = ("content-type", b"avro/binary+" + GUID.replace("-", "").encode())
    one = (1).to_bytes(8, "big")
    rows: list[tuple[bytes | None, Headers]] = [
        (PAYLOAD, [azure]),
        (PAYLOAD, [("a", None), ("__value_schema_id", b"\1" + GUID_BYTES)]),
        (PAYLOAD, [("__value_schema_id", b"\0\0\0\0\1")]),
        (SHOWN, [("apicurio.value.globalId", one), ("apicurio.value.encoding", b"JSON")]),
        (b"no JSON", [("apicurio.value.globalId", one), ("apicurio.value.encoding", b"JSON")]),
        (None, [azure]),
        (PAYLOAD, [("apicurio.key.globalId", one)]),
        (b"\0\0\0\0\1" + PAYLOAD, []),
        (b"\1" + GUID_BYTES + PAYLOAD, [("content-type", b"text/plain")]),
    ]
    cells, errors = read(tmp_path, "avro", rows)
    assert cells == [ROW, ROW, ROW, ROW, None, None, None, ROW, ROW]
    assert sorted(errors) == [4, 6]
    assert errors[4].startswith("the JSON of its schema: ")
    assert errors[6] == "no schema id is in front of it"
    assert read(tmp_path, "avro", rows[6:7], kind="key") == ([ROW], {})


def test_messages_are_named_by_headers_and_numbers(folder: Any, tmp_path: Path) -> None:
    third = "3" + GUID[1:]
    buf: Any = ("buf.registry.value.schema.message", b"shop.Note")
    typed: Any = [("apicurio.value.contentId", (2).to_bytes(8, "big")), ("apicurio.protobuf.type", b"Note")]
    glue = b"\3\0" + bytes.fromhex(third.replace("-", ""))
    packed = b"\3\5" + glue[2:]
    rows: list[tuple[bytes | None, Headers]] = [
        (MESSAGE, [buf, ("buf.registry.value.schema.commit", third.replace("-", "").encode())]),
        (MESSAGE, typed),
        (SHOWN, [typed[0], ("apicurio.value.encoding", b"json")]),
        (glue + b"\0" + MESSAGE, []),
        (packed + zlib.compress(b"\0" + MESSAGE), []),
        (glue + b"\1", []),
        (glue + b"\2", []),
        (glue, []),
        (b"", [(buf[0], b"shop.Other")]),
        (MESSAGE, [(buf[0], b"shop.Unknown")]),
    ]
    cells, errors = read(tmp_path, "protobuf", rows, message="Note")
    assert cells == [ROW] * 5 + [None] * 5
    assert errors[5] == errors[8] == "it is a message shop.Other, but values are read as shop.Note"
    assert errors[6] == "its schema has no message with the number 2"
    assert errors[7] == "the payload ends in the middle of a value"
    assert "shop.Unknown" in errors[9]


@each("packed", [b"nix", zlib.compress(PAYLOAD)[:-1], zlib.compress(PAYLOAD) + b"x", zlib.compress(bytes(1 << 20), 9)])
def test_compressed_payloads_that_are_refused(packed: bytes, folder: Any, tmp_path: Path) -> None:
    cells, errors = read(tmp_path, "avro", [(GLUE + packed, []), (GLUE + zlib.compress(PAYLOAD), [])])
    assert cells == [None, ROW]
    assert list(errors) == [0]


def test_json_that_apicurio_wrote_is_json(folder: Any, tmp_path: Path) -> None:
    (tmp_path / "ids" / "5.json").write_text(OBJECT)
    one = (5).to_bytes(8, "big")
    rows: list[tuple[bytes | None, Headers]] = [(SHOWN, [("apicurio.value.globalId", one)]), (b"\0" + one + SHOWN, [])]
    rows.append((SHOWN, [("apicurio.value.contentId", one), ("apicurio.value.encoding", b"JSON")]))
    assert read(tmp_path, "json-schema", rows) == ([ROW] * 3, {})


@each("row", KAFKAJS, ids=lambda row: row["form"])
def test_frames_that_kafkajs_wrote_are_columns(row: dict[str, Any], tmp_path: Path) -> None:
    nothing_asked_yet()
    (tmp_path / "ids").mkdir(exist_ok=True)
    (tmp_path / "ids" / f"{row['id']}.{KINDS[row['form']][1]}").write_text(row["schema"])
    form = "json-schema" if row["form"] == "json" else row["form"]
    message = "" if row not in PROTOBUFS else read_as(tmp_path, row)
    text = without_parent(row["schema"]) if form == "avro" else row["schema"]
    cells, errors = read(tmp_path, form, [(b64decode(row["frame"]), [])], schema=text, message=message)
    assert errors == {}
    expected = {name: inner for name, inner in shown(row["value"]).items() if name != "parent"}
    assert plain(cells[0]).items() >= plain(expected).items()


def without_parent(text: str) -> str:
    """A record within itself is no column."""
    schema = json.loads(text)
    fields = [field for field in schema["fields"] if field["name"] != "parent"]
    return json.dumps(schema | {"fields": fields})


def read_as(place: Path, row: dict[str, Any]) -> str:
    """The message that the reason for a value of another one names."""
    other = 'syntax = "proto3"; message Unlike { string none = 90; }'
    _, errors = read(place, "protobuf", [(b64decode(row["frame"]), [])], schema=other)
    return errors[0].split()[4].rstrip(",")


def plain(value: Any) -> Any:
    """Columns and JSON alike: maps are objects, bytes are texts."""
    from base64 import b64encode

    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        pairs = value and all(isinstance(one, tuple) for one in value)
        return {name: plain(inner) for name, inner in value} if pairs else [plain(one) for one in value]
    return value


@each(
    ("schema", "message", "payload", "found"),
    [
        (TWO, "B", b"\x0a\2hi\x10\5", {"x": "hi", "y": 5}),
        (
            TWO,
            "",
            b"\x0a\2hi",
            "it has no message indexes, and A and B can all read it; add #MESSAGE to the reader's schema",
        ),
        (TWO, "B", b"\x0a\2hi", {"x": "hi", "y": None}),
        (TWO, "A", b"\x20\1", "it is a message B.In, but values are read as A"),
        (TWO, "A", b"\x28\1", "its message indexes are not Confluent's"),
        (TWO, "A", b"\2\2\x0a\1", "it is a message B, but values are read as A"),
        (NESTED, "A", b"\x08\0\0\0\0\x08\7", "it is a message A.B.C.D, but values are read as A"),
        (NESTED, "A.B.C.D", b"\x08\0\0\0\0\x08\7", {"n": 7}),
    ],
)
def test_without_indexes_nothing_is_guessed(
    schema: str, message: str, payload: bytes, found: Any, tmp_path: Path
) -> None:
    nothing_asked_yet()
    (tmp_path / "ids").mkdir(exist_ok=True)
    (tmp_path / "ids" / "9.proto").write_text(schema)
    frame = b"\0\0\0\0\x09" + payload
    cells, errors = read(tmp_path, "protobuf", [(frame, [])], schema=schema, message=message)
    if isinstance(found, dict):
        assert (cells, errors) == ([found], {})
    else:
        assert errors[0].startswith(found)


RULES = {"domainRules": [{"name": "ssn", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"],
                          "params": {"encrypt.kek.name": "kek-1"}}]}  # fmt: skip


def test_encrypted_values_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "1.avsc").write_text(NOTE)
    (tmp_path / "ids" / "1.meta.json").write_text(json.dumps({"ruleSet": RULES}))
    (tmp_path / "ids" / "2.avsc").write_text(NOTE)
    rows: list[tuple[bytes | None, Headers]] = [(b"\0\0\0\0\1" + PAYLOAD, []), (b"\0\0\0\0\2" + PAYLOAD, [])]
    assert read(tmp_path, "avro", rows) == ([None, ROW], {0: "encrypted: kek-1"})
    schema = Schema(text=NOTE, subject="notes-value", version=3, rule_set=json.dumps(RULES))
    with pytest.raises(SchemaRefused) as refused:
        column_of(SealedSchemas(reader=Known(schema=schema)))
    assert str(refused.value) == (
        "notes-value version 3 encrypts values (rule ssn, ENCRYPT, key kek-1), but kcli has no key: read them as "
        "valueFormat binary"
    )


def test_the_latest_version_of_an_artifact_is_asked_for_by_each_task(folder: Any, tmp_path: Path) -> None:
    headers: Headers = [("apicurio.value.artifactId", b"notes")]
    assert read(tmp_path, "avro", [(PAYLOAD, headers)]) == ([ROW], {})
    newer = NOTE.replace('"int"', '"string"')
    (tmp_path / "subjects" / "notes" / "2.avsc").write_text(newer)
    cells, errors = read(tmp_path, "avro", [(b"\2x\4hi", headers)], schema=newer)
    assert (cells, errors) == ([{"id": "x", "text": "hi"}], {})
