"""Which schema a read is given, by its options."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace
from typing import Any

import pytest

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.sink.formats import WrittenFormats, WrittenOptions
from kcli.cli.commands.pipeline.source.registered import Registered
from kcli.errors import UsageError
from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas.look_up import looked_up
from kcli.pipeline.schemas.wanted import Wanted, absolute, wanted_of
from tests.each import each
from tests.pipeline.schemas.sealing import cells_of, frame

AVRO = {"subscribe": "orders", "valueformat": "avro"}


@each(
    ("given", "subject", "reader"),
    [
        (AVRO, "orders-value", "latest"),
        ({"path": "orders", "valueformat": "AVRO"}, "orders-value", "latest"),
        ({"assign": '{"orders":[0,1]}', "valueformat": "avro"}, "orders-value", "latest"),
        ({**AVRO, "valuesubject": "shop.Order"}, "shop.Order", "latest"),
        ({**AVRO, "subscribe": "a,b", "readerschema": "id:7"}, "", "id:7"),
        ({**AVRO, "readerschema": "file:/tmp/x.avsc"}, "orders-value", "file:/tmp/x.avsc"),
    ],
)
def test_the_subject_is_that_of_the_topic_unless_said(given: dict[str, str], subject: str, reader: str) -> None:
    (found,) = wanted_of(given)
    assert (found.field, found.kind, found.subject, found.reader) == ("value", "AVRO", subject, reader)


@each(
    ("given", "sentence"),
    [
        ({**AVRO, "subscribe": "a,b"}, "option valueSubject is missing: with several topics"),
        ({"subscribepattern": "a.*", "keyformat": "avro"}, "option keySubject is missing"),
        ({**AVRO, "readerschema": "7"}, "option readerSchema must be latest, id:N or file:PATH, not 7"),
        ({**AVRO, "readerschema": "id:x"}, "not id:x"),
        ({**AVRO, "readerschema": "file:"}, "not file:"),
        ({**AVRO, "valueschema": "id INT"}, "option valueSchema is DDL for json and msgpack"),
        ({"subscribe": "orders", "valuesubject": "x"}, "option valueSubject requires valueFormat avro"),
    ],
)
def test_what_names_no_schema_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as found:
        wanted_of(given)
    assert sentence in str(found.value)


@each(
    ("options", "sentence"),
    [
        ({"to_value_subject": "x"}, "--to-value-subject requires --to-value-format avro"),
        ({"to_key_schema": "id:1", "to_value_format": "avro"}, "--to-key-schema requires --to-key-format avro"),
        ({"to_schema_registry": "http://x"}, "--to-schema-registry requires --to-value-format avro"),
        ({"to_value_format": "avro", "register": True}, "--register registers the file of --to-value-schema"),
        ({"to_value_format": "avro", "topic": False}, "--to-value-format needs a topic to write to: add --into"),
        ({"to_key_format": "avro", "connector": "jvm"}, "--to-key-format requires kcli's connector"),
    ],
)
def test_options_of_what_is_written(options: dict[str, Any], sentence: str) -> None:
    topic, connector = options.pop("topic", True), options.pop("connector", "kcli")
    with pytest.raises(UsageError, match=sentence):
        WrittenFormats(WrittenOptions(**options), SimpleNamespace(connector=connector), topic=topic)  # type: ignore[arg-type]


def test_what_is_written_is_read_from_the_line() -> None:
    options = WrittenOptions(to_value_format="protobuf", to_value_schema="latest#Order", to_key_format="avro")
    written = WrittenFormats(options, SimpleNamespace(connector="kcli"), registry="http://r")  # type: ignore[arg-type]
    assert written.typed == {"key", "value"}
    assert written.options({}) == {
        "keyFormat": "avro", "valueFormat": "protobuf", "writerSchema": "latest#Order", "schemaRegistry": "http://r"
    }  # fmt: skip


def test_a_folder_and_a_file_are_meant_from_where_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("file:schemas") == f"file:{tmp_path}/schemas"
    assert absolute("file:a/b.proto#shop.Order") == f"file:{tmp_path}/a/b.proto#shop.Order"
    for text in ("latest", "id:7", "file:", "file:/schemas", "file:///schemas", "https://a:8081"):
        assert absolute(text) == text
    for name in ("schemaregistry", "schema.registry.url", "kafka.schema.registry.url"):
        settings = registry_settings({name: "file:schemas", "kafka.bootstrap.servers": "a:1"})
        assert settings is not None
        assert settings.folder == f"{tmp_path}/schemas"
    payload = PayloadOptions(value_format="avro", schema_registry="file:schemas", reader_schema="file:a.avsc")
    assert Registered(payload).options() == {
        "schemaRegistry": f"file:{tmp_path}/schemas",
        "readerSchema": f"file:{tmp_path}/a.avsc",
    }


def test_executors_need_no_folder_of_schemas(tmp_path: Path) -> None:
    (tmp_path / "ids").mkdir()
    record = '{"type":"record","name":"N","fields":[{"name":"n","type":"%s"}]}'
    for number, kind in ((7, "int"), (8, "long"), (9, "nothing")):
        (tmp_path / "ids" / f"{number}.avsc").write_text(record % kind)
    (tmp_path / "ids" / "3.proto").write_text("broken")
    (tmp_path / "ids" / "9.meta.json").write_text("{")
    sealed = looked_up(Wanted(reader="id:8"), registry_settings({"schemaregistry": f"file:{tmp_path}"}))
    rmtree(tmp_path)
    assert cells_of(sealed, frame(7, b"\2"), frame(8, b"\4")) == ([{"n": 1}, {"n": 2}], {})
