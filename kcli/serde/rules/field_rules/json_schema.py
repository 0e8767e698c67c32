"""CEL_FIELD rules for payloads with a JSON schema, traversed like in Confluent's serializers.

Fields are the `properties` of objects, with paths such as `$.buyer.mail`; missing and null ones are skipped, and so is
anything with an `enum` or a `const`. For `oneOf` the first branch that validates the value counts, for `anyOf` each
one.
"""

from __future__ import annotations

import json
from collections import namedtuple
from math import isfinite
from urllib.parse import unquote

from celpy import celtypes

from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.tags import TAGS, Tags
from kcli.serde.json_schema.child import TooSlow
from kcli.serde.json_schema.validate import JsonValidator
from kcli.serde.rules.cel_values import plain_value
from kcli.serde.rules.field_rules.field import KEPT, FieldRule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NamedTuple

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.rules.expression import Expression

    class Place(NamedTuple):
        """A part of a schema: its file's name and the path in it."""

        file: str
        steps: tuple[str, ...]

    class Around(NamedTuple):
        """The enclosing field of a value: its object, path and tags."""

        message: dict[str, Any]
        path: str
        tags: frozenset[str]
else:
    Place = namedtuple("Place", "file steps")
    Around = namedtuple("Around", "message path tags")

TYPES = {"string": "STRING", "integer": "INT", "number": "DOUBLE", "boolean": "BOOLEAN"}
"""Names of simple types in rules."""
FITTING: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "integer": (int,),
    "number": (int, float),
}
OWN = "own.json"
"""The name of the schema itself as a reference."""
MOST_STEPS = 100_000
"""Schema parts to visit for one value: `allOf` may list the same ones again and again."""


class JsonFieldRule:
    """One rule for values of a schema."""

    def __init__(self, schema: Schema, referred: Sequence[tuple[str, str]], rule: Rule, expression: Expression) -> None:
        """Raises SchemaRefused, UsageError."""
        self._texts = [(OWN, schema.text), *referred]
        self._files = {name: json.loads(text) for name, text in self._texts}
        own = self._files[OWN]
        self._draft = own.get("$schema") if isinstance(own, dict) else None
        self._names = {
            str(found.get("$id") or found.get("id")): name
            for name, found in self._files.items()
            if isinstance(found, dict) and (found.get("$id") or found.get("id"))
        }
        self._validators: dict[Place, JsonValidator] = {}
        self._tags = Tags(schema, [rule])
        self._field_rule = FieldRule(rule, expression)
        self._steps = 0

    def applied(self, payload: bytes, now: Any) -> bytes:
        """Return the payload with the rule's changes. Raises BadValue if the rule rejects it."""
        self._steps, self._field_rule.now = 0, now
        value = json.loads(payload)
        before = json.dumps(value)
        try:
            value = self._walk(value, Place(OWN, ()), None)
            if json.dumps(value) == before:
                return payload
        except RecursionError:
            raise BadValue("it is nested too deeply for its rules") from None
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def _walk(self, value: Any, place: Place, around: Around | None) -> Any:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise BadValue("its schema has too many branches for its rules")
        schema = self._at(place)
        if value is None or not isinstance(schema, dict):
            return value
        if schema.get("type") and isinstance(schema["type"], list) and self._valid(place, value):
            type = next((one for one in schema["type"] if _is_of(value, one)), None)
            return self._typed(value, {**schema, "type": type}, place, around)
        return self._typed(value, schema, place, around)

    def _typed(self, value: Any, schema: dict[str, Any], place: Place, around: Around | None) -> Any:
        """Handle a value by a schema of one type."""
        word = next((word for word in ("allOf", "oneOf", "anyOf") if isinstance(schema.get(word), list)), None)
        if word is not None:
            value = self._branches(value, place, word, around)
            self._properties(value, schema, place, around)
            return self._items(value, schema, place, around)
        if isinstance(value, list) and ("items" in schema or "prefixItems" in schema):
            return self._items(value, schema, place, around)
        if isinstance(reference := schema.get("$ref"), str):
            return self._walk(value, self._referred(reference, place), around)
        kind = "enum" if schema.get("const") is not None or schema.get("enum") is not None else schema.get("type")
        if kind == "object" or (kind is None and "properties" in schema):
            self._properties(value, schema, place, around)
        elif around is not None and isinstance(kind, str) and kind in TYPES and self._field_rule.concerns(around.tags):
            message = plain_value(around.message) if self._field_rule.sees_message else None
            made = self._field_rule.made(plain_value(value), around.path, TYPES[kind], around.tags, message)
            return value if made is KEPT else self._json(made, around)
        return value

    def _branches(self, value: Any, place: Place, word: str, around: Around | None) -> Any:
        for number, branch in enumerate(self._at(place)[word]):
            inner = Place(place.file, (*place.steps, word, str(number)))
            if word == "allOf":
                value = self._walk(value, inner, around)
            elif isinstance(branch, dict) and self._valid(inner, value):
                value = self._walk(value, inner, around)
                if word == "oneOf":
                    break
        return value

    def _properties(self, value: Any, schema: dict[str, Any], place: Place, around: Around | None) -> None:
        named = schema.get("properties")
        if not isinstance(named, dict) or not isinstance(value, dict):
            return
        for name, inner in named.items():
            if isinstance(inner, dict) and value.get(name) is not None:
                path = f"{around.path if around is not None else '$'}.{name}"
                own = inner.get(TAGS)
                tags = self._tags.of(path, map(str, own if isinstance(own, list) else ()))
                steps = Place(place.file, (*place.steps, "properties", name))
                value[name] = self._walk(value[name], steps, Around(value, path, tags))

    def _items(self, value: Any, schema: dict[str, Any], place: Place, around: Around | None) -> Any:
        if not isinstance(value, list):
            return value
        word = "prefixItems" if isinstance(schema.get("prefixItems"), list) else "items"
        firsts = len(schema[word]) if isinstance(schema.get(word), list) else 0  # one schema per position
        rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
        if not firsts and not isinstance(schema.get(rest), dict):
            return value
        return [
            self._walk(item, Place(place.file, (*place.steps, *((word, str(n)) if n < firsts else (rest,)))), around)
            for n, item in enumerate(value)
        ]

    def _json(self, made: Any, around: Around) -> Any:
        """Return the result of an expression as JSON. Raises BadValue."""
        name = around.path.rpartition(".")[2]
        if isinstance(made, celtypes.BoolType | bool):
            return bool(made)
        if isinstance(made, dict):
            return {str(key): self._json(item, around) for key, item in made.items()}
        if isinstance(made, list):
            return [self._json(item, around) for item in made]
        if made is None or isinstance(made, str):
            return made if made is None else str(made)
        if isinstance(made, int) or (isinstance(made, float) and isfinite(made)):
            return int(made) if isinstance(made, int) else float(made)
        raise self._field_rule.refused(name, "what JSON does not have")

    def _valid(self, place: Place, value: Any) -> bool:
        """Whether a value is valid by this part of the schema. Raises BadValue if that cannot be determined."""
        if place not in self._validators:
            pointer = "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in place.steps)
            text = {"$ref": f"{place.file}#{pointer}", **({"$schema": self._draft} if self._draft else {})}
            self._validators[place] = JsonValidator(json.dumps(text), self._texts)
        try:
            return self._validators[place].problem(value) is None
        except TooSlow as problem:
            raise BadValue(str(problem)) from None

    def _referred(self, reference: str, place: Place) -> Place:
        name, _, pointer = reference.partition("#")
        steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in unquote(pointer).split("/")[1:])
        return Place(self._names.get(name, name) if name else place.file, steps)

    def _at(self, place: Place) -> Any:
        """Return a part of a schema; None if it does not exist."""
        found = self._files.get(place.file)
        for step in place.steps:
            if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                found = found.get(step) if isinstance(found, dict) else None
        return found


def _is_of(value: Any, type: object) -> bool:
    kinds = FITTING.get(str(type), ())
    whole = type == "integer" and isinstance(value, float) and value.is_integer()
    return whole or (isinstance(value, kinds) and (not isinstance(value, bool) or type == "boolean"))
