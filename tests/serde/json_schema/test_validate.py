"""JSON held against JSON schemas: drafts, references, places of violations, and schemas made to hurt."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.schemas import SchemaRefused
from kcli.serde.json_schema.reader import JsonReader
from kcli.serde.json_schema.validate import JsonValidator
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each

ORDER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "items": {"type": "array", "items": {"$ref": "item.json"}}},
    "required": ["id"],
}
ITEM = {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}}
SECONDS = 5.0  # of CPU, for what must take milliseconds


def problem(schema: Any, value: Any, *references: tuple[str, Any]) -> str | None:
    return JsonValidator(json.dumps(schema), [(name, json.dumps(one)) for name, one in references]).problem(value)


def test_what_holds_and_what_does_not_with_its_place() -> None:
    item = ("item.json", ITEM)
    assert problem(ORDER, {"id": 1, "items": [{"price": 2.5}]}, item) is None
    assert problem(ORDER, {"id": "x"}, item) == 'id: "x" is not of type "integer"'
    said = problem(ORDER, {"items": [{"price": 1}, {"price": -1}]}, item)
    assert said is not None
    assert "items[1].price: -1 is less than the minimum of 0" in said
    assert '"id" is a required property' in said
    assert problem({"maxLength": 1, "minLength": 5, "pattern": "z", "enum": [1]}, "abc") is not None


@each("name", ["item.json", "https://example.com/item.json", "shop/item.json"])
def test_references_are_those_of_the_registry(name: str) -> None:
    schema = {"$ref": name}
    assert problem(schema, {"price": -1}, (name, ITEM)) == "price: -1 is less than the minimum of 0"
    assert problem({"$ref": "urn:item"}, {"price": -1}, (name, {**ITEM, "$id": "urn:item"})) is not None


@each("id", ["https://example.com/shop/order.json", "https://example.com/shop/"])
def test_a_reference_may_be_relative_to_an_absolute_id(id: str) -> None:
    said = "price: -1 is less than the minimum of 0"
    assert problem({"$id": id, "$ref": "item.json"}, {"price": -1}, ("item.json", ITEM)) == said
    inner = {"$id": id, "$ref": "parts/price.json"}
    price = {"properties": {"price": {"minimum": 0}}}
    assert problem({"$ref": "order.json"}, {"price": -1}, ("parts/price.json", price), ("order.json", inner)) == said


@each("target", ["item.json", "http://127.0.0.1:1/x.json", "file:///etc/passwd"])
def test_nothing_else_is_fetched(target: str) -> None:
    with pytest.raises(
        SchemaRefused, match=r"the JSON schema is not used: (.*none of the schema's references|.*retrieving it failed)"
    ):
        problem({"$ref": target}, 1)


@each(
    ("draft", "schema", "value"),
    [
        ("http://json-schema.org/draft-04/schema#", {"minimum": 1, "exclusiveMinimum": True}, 1),
        ("http://json-schema.org/draft-06/schema#", {"exclusiveMinimum": 1}, 1),
        ("http://json-schema.org/draft-07/schema#", {"if": {"const": 1}, "then": False}, 1),
        ("https://json-schema.org/draft/2019-09/schema", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "null"}]}, [1]),
        (None, {"if": {"const": 1}, "then": False}, 1),
    ],
)
def test_drafts(draft: str | None, schema: Any, value: Any) -> None:
    assert problem(schema if draft is None else {"$schema": draft, **schema}, value) is not None


@each("text", ["", "[1]", '{"type": "what"}', "{", '{"$schema": 7}', "[" * 100_000, '{"a":' * 100_000, " " * (5 << 20)])
def test_schemas_that_are_refused(text: str) -> None:
    with pytest.raises(SchemaRefused, match="the JSON schema is not used"):
        JsonValidator(text)


def test_a_pattern_cannot_hang() -> None:
    began = time.process_time()
    problem({"pattern": "^(a+)+$"}, "a" * 5000 + "b")
    problem({"pattern": "^(?=(a+)+$)"}, "a" * 5000 + "b")
    assert time.process_time() - began < SECONDS


def test_a_reader_holds_values_against_the_schema() -> None:
    reader = JsonReader(JsonValidator('{"type": "object"}'))
    assert reader.json(b'{"a": 1 }') == b'{"a": 1 }'
    with pytest.raises(Unreadable, match='its schema forbids it: 7 is not of type "object"'):
        reader.json(b"7")


def test_without_the_package_the_line_to_install_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(UsageError, match=r"pip install 'kcli-kafka\[json-schema\]'"):
        JsonValidator("{}")
