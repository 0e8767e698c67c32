"""The subject that a strategy leads to: of what is read, and of what is written and registered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from pyspark.sql.types import LongType, StructField, StructType

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.sink.formats import WrittenFormats, WrittenOptions
from kcli.cli.commands.pipeline.source.registered import Registered
from kcli.errors import UsageError
from kcli.pipeline.data_source import KcliDataSource
from kcli.pipeline.schemas.wanted import wanted_of
from tests.each import each
from tests.registry.scripted import Asked, Scripted, answer, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

AVRO = {"subscribe": "orders", "valueformat": "avro"}
ROW = StructType([StructField("id", LongType())])
JAVA = "io.confluent.kafka.serializers.subject."


def order(*names: str) -> str:
    fields = [{"name": name, "type": "long", "default": 0} for name in ("id", *names)]
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields})


def columns(registry: str, topics: str = "orders", **options: str) -> str:
    """The type of the values that are read."""
    given = {"kafka.bootstrap.servers": "127.0.0.1:9", "subscribe": topics, "columns": "value", "valueFormat": "avro"}
    return KcliDataSource(given | {"schemaRegistry": registry} | options).schema().removeprefix("`value` ")


@each(
    ("strategy", "reader", "names"),
    [
        ("record", "latest#shop.Order", "rec"),
        (f"{JAVA}RecordNameStrategy", "latest#shop.Order", "rec"),
        ("topic-record", "latest#shop.Order", "both"),
        ("topic", "latest", "top"),
        ("associated", "latest", "top"),
        ("", "latest", "top"),
    ],
)
def test_the_latest_schema_is_that_of_the_strategys_subject(
    strategy: str, reader: str, names: str, registry: Registry
) -> None:
    for subject, name in (("shop.Order", "rec"), ("orders-shop.Order", "both"), ("orders-value", "top")):
        registry.register(subject, order(name))
    found = columns(registry.url, valueSubjectStrategy=strategy, readerSchema=reader)
    assert found == f"STRUCT<`id`: BIGINT, `{names}`: BIGINT>"


def test_a_record_needs_no_topic_and_keys_have_a_strategy_of_their_own(registry: Registry) -> None:
    registry.register("shop.Order", order("rec"))
    registry.register("orders-key", '"long"')
    named = {"valueSubjectStrategy": "record", "readerSchema": "latest#shop.Order"}
    assert "`rec`" in columns(registry.url, "orders,others", **named)
    assert columns(registry.url, columns="key,value", keyFormat="avro", **named).startswith("`key` BIGINT, `value` STR")


@each(
    ("said", "subject"),
    [(answer([{"subject": "theirs"}]), "theirs"), (answer([]), "orders-value"), (refusal(404, 0), "orders-value")],
)
def test_an_association_goes_before_the_topic(said: bytes, subject: str) -> None:
    def route(asked: Asked) -> bytes:
        if asked.path.startswith("/associations/"):
            return said
        return answer([1] if asked.path.endswith("/versions") else {"schema": order("own"), "id": 3, "version": 1})

    with Scripted() as server:
        server.route = route
        assert "`own`" in columns(server.url, valueSubjectStrategy="associated")
        assert f"/subjects/{subject}/versions/latest" in server.paths()


@each(
    ("given", "sentence"),
    [
        (
            {"valuesubjectstrategy": "name"},
            "option valueSubjectStrategy must be topic, record, topic-record or associated",
        ),
        ({"valuesubjectstrategy": "record"}, "readerSchema must be latest#NAME"),
        ({"valuesubjectstrategy": "record", "valuesubject": "x"}, "and valueSubject both set the subject"),
        (
            {"subscribe": "a,b", "valuesubjectstrategy": "topic-record", "readerschema": "latest#N"},
            "option valueSubject is missing",
        ),
        ({"subscribe": "a,b", "valuesubjectstrategy": "associated"}, "option valueSubject is missing"),
        (
            {"valueformat": "json", "valuesubjectstrategy": "record"},
            "option valueSubjectStrategy requires valueFormat",
        ),
        ({"readerschema": "latest#shop.Order"}, "option readerSchema: #shop.Order must name a Protobuf message, or"),
    ],
)
def test_what_leads_to_no_subject_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as found:
        wanted_of(AVRO | given)
    assert sentence in str(found.value)


PROTO = 'syntax = "proto3"; package shop; message Line { int64 n = 1; } message Sale { int64 id = 1; }'
OBJECT = '{"title":"Sale","type":"object","properties":{"id":{"type":"integer"}}}'


@each(
    ("form", "name", "text", "strategy", "subject"),
    [
        ("avro", "a.avsc", order(), "record", "shop.Order"),
        ("avro", "a.avsc", order(), "topic-record", "sales-shop.Order"),
        ("protobuf", "a.proto#Sale", PROTO, "record", "shop.Sale"),
        ("protobuf", "a.proto", PROTO, "topic-record", "sales-shop.Line"),
        ("json-schema", "a.json", OBJECT, "record", "Sale"),
        ("avro", "a.avsc", order(), "associated", "sales-value"),
    ],
)
def test_a_file_is_registered_under_the_strategys_subject(
    form: str, name: str, text: str, strategy: str, subject: str, registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / name.partition("#")[0]).write_text(text)
    options: Any = {"kafka.bootstrap.servers": "127.0.0.1:9", "topic": "sales", "valueFormat": form}
    options |= {"schemaRegistry": registry.url, "writerSchema": f"file:{tmp_path}/{name}"}
    options |= {"registerSchemas": "true", "valueSubjectStrategy": strategy}
    for known in registry.client.get_subjects():
        registry.client.delete_subject(known)
    writer = KcliDataSource(options).writer(StructType([StructField("value", ROW)]), overwrite=False)
    assert registry.client.get_subjects() == [subject]
    assert registry.client.get_latest_version(subject).schema_id == writer.schemas["value"].reader.schema.id


def test_a_schema_without_a_name_is_registered_under_none(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "a.avsc").write_text('"long"')
    given = {"kafka.bootstrap.servers": "127.0.0.1:9", "topic": "ids", "valueFormat": "avro"}
    given |= {"schemaRegistry": registry.url, "writerSchema": f"file:{tmp_path}/a.avsc", "registerSchemas": "true"}
    source = KcliDataSource(given | {"valueSubjectStrategy": "record"})
    with pytest.raises(UsageError, match="strategy record needs a schema with a name"):
        source.writer(StructType([StructField("value", LongType())]), overwrite=False)
    reading = given | {"subscribe": "ids", "readerSchema": given["writerSchema"], "valueSubjectStrategy": "record"}
    for name in ("topic", "writerSchema", "registerSchemas"):
        del reading[name]
    assert KcliDataSource(reading | {"columns": "value"}).schema() == "`value` BIGINT", "read it is all the same"


def test_a_line_names_the_strategies() -> None:
    payload = PayloadOptions(value_format="avro", key_format="avro", value_subject_strategy="record")
    payload = payload.replace(key_subject_strategy="associated", reader_schema="latest#shop.Order")
    assert Registered(payload).options() == {
        "valueSubjectStrategy": "record", "keySubjectStrategy": "associated", "readerSchema": "latest#shop.Order"
    }  # fmt: skip
    with pytest.raises(UsageError, match="--value-subject-strategy requires --value-format avro"):
        Registered(PayloadOptions(value_subject_strategy="record"))
    options = WrittenOptions(to_value_format="avro", to_value_subject_strategy="topic-record")
    frame: Any = type("Frame", (), {"connector": "kcli"})
    assert WrittenFormats(options, frame).options({}) == {
        "valueFormat": "avro", "valueSubjectStrategy": "topic-record"
    }  # fmt: skip
    with pytest.raises(UsageError, match="--to-key-subject-strategy requires --to-key-format avro"):
        WrittenFormats(options.replace(to_key_subject_strategy="record"), frame)


def test_rows_go_by_the_records_subject_and_are_read_by_it(
    spark: SparkSession, topics: Topics, registry: Registry
) -> None:
    topic = topics.make()
    number = registry.register("shop.Row", order().replace('"Order"', '"Row"'))
    given = {"kafka.bootstrap.servers": topics.bootstrap, "valueFormat": "avro", "schemaRegistry": registry.url}
    given |= {"valueSubjectStrategy": "record"}
    rows = spark.sql("SELECT named_struct('id', id) AS value FROM range(3)")
    written = rows.write.format("kcli").mode("append").options(**given, topic=topic)
    written.options(writerSchema="latest#shop.Row").save()
    front = b"\0" + number.to_bytes(4, "big")
    assert {record.value for _, record in topics.read(topic)} == {front + bytes([2 * n]) for n in range(3)}
    found = spark.read.format("kcli").options(**given, subscribe=topic, readerSchema="latest#shop.Row").load()
    assert sorted(row.value.id for row in found.collect()) == [0, 1, 2]
