"""CEL_FIELD rules for Avro payloads: a condition for each field, or an expression for the stored value.

As in Confluent's serializers, a rule applies to simple values (no enum, no fixed), including those in arrays and maps,
of fields with one of its tags; a rule without tags applies to all fields. In a union the actual branch counts,
including null.
"""

from __future__ import annotations

import json
from collections import namedtuple
from math import isfinite, isnan

from kcli.serde.avro.exact import read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import avro_reader
from kcli.serde.avro.types import PRIMITIVES, Array, Map, Record, Union
from kcli.serde.avro.write import AvroWriter
from kcli.serde.contracts.tags import Tags
from kcli.serde.rules.cel_values import avro_value
from kcli.serde.rules.field_rules.field import KEPT, FieldRule, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NamedTuple

    from kcli.schemas import Schema
    from kcli.serde.avro.types import Type
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.rules.expression import Expression

    class Place(NamedTuple):
        """A field: its record's value, its name and tags."""

        record: Record
        message: dict[str, Any]
        name: str
        tags: frozenset[str]
else:
    Place = namedtuple("Place", "record message name tags")

FITTING = {
    bool: ("boolean",),
    int: ("int", "long", "float", "double"),
    float: ("double", "float"),
    str: ("string",),
    bytes: ("bytes",),
    type(None): ("null",),
}
"""Branches of a union for the result of an expression."""


class AvroFieldRule:
    """One rule. `expression` is its text."""

    def __init__(self, schema: Schema, texts: Sequence[str], rule: Rule, expression: Expression) -> None:
        """Raises SchemaRefused."""
        self._type = parse(schema.text, texts)
        self._reader = avro_reader(self._type, wrapped=True)
        self._writer = AvroWriter(self._type, specified=True)
        self._tags = Tags(schema, [rule])
        self._rule, self._field_rule = rule, FieldRule(rule, expression)

    def applied(self, payload: bytes, now: Any) -> bytes:
        """Return the payload with the rule's changes. Raises BadValue if the rule rejects it."""
        self._field_rule.now = now
        value = self._walk(self._type, json.loads(self._reader.json(payload)), None)
        return payload if self._rule.kind == "CONDITION" else self._writer.write(read_json(json.dumps(value)))

    def _walk(self, type: Type, value: Any, place: Place | None) -> Any:
        """Replace fields in a value of the specification's JSON; `place` is the enclosing field."""
        if isinstance(type, Union):
            return self._branch(type, value, place)
        if isinstance(type, Record):
            for field in type.fields:
                tags = self._tags.of(f"{type.name}.{field.name}", field.tags)
                inner = Place(type, value, field.name, tags)
                value[field.name] = self._walk(field.type, value[field.name], inner)
            return value
        if isinstance(type, Array):
            return [self._walk(type.items, item, place) for item in value]
        if isinstance(type, Map):
            return {key: self._walk(type.values, item, place) for key, item in value.items()}
        if place is None or type.kind not in PRIMITIVES or not self._field_rule.concerns(place.tags):
            return value
        made = self._field(type, value, place)
        return value if made is KEPT else _json(made)

    def _branch(self, union: Union, value: Any, place: Place | None) -> Any:
        """Handle the actual branch; the result may be of another one if its type differs."""
        name, inner = ("null", None) if value is None else next(iter(value.items()))
        branch = next(one for one in union.branches if one.name == name)
        if branch.kind not in PRIMITIVES:
            return {name: self._walk(branch, inner, place)}
        if place is None or not self._field_rule.concerns(place.tags):
            return value
        made = self._field(branch, inner, place)
        if made is KEPT:
            return value
        fitting = FITTING[type(made)]
        known = [one.name for one in union.branches]
        chosen = name if name in fitting else next((one for one in fitting if one in known), None)
        if chosen is None:
            raise self._field_rule.refused(place.name, "what is of no branch of its union")
        return None if chosen == "null" else {chosen: _json(made)}

    def _field(self, type: Type, value: Any, place: Place) -> Any:
        """Return the rule's result for a value; KEPT for the value itself. Raises BadValue."""
        path, kind = f"{place.record.name}.{place.name}", type.kind.upper()
        message = avro_value(place.record, place.message) if self._field_rule.sees_message else None
        made = self._field_rule.made(avro_value(type, value), path, kind, place.tags, message)
        return made if made is KEPT else plain(made, f"the rule {self._rule.name} ({place.name})")


def _json(made: Any) -> Any:
    """Return it in the specification's JSON."""
    if isinstance(made, bytes):
        return made.decode("latin-1")
    if isinstance(made, float) and not isfinite(made):
        return "NaN" if isnan(made) else "Infinity" if made > 0 else "-Infinity"
    return made
