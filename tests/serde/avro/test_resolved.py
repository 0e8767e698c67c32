"""A schema with the types that it refers to, in one text."""

from __future__ import annotations

import json
from typing import Any

from kcli.serde.avro.canonical import canonical
from kcli.serde.avro.parse import parse
from kcli.serde.avro.resolved import resolved
from tests.serde.avro.test_resolve import E2, field, record

MONEY = record(field("cents", "long"), name="Money", namespace="shop")
PERSON = record(field("name", "string"), field("owes", "Money"), name="Person", namespace="shop")
PLAIN = {**E2, "name": "Plain"}


def whole(schema: Any, *references: Any) -> Any:
    """The schema as JSON. It is the same one to readers as with its references beside it."""
    texts = [json.dumps(one) for one in references]
    text = resolved(json.dumps(schema), texts)
    assert parse(text).kind == parse(json.dumps(schema), texts).kind
    return json.loads(text)


def test_a_type_is_defined_where_it_is_first_used() -> None:
    made = whole(
        record(field("a", "shop.Person"), field("b", ["null", "shop.Money"]), field("c", "shop.Person")), MONEY, PERSON
    )
    person, union, again = (one["type"] for one in made["fields"])
    assert person["name"] == "shop.Person"
    assert person["fields"][1]["type"]["name"] == "shop.Money"  # first used in there
    assert (union, again) == (["null", "shop.Money"], "shop.Person")
    assert canonical(parse(json.dumps(made))).count("cents") == 1


def test_names_keep_their_namespaces() -> None:
    made = whole(record(field("m", "Money"), field("p", "Plain"), namespace="shop"), MONEY, PLAIN)
    money, plain = (one["type"] for one in made["fields"])
    assert (money["name"], plain["name"], plain["namespace"]) == ("shop.Money", "Plain", "")
    read = canonical(parse(json.dumps(made)))
    assert '"name":"shop.R"' in read
    assert '"name":"Plain"' in read


def test_types_within_arrays_maps_and_recursion() -> None:
    node = record(field("next", ["null", "Node"]), name="Node")
    made = whole(
        record(field("l", {"type": "array", "items": "Node"}), field("m", {"type": "map", "values": "Node"})), node
    )
    listed, mapped = (one["type"] for one in made["fields"])
    assert listed["items"]["fields"][0]["type"] == ["null", "Node"]
    assert mapped == {"type": "map", "values": "Node"}


def test_a_schema_that_needs_nothing_is_as_it_was() -> None:
    for schema in (MONEY, "string", {"type": "int", "logicalType": "date"}, ["null", E2]):
        assert canonical(parse(json.dumps(whole(schema)))) == canonical(parse(json.dumps(schema)))
