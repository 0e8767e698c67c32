"""Payloads whose schema the user names: without a frame, or with one whose registry is not at hand."""

from __future__ import annotations

import json
import pickle
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.source.registered import Registered
from kcli.errors import UsageError
from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas.fields import column_of, field_of
from kcli.pipeline.schemas.look_up import looked_up
from kcli.pipeline.schemas.wanted import wanted_of
from kcli.proto.plain.gather import spans
from kcli.proto.spans import Gathered
from tests.each import each
from tests.pipeline.schemas.sealing import NO_HEADERS, frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.pipeline.schemas.sealed import SealedSchemas
    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

NOTE = '{"type":"record","name":"Note","fields":[{"name":"id","type":"int"},{"name":"text","type":"string"}]}'
NEWER = NOTE.replace('"int"', '"long"').replace("]}", ',{"name":"more","type":"int","default":5}]}')
PAYLOAD, ROW = b"\x0e\4hi", {"id": 7, "text": "hi"}
PROTO = 'syntax = "proto3"; package shop; message Left { int32 n = 1; } message Note { int32 id = 1; string text = 2; }'
MESSAGE = b"\x08\7\x12\2hi"
OBJECT = '{"type":"object","properties":{"id":{"type":"integer"},"text":{"type":"string"}}}'
GUID = bytes(range(16))


def sealed(registry: str = "", field: str = "value", form: str = "avro", **options: str) -> SealedSchemas:
    """As the driver looks it up, and as a task gets it."""
    given = {"subscribe": "notes", f"{field}format": form, "kafka.bootstrap.servers": "127.0.0.1:9"}
    given |= {"schemaregistry": registry} if registry else {}
    (wanted,) = wanted_of(given | {name.lower(): text for name, text in options.items()})
    settings = registry_settings(given) if registry else None
    return pickle.loads(pickle.dumps(looked_up(wanted, settings)))  # type: ignore[no-any-return]


def read(known: SealedSchemas, *values: bytes | None, got: Gathered = NO_HEADERS) -> tuple[list[Any], dict[int, str]]:
    made, errors = field_of(known)(pa.array(values, pa.binary()), got)
    made.validate(full=True)
    return made.to_pylist(), errors


@pytest.fixture
def folder(tmp_path: Path) -> str:
    versions = {"subjects/notes-value/1.avsc": NOTE, "subjects/notes-value/2.avsc": NEWER}
    for place, text in {"ids/7.avsc": NOTE, "ids/8.proto": PROTO, **versions}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    return f"file:{tmp_path}"


@each("spec", ["id:7", "notes-value@1", "topic@1"])
def test_values_without_a_frame_are_columns_of_the_schema_that_is_said(spec: str, folder: str) -> None:
    found = sealed(folder, valueSchema=spec)
    assert read(found, PAYLOAD, None, PAYLOAD, b"\x0e\4h") == (
        [ROW, None, ROW, None], {3: "the payload ends in the middle of a value"}
    )  # fmt: skip
    assert [part.name for part in column_of(found).parts] == ["id", "text"]


def test_a_reader_of_its_own_resolves_them(folder: str) -> None:
    found = sealed(folder, valueSchema="id:7", readerSchema="latest")
    assert read(found, PAYLOAD) == ([{**ROW, "more": 5}], {})
    assert read(sealed(folder, valueSchema="topic"), b"\x0e\4hi\6") == ([{**ROW, "more": 3}], {})


def test_a_file_needs_no_registry_and_keys_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "note.avsc").write_text(NOTE)
    (tmp_path / "newer.avsc").write_text(NEWER)
    place = f"file:{tmp_path}/note.avsc"
    assert read(sealed(field="key", keySchema=place), PAYLOAD) == ([ROW], {})
    both = sealed(valueSchema=place, readerSchema=f"file:{tmp_path}/newer.avsc")
    assert read(both, PAYLOAD) == ([{**ROW, "more": 5}], {})
    with pytest.raises(UsageError, match="requires schemaRegistry"):
        sealed(valueSchema=place, readerSchema="id:7")
    with pytest.raises(UsageError, match=r"option valueSchema file:.*gone\.avsc: .*No such file"):
        sealed(valueSchema=f"file:{tmp_path}/gone.avsc")


@each("front", [frame(9, b""), b"\1" + GUID, b"\3\0" + GUID, b"\xc3\1" + GUID[:8]])
def test_frames_of_a_registry_that_is_not_at_hand_are_passed(front: bytes, folder: str) -> None:
    found = sealed(valueSchema=f"{folder}/ids/7.avsc")
    assert read(found, front + PAYLOAD, None, front + PAYLOAD) == ([ROW, None, ROW], {})
    rows, errors = read(found, front + PAYLOAD, PAYLOAD)
    assert (rows[1], list(errors)) == (ROW, [0]), "all rows have a frame, or none"


def test_S1_the_frame_names_the_writers_schema_where_the_registry_is_at_hand(folder: str) -> None:
    """And the named one reads records without a frame, and those that begin like one by chance."""
    place = Path(folder.removeprefix("file:"), "ids")
    names = ("paid", "refunded")
    for id, order in ((1, names), (2, names[::-1])):
        fields = [{"name": name, "type": "int", "default": 0} for name in order]
        (place / f"{id}.avsc").write_text(json.dumps({"type": "record", "name": "Order", "fields": fields}))
    found = sealed(folder, valueSchema="id:2")
    paid = {"refunded": 0, "paid": 100}
    assert read(found, frame(1, b"\xc8\1\0"), None, b"\0\xc8\1") == ([paid, None, paid], {})
    rows, errors = read(found, frame(9, b"\xc8\1\0"), frame(1, b"\xc8\1"), b"\0")
    assert (rows, list(errors)) == ([None] * 3, [0, 1, 2])
    assert "9" in errors[0]
    fields = [{"name": f"f{n}", "type": "int", "default": 0} for n in range(6)]
    (place / "6.avsc").write_text(json.dumps({"type": "record", "name": "Six", "fields": fields}))
    six = {f"f{n}": value for n, value in enumerate((0, 0, 0, 0, -1, 2))}
    found = sealed(folder, valueSchema="id:6")
    assert read(found, frame(1, b"\4"), frame(77, b"\4")) == ([six, {**six, "f4": -39}], {})


def test_S1_a_message_is_the_one_of_the_writers_file(folder: str) -> None:
    place = Path(folder.removeprefix("file:"), "ids", "9.proto")
    place.write_text('syntax = "proto3"; package shop; message Note { int32 id = 1; string body = 2; }')
    found = sealed(folder, form="protobuf", valueSchema="id:9")
    body = {"id": 7, "body": "hi"}
    assert read(found, frame(8, b"\2\2") + MESSAGE, MESSAGE) == ([body, body], {})


def test_a_bare_payload_that_begins_as_a_frame_is_no_frame(tmp_path: Path) -> None:
    fields = [{"name": f"f{n}", "type": "int"} for n in range(6)]
    (tmp_path / "six.avsc").write_text(json.dumps({"type": "record", "name": "R", "fields": fields}))
    found = sealed(valueSchema=f"file:{tmp_path}/six.avsc")
    assert read(found, b"\0\0\0\0\2\4") == ([{"f0": 0, "f1": 0, "f2": 0, "f3": 0, "f4": 1, "f5": 2}], {})


def test_messages_without_indexes_are_the_one_that_is_said_or_that_a_header_names(folder: str) -> None:
    found = sealed(folder, form="protobuf", valueSchema="id:8#Note")
    assert read(found, MESSAGE, None, b"") == ([ROW, None, {"id": None, "text": None}], {})
    assert read(found, frame(8, b"\2\2") + MESSAGE) == ([ROW], {}), "behind its indexes"
    first = sealed(folder, form="protobuf", valueSchema="id:8", readerSchema="id:8#Note")
    assert read(first, MESSAGE)[1] == {0: "it is a message shop.Left, but values are read as shop.Note"}
    titles = spans([b"buf.registry.value.schema.message"] * 2)
    contents = spans([b"shop.Note", b"shop.None"])
    got = Gathered(3, b"", b"", b"", None, None, array("i", [0, 1, 1, 2]).tobytes(), titles, contents)
    rows, errors = read(first, MESSAGE, MESSAGE, MESSAGE, got=got)
    assert rows == [ROW, None, None]
    assert "shop.Left" in errors[1]
    assert "shop.None" in errors[2]


def test_json_without_a_frame_is_columns_of_its_schema(tmp_path: Path) -> None:
    (tmp_path / "note.json").write_text(OBJECT)
    found = sealed(form="json-schema", valueSchema=f"file:{tmp_path}/note.json")
    rows, errors = read(found, b'{"id":7,"text":"hi"}', None, b"{")
    assert (rows[:2], list(errors)) == ([ROW, None], [2])


def test_rules_are_run_about_bare_payloads_and_what_is_encrypted_is_refused(folder: str) -> None:
    (place,) = [Path(folder.removeprefix("file:"), "ids")]
    rule = {"name": "short", "kind": "CONDITION", "mode": "READ", "type": "CEL", "expr": "size(message.text) < 3"}
    (place / "7.meta.json").write_text(json.dumps({"ruleSet": {"domainRules": [rule]}}))
    rows, errors = read(sealed(folder, valueSchema="id:7"), PAYLOAD, b"\x0e\6hey")
    assert (rows, list(errors)) == ([ROW, None], [1])
    assert read(sealed(folder, valueSchema="id:7", withoutRules="true"), b"\x0e\6hey")[1] == {}
    (place / "8.meta.json").write_text(json.dumps({"ruleSet": {"domainRules": [rule]}}))
    with pytest.raises(UsageError, match=r"rules for reading, .* framed messages \(option withoutRules true\)"):
        sealed(folder, form="protobuf", valueSchema="id:8#Note")


@each(
    ("given", "sentence"),
    [
        ({"valueschema": "id INT"}, "option valueSchema is DDL for json and msgpack; for avro, set"),
        (
            {"valueschema": "id:x"},
            "option valueSchema must be id:N, file:PATH, SUBJECT[@VERSION] or topic[@VERSION], not",
        ),
        ({"valueschema": "file:"}, "not file:"),
        ({"valueschema": "orders@x"}, "not orders@x"),
        ({"valueschema": "@1"}, "not @1"),
        ({"valueschema": "#Note"}, "not #Note"),
    ],
)
def test_what_names_no_schema_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as found:
        wanted_of({"subscribe": "orders", "valueformat": "avro", **given})
    assert sentence in str(found.value)


def test_a_line_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    payload = PayloadOptions(value_format="avro", value_schema="file:a.avsc", key_format="json", key_schema="id INT")
    assert Registered(payload).options() == {"valueSchema": f"file:{tmp_path}/a.avsc"}


def test_bare_records_of_a_topic_are_columns(
    spark: SparkSession, topics: Topics, registry: Registry, tmp_path: Path
) -> None:
    topic = topics.make()
    (framed,) = registry.avro(topic, json.loads(NOTE), ROW)
    registry.register(f"{topic}-value", NEWER)
    topics.fill(topic, [(0, None, PAYLOAD, framed[5:], ()), (0, None, None, None, ()), (0, None, None, b"\x0e", ())])
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "valueFormat": "avro", "onBad": "null"}
    given |= {"schemaRegistry": registry.url, "valueSchema": "topic@1", "readerSchema": "latest"}
    given |= {"keyFormat": "avro", "keySchema": "topic@1", "keySubject": f"{topic}-value"}
    found = spark.read.format("kcli").options(**given, columns="key,value,valueError,offset").load()
    rows = [row.asDict(True) for row in found.orderBy("offset").collect()]
    assert [row["value"] for row in rows] == [{**ROW, "more": 5}, None, None]
    assert [row["key"] for row in rows] == [ROW, None, None]
    assert [row["valueError"] for row in rows] == [None, None, "the payload ends in the middle of a value"]
