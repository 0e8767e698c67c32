"""Rules about fields of Avro that are written, by tags, beside Confluent's own serializer."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.schemas import JSON, PROTOBUF, Schema
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.writers import writer_of

if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")


def field(name: str, type: Any, *tags: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **({"confluent:tags": list(tags)} if tags else {}), **more}


PERSON = {"type": "record", "name": "Person", "fields": [field("mail", "string", "PII"), field("age", "int")]}
TEXT = json.dumps({
    "type": "record", "name": "Order", "namespace": "shop", "fields": [
        field("id", "long"), field("note", ["null", "string"], "PII", "NOTE", default=None), field("who", PERSON),
        field("more", ["null", "Person"], default=None), field("list", {"type": "array", "items": "string"}, "PII"),
        field("named", {"type": "map", "values": "double"}, "SUM"), field("raw", "bytes", "RAW"),
        field("either", ["string", "long"], "EITHER"),
        field("side", {"type": "enum", "name": "Side", "symbols": ["A"]}),
        field("flag", "boolean", "FLAG"),
    ],
})  # fmt: skip
VALUE: dict[str, Any] = {
    "id": 7, "note": "hi", "who": {"mail": "a@b", "age": 3}, "more": {"mail": "c@d", "age": 4}, "list": ["x", "y"],
    "named": {"n": 1.5}, "raw": {"base64": "YWI="}, "either": "text", "side": "A", "flag": True,
}  # fmt: skip


def rule(expression: str, *tags: str, kind: str = "TRANSFORM", **more: Any) -> dict[str, Any]:
    return {
        "name": "r",
        "kind": kind,
        "type": "CEL_FIELD",
        "mode": "WRITE",
        "tags": list(tags),
        "expr": expression,
        **more,
    }


def with_rules(*rules: dict[str, Any], kind: str = "AVRO", text: str = TEXT, **more: Any) -> Schema:
    given = json.dumps({"domainRules": rules})
    return Schema(kind=kind, text=text, rule_set=given, subject="t-value", version=1, id=1, **more)


def stored(schema: Schema, value: dict[str, Any] = VALUE) -> bytes:
    return writer_of(schema, [], conditions=conditions_of(schema))(json.dumps(value))


def plain(**changed: Any) -> bytes:
    return writer_of(Schema(text=TEXT), [])(json.dumps({**VALUE, **changed}))


RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (rule("value + '!'", "NOTE"), {"note": "hi!"}),
    (rule("typeName == 'STRING' ; value + '!'", "PII"), {
        "note": "hi!", "who": {"mail": "a@b!", "age": 3}, "more": {"mail": "c@d!", "age": 4}, "list": ["x!", "y!"],
    }),
    (rule("name == 'mail' ; fullName + ' ' + typeName"), {
        "who": {"mail": "shop.Person.mail STRING", "age": 3}, "more": {"mail": "shop.Person.mail STRING", "age": 4},
    }),
    (rule("value * 2.0", "SUM"), {"named": {"n": 3.0}}),
    (rule("value + b'c'", "RAW"), {"raw": {"base64": "YWJj"}}),
    (rule("null", "NOTE"), {"note": None}),
    (rule("5", "EITHER"), {"either": 5}),
    (rule("!value", "FLAG"), {"flag": False}),
    (rule("name == 'age' ; message.age + 1"), {
        "who": {"mail": "a@b", "age": 4}, "more": {"mail": "c@d", "age": 5},
    }),
    (rule("typeName == 'STRING' && size(tags) == 2 ; 'both'"), {"note": "both"}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "changed"), RULES, ids=lambda part: str(part.get("expr", ""))[:20])
def test_a_transform_changes_the_fields_with_its_tags(given: dict[str, Any], changed: dict[str, Any]) -> None:
    assert stored(with_rules(given)) == plain(**changed)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (rule("size(value) < 3", "NOTE", kind="CONDITION"), ""),
        (rule("size(value) > 3", "NOTE", kind="CONDITION"), "refused by the rule r (note): size(value) > 3"),
        (rule("value != 'y'", "PII", kind="CONDITION", doc="no y"), "refused by the rule r (list): no y"),
        (
            rule("value > 3", "NOTE", kind="CONDITION"),
            "the rule r cannot be evaluated (note): found no matching overload",
        ),
        (rule("value > 3", "NOTE", kind="CONDITION", onFailure="NONE"), ""),
        (rule("7", "NOTE", kind="CONDITION"), "the rule r is neither true nor false (note): 7"),
        (rule("5", "FLAG"), "flag: 5 is not true or false"),
        (rule("5", "NOTE"), "the rule r puts into note what is of no branch of its union"),
        (rule("[1]", "NOTE"), "the rule r (note) gives a value that is none of a field"),
    ],
)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    if not says:
        assert stored(with_rules(given)) == plain()
        return
    with pytest.raises(BadValue) as refused:
        stored(with_rules(given))
    assert str(refused.value).startswith(says)


def test_a_null_is_a_value_of_a_field() -> None:
    with_null = with_rules(rule("value == null ; 'none'", "NOTE"))
    assert stored(with_null, {**VALUE, "note": None}) == plain(note="none")
    assert stored(with_null) == plain()


def test_rules_run_in_their_order_and_conditions_see_what_was_changed() -> None:
    whole = {"name": "c", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "message.note == 'hi!'"}
    change = rule("value + '!'", "NOTE")
    assert stored(with_rules(change, whole)) == plain(note="hi!")
    with pytest.raises(BadValue, match="refused by the rule c"):
        stored(with_rules(whole, change))


def test_tags_of_paths_in_the_metadata_count() -> None:
    metadata = json.dumps({"tags": {"**.age": ["AGE"]}})
    changed = plain(who={"mail": "a@b", "age": 0}, more={"mail": "c@d", "age": 0})
    assert stored(with_rules(rule("0", "AGE"), metadata=metadata)) == changed


@pytest.mark.parametrize(("kind", "text"), [(JSON, "{}"), (PROTOBUF, 'syntax = "proto3"; message A {}')])
def test_rules_of_other_types_are_refused(kind: str, text: str) -> None:
    with pytest.raises(UsageError, match="which kcli does not run"):
        conditions_of(with_rules(rule("value", "PII", type="OTHER"), kind=kind, text=text))
    assert conditions_of(with_rules(rule("value", "PII", type="OTHER"), kind=kind, text=text), without=True) == []


def test_of_transforms_with_the_same_tags_the_earliest_counts() -> None:
    both = with_rules(rule("value + '!'", "NOTE"), rule("value + '?'", "NOTE"))
    assert stored(both) == plain(note="hi!")
    other = with_rules(rule("value + '!'", "NOTE"), rule("value + '?'", "PII", "NOTE"))
    assert json.loads(TEXT)["fields"][1]["name"] == "note"
    assert stored(other) != plain(note="hi!")


def test_a_transform_that_fails_leaves_the_value_where_its_rule_says_none() -> None:
    assert stored(with_rules(rule("value + 1", "NOTE", onFailure="NONE"))) == plain()
    with pytest.raises(BadValue, match="cannot be evaluated"):
        stored(with_rules(rule("value + 1", "NOTE")))


def by_confluent(given: dict[str, Any], value: dict[str, Any]) -> bytes | None:
    """The payload that Confluent's serializer writes under a rule; None where it refuses the value."""
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet, SchemaRegistryClient
    from confluent_kafka.schema_registry import Schema as Theirs
    from confluent_kafka.schema_registry.avro import AvroSerializer
    from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
    from confluent_kafka.serialization import MessageField, SerializationContext

    CelFieldExecutor.register()  # type: ignore[no-untyped-call]
    kind, tags = RuleKind[given["kind"]], given["tags"] or None
    one = Rule("r", "", kind, RuleMode.WRITE, "CEL_FIELD", tags, None, given["expr"], None, None, False)
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    client.register_schema("t-value", Theirs(TEXT, "AVRO", [], None, RuleSet(None, [one])))
    write = AvroSerializer(client, conf={"auto.register.schemas": False, "use.latest.version": True})
    try:
        payload = write(value, SerializationContext("t", MessageField.VALUE))
    except Exception:  # noqa: BLE001 - whatever it raises, it refuses the value
        return None
    return None if payload is None else bytes(payload[5:])


@pytest.mark.parametrize(
    "given",
    [
        *(given for given, _ in RULES),
        rule("size(value) > 3", "NOTE", kind="CONDITION"),
        rule("size(value) < 3", "NOTE", kind="CONDITION"),
        rule("value == null ; 'none'", "NOTE"),
    ],
    ids=lambda given: str(given["expr"])[:20],
)
@pytest.mark.parametrize("note", ["hi", None])
def test_confluents_serializer_stores_the_same(given: dict[str, Any], note: str | None) -> None:
    value: dict[str, Any] = {**json.loads(json.dumps(VALUE)), "raw": b"ab", "note": note}
    try:
        found: bytes | None = stored(with_rules(given), {**VALUE, "note": note})
    except BadValue:
        found = None
    assert found == by_confluent(given, value)


def test_a_condition_about_items_refuses_here_and_not_at_confluents() -> None:
    """On purpose: what a rule forbids must not be stored. Should this fail, Confluent's serializer minds items, too."""
    theirs: dict[str, Any] = {**json.loads(json.dumps(VALUE)), "raw": b"ab"}
    broken = rule("value != 'y'", "PII", kind="CONDITION")
    assert by_confluent(broken, theirs) == plain(), "one item of the list does not hold, and the value is stored"
    with pytest.raises(BadValue, match="list"):
        stored(with_rules(broken))
    of_a_field = rule("value != 'hi'", "PII", kind="CONDITION")
    assert by_confluent(of_a_field, theirs) is None, "that of a field counts for both"
    with pytest.raises(BadValue, match="note"):
        stored(with_rules(of_a_field))
