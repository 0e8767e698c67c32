"""Fields of JSON schemas that a rule encrypts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.schemas import JSON, Schema
from kcli.serde.contracts.encrypted import marked
from kcli.serde.schemas.payloads import Unreadable, read_one
from kcli.serde.schemas.readers import reader_of
from tests.serde.contracts.test_encrypted import SECRET, rules, shown

TAGGED = {"type": "string", "confluent:tags": ["PII"]}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "confluent:tags": ["PII"]},
        "mail": TAGGED,
        "note": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "string"}, "confluent:tags": ["PII", "OTHER"]},
        "home": {"$ref": "#/definitions/home"},
        "way": {"oneOf": [{"type": "null"}, TAGGED | {"minLength": 1}], "confluent:tags": ["PII"]},
        "friend": {"$ref": "#"},
        "card": {"$ref": "card.json#/definitions/card"},
        "both": {"allOf": [{"properties": {"a": TAGGED}}, {"properties": {"b": {"type": "string"}}}]},
        "pair": {"type": "array", "items": [{"type": "string"}, {"properties": {"x": TAGGED}}],
                 "additionalItems": {"properties": {"x": TAGGED}}},
    },
    "additionalProperties": {"properties": {"deep": TAGGED}},
    "definitions": {"home": {"properties": {"street": TAGGED, "town": {"type": "string"}}}},
}  # fmt: skip
CARD = {
    "definitions": {"card": {"properties": {"number": TAGGED | {"$ref": "#/definitions/n"}}}, "n": {"minLength": 1}}
}
VALUE: dict[str, Any] = {
    "id": 2**63, "mail": "c2Vj", "note": "é", "lines": ["a", "b"], "home": {"street": "s", "town": "t"}, "way": "w",
    "friend": {"mail": "x", "note": "y"}, "both": {"a": "1", "b": "2"}, "pair": ["p", {"x": "q"}, {"x": "r"}],
    "z": {"deep": "d"}, "half": 0.5,
}  # fmt: skip
SHOWN = {
    **VALUE, "mail": SECRET, "lines": [SECRET, SECRET], "home": {"street": SECRET, "town": "t"}, "way": SECRET,
    "friend": {"mail": SECRET, "note": "y"}, "both": {"a": SECRET, "b": "2"},
    "pair": ["p", {"x": SECRET}, {"x": SECRET}], "z": {"deep": SECRET},
}  # fmt: skip


def schema(text: object = PERSON, metadata: str = "", **rule: object) -> Schema:
    return Schema(kind=JSON, text=json.dumps(text), rule_set=rules(**rule), metadata=metadata, id=7)


def json_of(found: Schema, value: str, referred: list[tuple[str, str]] | None = None) -> Any:
    reader: Any = reader_of()(found, referred or [])
    return json.loads(reader.json(value.encode()))


async def test_fields_with_a_tag_of_the_rule_are_marked() -> None:
    found, reasons = await shown(schema(), json.dumps(VALUE).encode())
    assert (json.loads(found), reasons) == (SHOWN, {})
    assert list(json.loads(found)) == list(VALUE)
    plain, _ = await shown(schema(disabled=True), json.dumps(VALUE).encode())
    assert json.loads(plain) == VALUE


def test_a_schema_that_is_referred_to_has_its_own_tags() -> None:
    value = {"card": {"number": "1"}}
    assert json_of(schema(), json.dumps(value), [("card.json", json.dumps(CARD))]) == {"card": {"number": SECRET}}
    assert json_of(schema(), json.dumps(value)) == value


def test_tags_of_the_metadata_and_rules_without_tags() -> None:
    tags = json.dumps({"tags": {"$.note": ["PII"], "$.home.town": ["PII"]}})
    found = json_of(schema(metadata=tags), json.dumps(VALUE))
    assert (found["note"], found["home"]["town"], found["friend"]["note"]) == (SECRET, SECRET, "y")
    found = json_of(schema(tags=None), json.dumps(VALUE))
    assert (found["note"], found["id"]) == (SECRET, 2**63)


def test_schemas_that_go_in_circles_end() -> None:
    for text in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}):
        with pytest.raises(Unreadable):
            json_of(schema(text), '"x"')
    wide: dict[str, Any] = {"d0": {}}
    for number in range(1, 40):
        wide[f"d{number}"] = {"allOf": [{"$ref": f"#/definitions/d{number - 1}"}] * 2}
    with pytest.raises(Unreadable, match="too many branches"):
        json_of(schema({"definitions": wide, "$ref": "#/definitions/d39"}), "{}")


def test_deep_values_and_wide_numbers() -> None:
    nested: dict[str, Any] = {"properties": {"a": {"$ref": "#"}, "m": TAGGED}}
    with pytest.raises(Unreadable, match="nested too deeply"):
        json_of(schema(nested), '{"a":' * 900 + "1" + "}" * 900)
    assert json_of(schema(), '{"id": 1e999, "note": "x"}') == {"id": "1e999", "note": "x"}


def test_a_payload_that_is_encrypted_whole_is_not_read() -> None:
    sealed = marked(schema(type="ENCRYPT_PAYLOAD"), [], reader_of(marks=False)(schema(), []))
    with pytest.raises(Unreadable, match="encrypted: kek1"):
        sealed.json(b"x")


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_fields_of_branches_are_marked(word: str) -> None:
    branch = {"properties": {"mail": {"type": "string", "confluent:tags": ["PII"]}}}
    rules = {"domainRules": [{"name": "r", "type": "ENCRYPT", "mode": "WRITE", "tags": ["PII"]}]}
    schema = Schema(kind=JSON, text=json.dumps({word: [branch]}), rule_set=json.dumps(rules))
    assert json.loads(read_one(reader_of()(schema, []), b'{"mail": "x"}')) == {"mail": {"encrypted": "r"}}


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_a_mark_of_one_branch_is_no_value_of_the_next(word: str) -> None:
    """Two branches have the field; the second one's schema is about a text `encrypted` too, which a mark has."""
    text, inner = TAGGED, {"properties": {"encrypted": TAGGED}}
    schema = {word: [{"properties": {"mail": text}}, {"properties": {"mail": inner}}]}
    rules = {"domainRules": [{"name": "r", "type": "ENCRYPT", "mode": "WRITE", "tags": ["PII"]}]}
    tagged = Schema(kind=JSON, text=json.dumps(schema), rule_set=json.dumps(rules))
    assert json_of(tagged, '{"mail": "x"}') == {"mail": {"encrypted": "r"}}
    assert json_of(tagged, '{"mail": {"encrypted": "x", "by": 1}}') == {
        "mail": {"encrypted": {"encrypted": "r"}, "by": 1}
    }
