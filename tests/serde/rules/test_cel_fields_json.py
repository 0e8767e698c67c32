"""Rules about fields of JSON schemas that are written, by tags, beside Confluent's own serializer."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from kcli.schemas import JSON, Schema
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.writers import writer_of
from tests.serde.rules.test_cel_fields import rule

if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")


def tagged(type: Any, *tags: str, **more: Any) -> dict[str, Any]:
    return {"type": type, "confluent:tags": list(tags), **more}


DRAFT_7 = "http://json-schema.org/draft-07/schema#"
PLACE = {"type": "string"}
TAGGED = tagged("string", "PII")
TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": tagged("integer", "ID"), "half": tagged("number", "SUM"), "text": tagged("string", "PII"),
        "maybe": tagged(["null", "string"], "PII"), "list": tagged("array", "PII", items={"type": "string"}),
        "inner": {"type": "object", "properties": {"mail": tagged("string", "PII"), "sure": tagged("boolean", "OK")}},
        "side": tagged("string", "PII", enum=["a", "b"]), "home": {"$ref": "#/definitions/home"},
        "either": {"oneOf": [tagged("integer", "X"), tagged("string", "X", maxLength=3), tagged("string", "X")],
                   "confluent:tags": ["PII"]},
        "both": {"anyOf": [{"type": "string"}, {"type": "string", "minLength": 1}], "confluent:tags": ["TWICE"]},
        "all": {"allOf": [{"properties": {"a": tagged("string", "PII")}},
                          {"properties": {"b": tagged("string", "Q")}}]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"n": tagged("integer", "ID")}}},
        "map": {"type": "object", "additionalProperties": tagged("string", "PII")},
        "short": tagged("string", "LONG", maxLength=3),
    },
    "definitions": {"home": {"type": "object", "properties": {"town": tagged("string", "PII")}}},
}  # fmt: skip
VALUE: dict[str, Any] = {
    "id": 7, "half": 1.5, "text": "é", "maybe": "m", "list": ["x", "y"], "inner": {"mail": "a@b", "sure": True},
    "side": "a", "home": {"town": "t"}, "either": "abcd", "both": "z", "all": {"a": "1", "b": "2"},
    "rows": [{"n": 1}, {"n": 2}], "map": {"k": "v"}, "other": [None], "short": "s",
}  # fmt: skip
MARKED = {
    "text": "é!", "maybe": "m!", "list": ["x!", "y!"], "inner": {"mail": "a@b!", "sure": True}, "home": {"town": "t!"},
    "either": "abcd!", "all": {"a": "1!", "b": "2"},
}  # fmt: skip
TRANSFORMS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (rule("typeName == 'STRING' ; value + '!'", "PII"), MARKED),
    (rule("value + '!'", "TWICE"), {"both": "z!!"}),
    (rule("fullName == '$.rows.n' ; value + 1", "ID"), {"rows": [{"n": 2}, {"n": 3}]}),
    (rule("fullName + ' ' + name + typeName", "Q"), {"all": {"a": "1", "b": "$.all.b bSTRING"}}),
    (rule("typeName == 'DOUBLE' ; value * 2.0"), {"half": 3.0}),
    (rule("!value", "OK"), {"inner": {"mail": "a@b", "sure": False}}),
    (rule("name == 'mail' && message.sure ; 'yes'"), {"inner": {"mail": "yes", "sure": True}}),
    (rule("name == 'maybe' ; null"), {"maybe": None}),
    (rule("name == 'text' ; string(size(tags))"), {"text": "1"}),
]  # fmt: skip
CONDITIONS = [
    (rule("value > 0", "ID", kind="CONDITION"), ""),
    (rule("value > 7", "ID", kind="CONDITION"), "refused by the rule r (id): value > 7"),
    (rule("value == 'm'", "PII", kind="CONDITION", doc="no"), "refused by the rule r (text): no"),
    (rule("value > 3", "PII", kind="CONDITION", onFailure="NONE"), ""),
    (rule("value + '1234'", "LONG"), 'short: "s1234" is longer than 3 characters'),
    (rule("5", "PII"), 'text: 5 is not of type "string"'),
    (rule("b'a'", "PII"), "the rule r puts into text what JSON does not have"),
    (rule("foo.bar", "PII"), "the rule r cannot be evaluated (text)"),
]  # fmt: skip


def with_rules(*rules: dict[str, Any], text: Any = TEXT) -> Schema:
    given = json.dumps({"domainRules": rules})
    return Schema(kind=JSON, text=json.dumps(text), rule_set=given, subject="t-value", version=1, id=1)


def stored(schema: Schema, value: Any = VALUE, referred: list[tuple[str, str]] | None = None) -> bytes:
    return writer_of(schema, referred or [], conditions=conditions_of(schema))(compact(value).decode())


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(("given", "changed"), TRANSFORMS, ids=lambda part: str(part.get("expr", ""))[:20])
def test_a_transform_changes_the_fields_with_its_tags(given: dict[str, Any], changed: dict[str, Any]) -> None:
    assert stored(with_rules(given)) == compact(VALUE | changed)


@pytest.mark.parametrize(("given", "says"), CONDITIONS)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    if not says:
        assert stored(with_rules(given)) == compact(VALUE)
        return
    with pytest.raises(BadValue) as refused:
        stored(with_rules(given))
    assert str(refused.value).startswith(says)


def test_a_value_is_valid_by_its_schema_after_its_rules() -> None:
    schema = with_rules(rule("'ok'", "LONG"))
    assert stored(schema, {"short": "too long"}) == b'{"short":"ok"}'


def test_what_no_rule_changes_is_stored_as_it_is_given() -> None:
    schema = with_rules(rule("value", "PII"))
    assert writer_of(schema, [], conditions=conditions_of(schema))('{ "text" : "x", "n": 1.10 }') == (
        b'{ "text" : "x", "n": 1.10 }'
    )


def test_branches_refer_to_the_schema_and_to_others() -> None:
    other = {
        "$id": "http://x/other",
        "definitions": {"o": {"type": "object", "properties": {"p": tagged("string", "P")}}},
    }
    text = {
        "oneOf": [{"type": "string"}, {"$ref": "other.json#/definitions/o"}, {"$ref": "#/definitions/d"}],
        "definitions": {"d": {"type": "array", "items": {"$ref": "http://x/other#/definitions/o"}}},
    }
    schema, referred = with_rules(rule("value + '!'", "P"), text=text), [("other.json", json.dumps(other))]
    assert stored(schema, {"p": "x"}, referred) == b'{"p":"x!"}'
    assert stored(schema, [{"p": "x"}], referred) == b'[{"p":"x!"}]'


@pytest.mark.parametrize(
    ("places", "value", "changed"),
    [
        ({"items": [PLACE, {"type": "string"}], "additionalItems": PLACE}, ["a", "b", "c"], ["a!", "b!", "c!"]),
        ({"items": [PLACE, True]}, ["a", "b", "c"], ["a!", "b", "c"]),
        ({"prefixItems": [True, {"properties": {"p": TAGGED}}], "items": PLACE}, ["a", {"p": "b"}, "c"],
         ["a", {"p": "b!"}, "c!"]),
        ({"prefixItems": [PLACE], "items": False}, ["a"], ["a!"]),
        ({"allOf": [{"prefixItems": [PLACE]}], "prefixItems": [True, PLACE]}, ["a", "b"], ["a!", "b!"]),
    ],
)  # fmt: skip
def test_each_place_of_an_array_may_have_a_schema(places: dict[str, Any], value: Any, changed: Any) -> None:
    draft = "https://json-schema.org/draft/2020-12/schema" if "prefixItems" in places else DRAFT_7
    text = {"$schema": draft, "properties": {"pair": {"type": "array", "confluent:tags": ["PII"], **places}}}
    assert stored(with_rules(rule("value + '!'", "PII"), text=text), {"pair": value}) == compact({"pair": changed})


def test_schemas_that_go_in_circles_end() -> None:
    with pytest.raises(BadValue, match=r"nested too deeply|too many branches"):
        stored(with_rules(rule("value"), text={"allOf": [{"$ref": "#"}, {"$ref": "#"}]}), {"a": "x"})


@pytest.mark.parametrize(
    "given",
    [*(given for given, _ in TRANSFORMS), *(given for given, _ in CONDITIONS)],
    ids=lambda given: str(given["expr"])[:20],
)
# {} is not among them: Confluent's executor takes an empty object for a condition that does not hold
@pytest.mark.parametrize("value", [VALUE, {"other": 1}, {"text": None, "maybe": None, "either": 5}])
def test_confluents_serializer_stores_the_same(given: dict[str, Any], value: dict[str, Any]) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet, SchemaRegistryClient
    from confluent_kafka.schema_registry import Schema as Theirs
    from confluent_kafka.schema_registry.json_schema import JSONSerializer
    from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
    from confluent_kafka.serialization import MessageField, SerializationContext

    CelFieldExecutor.register()  # type: ignore[no-untyped-call]
    kind, tags, failing = RuleKind[given["kind"]], given["tags"] or None, given.get("onFailure")
    one = Rule("r", "", kind, RuleMode.WRITE, "CEL_FIELD", tags, None, given["expr"], None, failing, False)
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    client.register_schema("t-value", Theirs(json.dumps(TEXT), "JSON", [], None, RuleSet(None, [one])))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    write = JSONSerializer(json.dumps(TEXT), client, conf=conf)
    try:
        expected = write(json.loads(json.dumps(value)), SerializationContext("t", MessageField.VALUE))
    except Exception:  # noqa: BLE001 - whatever it raises, it refuses the value
        expected = None
    try:
        found: bytes | None = stored(with_rules(given), value)
    except BadValue:
        found = None
    assert (found and json.loads(found)) == (expected and json.loads(expected[5:]))
    assert found is None or expected is not None
