"""Rows written by the schema of a file: it is registered only with registerSchemas, once, after all checks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from pyspark.sql.types import LongType, StructField, StructType

from kcli.errors import UsageError
from kcli.pipeline.data_source import KcliDataSource
from kcli.pipeline.schemas.wanted import wanted_of
from kcli.registry.errors import RegistryError
from kcli.schemas import SchemaRefused
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

ROW = StructType([StructField("id", LongType())])


def order(*more: Any) -> str:
    fields = [{"name": "id", "type": "long"}, *more]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


class Written:
    """A topic that is written by the schema of a file."""

    def __init__(self, registry: Registry, topic: str, folder: Path) -> None:
        self.registry, self.subject = registry, f"{topic}-value"
        self.file = folder / "order.avsc"
        self.options = {
            "kafka.bootstrap.servers": "127.0.0.1:9", "topic": topic, "valueFormat": "avro",
            "schemaRegistry": registry.url, "writerSchema": f"file:{self.file}",
        }  # fmt: skip

    def by(self, text: str, column: str = "value", **more: str) -> int:
        """The id of the schema that rows are written by."""
        self.file.write_text(text)
        writer = KcliDataSource(self.options | more).writer(StructType([StructField(column, ROW)]), overwrite=False)
        return int(writer.schemas["value"].reader.schema.id)

    @property
    def versions(self) -> list[int]:
        if self.subject not in self.registry.client.get_subjects():
            return []
        return [int(number) for number in self.registry.client.get_versions(self.subject)]


@pytest.fixture
def topic(registry: Registry, tmp_path: Path, request: pytest.FixtureRequest) -> Written:
    return Written(registry, request.node.name, tmp_path)


def test_nothing_is_registered_unless_it_is_said(topic: Written) -> None:
    with pytest.raises(UsageError, match=rf"{topic.subject} has no schema; registerSchemas=true registers it"):
        topic.by(order())
    assert topic.versions == []
    number = topic.registry.register(topic.subject, order())
    assert topic.by(order()) == number, "the latest needs no registration"
    with pytest.raises(UsageError, match=rf"latest version of {topic.subject} is another schema; registerSchemas=true"):
        topic.by(order({"name": "note", "type": ["null", "string"], "default": None}))
    assert topic.versions == [1]


def test_a_file_is_registered_once(topic: Written) -> None:
    number = topic.by(order(), registerSchemas="true")
    assert topic.by(order(), registerSchemas="true") == number
    assert topic.versions == [1]
    assert topic.registry.latest(topic.subject) == (number, json.loads(order()))


def test_what_does_not_pass_is_not_registered(topic: Written, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = {"registerSchemas": "true"}
    with pytest.raises(SchemaRefused):
        topic.by('{"type":"record"}', **said)
    with pytest.raises(UsageError, match="column value is missing"):
        topic.by(order(), "other", **said)
    (tmp_path / "config.toml").write_text('[profiles.ro]\nbootstrap = "127.0.0.1:9"\nread_only = true\n')
    monkeypatch.setenv("KCLI_CONFIG", str(tmp_path / "config.toml"))
    with pytest.raises(UsageError, match="refused by read-only profile ro: POST"):
        topic.by(order(), **said, context="ro")
    assert topic.versions == []
    topic.registry.register(topic.subject, order())
    with pytest.raises(RegistryError, match="incompatible"):
        topic.by(order({"name": "note", "type": "string"}), **said)
    assert topic.versions == [1]


def test_rules_of_the_latest_are_those_of_a_new_version(topic: Written) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet, Schema

    rule = Rule("ssn", "", RuleKind.TRANSFORM, RuleMode.WRITEREAD, "ENCRYPT", ["PII"], None, None, None, None, False)
    schema = Schema(order(), "AVRO", rule_set=RuleSet(None, [rule]))
    topic.registry.client.register_schema(topic.subject, schema)
    with pytest.raises(UsageError, match=rf"{topic.subject} version 1 has the rule ssn \(ENCRYPT\) for writing"):
        topic.by(order({"name": "n", "type": "int", "default": 0}), registerSchemas="true")
    assert topic.versions == [1]


@each(
    ("given", "sentence"),
    [
        ({"registerschemas": "true"}, "writerSchema or keyWriterSchema file:PATH"),
        ({"registerschemas": "yes", "writerschema": "file:x"}, "option registerSchemas must be true or false, not yes"),
        ({"writerschema": "file:"}, "option writerSchema must be latest, id:N or file:PATH, not file:"),
        ({"topic": "", "writerschema": "file:x"}, "option valueSubject is missing"),
    ],
)
def test_options_that_register_nothing_are_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        wanted_of({"topic": "orders", "valueformat": "avro", **given}, writes=True)


def test_rows_of_a_stream_are_written_by_the_file(
    spark: SparkSession, topics: Topics, registry: Registry, tmp_path: Path
) -> None:
    source, into = topics.make(1), topics.make(1)
    topics.fill(source, [(0, None, None, b"v", ()) for _ in range(6)])
    written = Written(registry, into, tmp_path)
    written.file.write_text(order())
    options = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": source, "maxOffsetsPerTrigger": "2"}
    frame = spark.readStream.format("kcli").options(**options, startingOffsets="earliest").load()
    rows = frame.selectExpr("named_struct('id', offset) AS value").writeStream.format("kcli")
    rows = rows.options(**written.options | {"kafka.bootstrap.servers": topics.bootstrap, "registerSchemas": "true"})
    query = rows.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    assert query.awaitTermination(60)
    assert len(query.recentProgress) >= 3
    assert written.versions == [1]
    number, _ = registry.latest(written.subject)
    front = b"\0" + number.to_bytes(4, "big")
    assert sorted(record.value for _, record in topics.read(into)) == [front + bytes([2 * n]) for n in range(6)]
