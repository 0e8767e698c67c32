"""Which schema a read is given, by its options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kcli.cli.commands.pipeline.sink.formats import WrittenFormats, WrittenOptions
from kcli.errors import UsageError
from kcli.pipeline.schemas.wanted import wanted_of
from tests.each import each

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
        ({**AVRO, "readerschema": "7"}, "option readerSchema is latest, id:N or file:PATH, not 7"),
        ({**AVRO, "readerschema": "id:x"}, "not id:x"),
        ({**AVRO, "readerschema": "file:"}, "not file:"),
        ({**AVRO, "valueschema": "id INT"}, "option valueSchema is DDL for json and msgpack"),
        ({"subscribe": "orders", "valuesubject": "x"}, "option valueSubject goes with valueFormat avro"),
    ],
)
def test_what_names_no_schema_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as found:
        wanted_of(given)
    assert sentence in str(found.value)


@each(
    ("options", "sentence"),
    [
        ({"to_value_subject": "x"}, "--to-value-subject goes with --to-value-format avro"),
        ({"to_key_schema": "id:1", "to_value_format": "avro"}, "--to-key-schema goes with --to-key-format avro"),
        ({"to_schema_registry": "http://x"}, "--to-schema-registry goes with --to-value-format avro"),
        ({"to_value_format": "avro", "register": True}, "--register registers the file of --to-value-schema"),
        ({"to_value_format": "avro", "topic": False}, "--to-value-format is about the records of a topic: --into"),
        ({"to_key_format": "avro", "connector": "jvm"}, "--to-key-format is kcli's"),
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
