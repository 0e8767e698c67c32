"""Rules in CEL that are run when values are read, beside Confluent's own deserializers."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from kcli.schemas import AVRO, JSON, PROTOBUF, Schema
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.writers import message_indexes, writer_of
from tests.serde.contracts.test_encrypted import shown
from tests.serde.rules.test_cel_fields_messages import order
from tests.serde.rules.test_cel_fields_messages import with_rules as messages

if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")

TAG = {"confluent:tags": ["PII"]}
RECORD = {
    "type": "record", "name": "O", "fields": [
        {"name": "id", "type": "long"}, {"name": "text", "type": "string", **TAG},
        {"name": "list", "type": {"type": "array", "items": "string"}, **TAG},
    ],
}  # fmt: skip
OBJECT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"}, "text": {"type": "string", **TAG},
        "list": {"type": "array", "items": {"type": "string"}, **TAG},
    },
}  # fmt: skip
VALUE = {"id": 7, "text": "a", "list": ["x", "y"]}
KINDS = (AVRO, JSON, PROTOBUF)


def rule(expression: str, kind: str = "CONDITION", mode: str = "READ", **more: Any) -> dict[str, Any]:
    return {"name": "r", "type": "CEL", "kind": kind, "mode": mode, "expr": expression, **more}


def of_fields(expression: str, kind: str = "TRANSFORM", mode: str = "READ", **more: Any) -> dict[str, Any]:
    return rule(expression, kind, mode, **{"type": "CEL_FIELD", "tags": ["PII"], **more})


def with_rules(kind: str, *rules: dict[str, Any]) -> Schema:
    if kind == PROTOBUF:
        return messages(*rules, package="bare").replace(id=7)
    text = json.dumps(RECORD if kind == AVRO else OBJECT)
    return Schema(kind=kind, text=text, rule_set=json.dumps({"domainRules": rules}), subject="t-value", version=1, id=7)


def written(schema: Schema) -> bytes:
    return writer_of(schema, [])(json.dumps(VALUE, separators=(",", ":")))


async def read(schema: Schema, **options: bool) -> Any:
    """The value that is shown, or the reason that it is not."""
    text, reasons = await shown(schema, written(schema), **options)
    return next(iter(reasons)) if reasons else json.loads(text) | {"id": 7}


@pytest.mark.parametrize("kind", KINDS)
async def test_rules_for_reading_are_run(kind: str) -> None:
    changed = {**VALUE, "text": "a!", "list": ["x!", "y!"]}
    assert await read(with_rules(kind, of_fields("value + '!'"))) == changed
    assert await read(with_rules(kind, of_fields("value + '!'", mode="WRITEREAD"))) == changed
    assert await read(with_rules(kind, of_fields("value + '!'", mode="WRITE"))) == VALUE
    assert await read(with_rules(kind, of_fields("value + '!'", disabled=True))) == VALUE
    assert await read(with_rules(kind, of_fields("value + '!'")), rules=False) == VALUE


@pytest.mark.parametrize("kind", KINDS)
async def test_a_value_that_a_rule_refuses_stays_as_it_is_stored(kind: str) -> None:
    refused = "refused by the rule r: message.id > 7"
    assert await read(with_rules(kind, rule("message.id > 6"))) == VALUE
    assert await read(with_rules(kind, rule("message.id > 7"))) == refused
    assert await read(with_rules(kind, rule("message.id > 7", onFailure="DLQ"))) == refused
    assert await read(with_rules(kind, rule("message.id > 7", onFailure="NONE"))) == VALUE
    assert await read(with_rules(kind, rule("message.id > 7", mode="WRITEREAD", onFailure="ERROR,NONE"))) == VALUE
    assert await read(with_rules(kind, rule("message.id > 7", mode="WRITEREAD", onFailure="NONE,ERROR"))) == refused
    assert (
        await read(with_rules(kind, of_fields("value != 'y'", "CONDITION")))
        == "refused by the rule r (list): value != 'y'"
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_rules_run_in_reverse_and_of_equal_tags_the_first_counts(kind: str) -> None:
    change, check = of_fields("value + '!'"), rule("message.text == 'a'")
    assert await read(with_rules(kind, change, check)) == {**VALUE, "text": "a!", "list": ["x!", "y!"]}
    assert await read(with_rules(kind, check, change)) == "refused by the rule r: message.text == 'a'"
    two = await read(with_rules(kind, of_fields("value + '1'"), of_fields("value + '2'")))
    assert two == {**VALUE, "text": "a1", "list": ["x1", "y1"]}


async def test_a_schema_with_rules_that_encrypt_runs_no_other() -> None:
    sealed = {"name": "e", "type": "ENCRYPT", "mode": "WRITEREAD", "kind": "TRANSFORM", "tags": ["OTHER"]}
    assert await read(with_rules(AVRO, rule("false"), sealed)) == VALUE


async def test_what_is_not_run_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await read(with_rules(AVRO, rule("foo(1)")))
    assert found.endswith("calls foo, which kcli does not have")
    says = "t-value version 1 has the rule r (JSONATA) for reading, which kcli does not run"
    other = with_rules(AVRO, rule("$", "TRANSFORM", type="JSONATA"))
    assert await read(other) == says
    assert await read(other, rules=False) == VALUE
    assert await read(with_rules(AVRO, rule("message", "TRANSFORM"))) == says.replace("JSONATA", "CEL")
    assert await read(with_rules(AVRO, rule("$", "TRANSFORM", type="JSONATA", onFailure="NONE"))) == VALUE
    assert await read(with_rules(AVRO, rule("$", "TRANSFORM", mode="WRITE", type="JSONATA"))) == VALUE
    monkeypatch.setitem(sys.modules, "celpy", None)
    found = await read(with_rules(AVRO, rule("true")))
    assert found.endswith("pip install 'kcli-kafka[rules]'")


ROW = "[" + ",".join("0" * 40) + "]"
HOSTILE = [
    ("[1,2,3,4,5,6,7,8].all(a, " * 8 + "true" + ")" * 8, "it takes more than 100,000 steps"),
    (f"size({ROW}.map(a, {ROW}.map(b, '{'x' * 12000}' + 'x'))) == 1", "texts and lists of more than 16 MiB"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "says"), HOSTILE, ids=["steps", "texts"])
def test_an_expression_that_runs_on_and_on_is_stopped(expression: str, says: str) -> None:
    schema = with_rules(AVRO, rule(expression, mode="WRITE"))
    with pytest.raises(BadValue, match=says):
        writer_of(schema, [], conditions=conditions_of(schema))(json.dumps(VALUE))


def test_an_expression_that_is_stopped_often_is_evaluated_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.serde.rules.functions.MOST_STEPS", 5_000)
    write = writer_of(
        with_rules(AVRO, rule(HOSTILE[0][0], mode="WRITE")),
        [],
        conditions=conditions_of(with_rules(AVRO, rule(HOSTILE[0][0], mode="WRITE"))),
    )
    reasons = []
    for _ in range(10):
        with pytest.raises(BadValue) as refused:
            write(json.dumps(VALUE))
        reasons.append(str(refused.value))
    assert ["too often" in reason for reason in reasons] == [False] * 8 + [True] * 2


def test_a_schema_without_rules_for_reading_has_the_reader_that_it_had() -> None:
    plain = type(reader_of()(Schema(text=json.dumps(RECORD)), []))
    assert type(reader_of()(with_rules(AVRO, rule("true", mode="WRITE")), [])) is plain
    assert type(reader_of()(with_rules(AVRO, rule("true")), [])) is not plain


RULES = [
    [of_fields("value + '!'")],
    [of_fields("value + '!'", mode="WRITEREAD"), rule("message.text == 'a'")],
    [rule("message.text == 'a'"), of_fields("value + '!'")],
    [of_fields("value + '1'"), of_fields("value + '2'")],
    [of_fields("value + '1'"), of_fields("value + '2'", tags=[])],
    [rule("message.id > 6")],
    [rule("message.id > 7")],
    [rule("message.id > 7", onFailure="NONE")],
    [rule("message.id > 7", mode="WRITEREAD", onFailure="ERROR,NONE")],
    [rule("message.id > 7", mode="WRITE")],
    [rule("message.nothing > 7")],
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules[0]["expr"])
async def test_confluents_deserializer_reads_the_same(kind: str, rules: list[dict[str, Any]]) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet, SchemaRegistryClient
    from confluent_kafka.schema_registry import Schema as Theirs
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
    from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
    from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
    from confluent_kafka.serialization import MessageField, SerializationContext
    from google.protobuf import json_format

    CelExecutor.register()  # type: ignore[no-untyped-call]
    CelFieldExecutor.register()  # type: ignore[no-untyped-call]
    if kind == PROTOBUF:  # without tags a rule is about its numbers too
        rules = [
            given | {"expr": "typeName == 'STRING' ; " + given["expr"]} if not given.get("tags", 1) else given
            for given in rules
        ]
    made = [
        Rule("r", "", RuleKind[one["kind"]], RuleMode[one["mode"]], one["type"], one.get("tags") or None, None,
             one["expr"], None, one.get("onFailure"), False)
        for one in rules
    ]  # fmt: skip
    schema = with_rules(kind, *rules)
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    id = client.register_schema("t-value", Theirs(schema.text, kind, [], None, RuleSet(None, made)))
    if kind == AVRO:
        reader: Any = AvroDeserializer(client)
    elif kind == JSON:
        reader = JSONDeserializer(None, schema_registry_client=client)
    else:
        reader = ProtobufDeserializer(order("bare"), {"use.deprecated.format": False}, client)
    front = message_indexes(schema, [], "") if kind == PROTOBUF else b""
    payload = written(schema).removeprefix(front)
    try:
        found = reader(b"\0" + id.to_bytes(4, "big") + front + payload, SerializationContext("t", MessageField.VALUE))
        expected = json_format.MessageToDict(found) | {"id": 7} if kind == PROTOBUF else found
    except Exception:  # noqa: BLE001 - whatever it raises, it refuses the value
        expected = None
    ours = await read(schema)
    assert (None if isinstance(ours, str) else ours) == expected
