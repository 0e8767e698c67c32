"""Rules in CEL for reading: Spark makes the values of them that `kcli consume` shows."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")

from kcli.errors import UsageError
from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas.look_up import looked_up
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.wanted import Wanted, wanted_of
from kcli.pipeline.schemas.writing import check_rules
from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from kcli.serde.schemas.writers import writer_of
from tests.pipeline.schemas.sealing import cells_of, frame
from tests.serde.rules.test_read import KINDS, VALUE, of_fields, rule
from tests.serde.rules.test_read import with_rules as avro_or_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

MESSAGE = """syntax = "proto3";
package shop;
import "confluent/meta.proto";
message Order {
  int64 id = 1;
  string text = 2 [(confluent.field_meta).tags = "PII"];
  repeated string list = 3 [(confluent.field_meta) = {tags: ["PII"]}];
}
"""
FORMS = {AVRO: "avro", JSON: "json-schema", PROTOBUF: "protobuf"}


def with_rules(kind: str, *rules: dict[str, Any]) -> Schema:
    schema = avro_or_json(JSON if kind == PROTOBUF else kind, *rules)
    return schema.replace(kind=kind, text=MESSAGE) if kind == PROTOBUF else schema


def written(schema: Schema) -> bytes:
    return writer_of(schema, [])(json.dumps(VALUE))


def read(schema: Schema, *payloads: bytes, rules: bool = True) -> tuple[list[Any], dict[int, str]]:
    """Values of a schema that is the reader's, too."""
    known = Known(schema=schema)
    names = ((frame(7, b""), known), (b"\3\5" + bytes(16), known))
    return cells_of(SealedSchemas(form=FORMS[schema.kind], reader=known, written=names, rules=rules), *payloads)


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_what_the_rules_make_of_them(kind: str) -> None:
    schema = with_rules(kind, of_fields("value + '!'"), rule("message.text == 'a'"))
    value = frame(7, written(schema))
    changed = {**VALUE, "text": "a!", "list": ["x!", "y!"]}
    assert read(schema, value, value) == ([changed, changed], {})
    assert read(schema, value, rules=False) == ([VALUE], {})


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_a_rule_refuses_is_a_bad_record(kind: str) -> None:
    schema = with_rules(kind, rule("message.id > 7"))
    value = frame(7, written(schema))
    assert read(schema, value, b"") == (
        [None, None],
        {0: "refused by the rule r: message.id > 7", 1: "no schema id is in front of it"},
    )
    nothing = read(schema, frame(7, b"\xff"))[1]
    assert nothing == read(schema, frame(7, b"\xff"), rules=False)[1] or kind == JSON


def test_a_payload_is_unpacked_before_its_rules_are_run() -> None:
    import zlib

    schema = with_rules(AVRO, of_fields("value + '!'"))
    value = b"\3\5" + bytes(16) + zlib.compress(written(schema))
    assert read(schema, value)[0] == [{**VALUE, "text": "a!", "list": ["x!", "y!"]}]


def folder(place: Path, *rules: dict[str, Any]) -> Wanted:
    """A folder with a subject of one version."""
    subject = place / "subjects" / "t-value"
    subject.mkdir(parents=True)
    schema = with_rules(AVRO, *rules)
    (subject / "1.avsc").write_text(schema.text)
    (subject / "1.meta.json").write_text(json.dumps({"ruleSet": json.loads(schema.rule_set)}))
    return Wanted(subject="t-value")


def test_a_rule_that_is_not_run_is_said_on_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = registry_settings({"schemaregistry": f"file:{tmp_path}"})
    wanted = folder(tmp_path, rule("foo(1)"))
    with pytest.raises(UsageError, match=r"calls foo, which kcli does not have \(option withoutRules true\)"):
        looked_up(wanted, settings)
    monkeypatch.setitem(sys.modules, "celpy", None)
    with pytest.raises(UsageError, match=r"pip install 'kcli-kafka\[rules\]'"):
        looked_up(wanted, settings)
    assert looked_up(wanted.replace(rules=False), settings).rules is False


def test_rules_are_run_unless_an_option_says_otherwise() -> None:
    given = {"subscribe": "t", "valueformat": "avro"}
    assert [one.rules for one in wanted_of(given)] == [True]
    assert [one.rules for one in wanted_of({**given, "withoutrules": "true"})] == [False]
    with pytest.raises(UsageError, match="option withoutRules must be true or false, not maybe"):
        wanted_of({**given, "withoutrules": "maybe"})


def test_rows_are_written_without_rules_where_that_is_said_but_never_in_place_of_ciphertext() -> None:
    schema = with_rules(AVRO, rule("true", mode="WRITE"))
    with pytest.raises(UsageError, match=r"t-value version 1 has the rule r \(CEL\) for writing"):
        check_rules(schema)
    check_rules(schema, without=True)
    sealing = rule("", "TRANSFORM", "WRITEREAD", type="ENCRYPT", name="ssn")
    with pytest.raises(UsageError, match=r"has the rule ssn \(ENCRYPT\) for writing"):
        check_rules(with_rules(AVRO, rule("true", mode="WRITE"), sealing), without=True)


def test_a_query_reads_what_the_rules_make_of_values(spark: SparkSession, topics: Topics, registry: Registry) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet
    from confluent_kafka.schema_registry import Schema as Registered

    topic, schema = topics.make(), with_rules(AVRO)
    change = Rule("r", "", RuleKind.TRANSFORM, RuleMode.READ, "CEL_FIELD", ["PII"], None, "value + '!'", "", "", False)
    contract = Registered(schema.text, "AVRO", rule_set=RuleSet(None, [change]))
    number = registry.client.register_schema(f"{topic}-value", contract)
    topics.fill(topic, [(0, None, None, frame(number, written(schema)), ())])
    options = {"kafka.bootstrap.servers": topics.bootstrap, "schemaRegistry": registry.url, "valueFormat": "avro"}
    reader = spark.read.format("kcli").options(**options)
    assert reader.load(topic).collect()[0].value.asDict() == {**VALUE, "text": "a!", "list": ["x!", "y!"]}
    assert reader.option("withoutRules", "true").load(topic).collect()[0].value.asDict() == VALUE
