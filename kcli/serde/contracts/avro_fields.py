"""Replaces encrypted strings and bytes in Avro values by placeholders."""

from __future__ import annotations

import json

from kcli.serde.contracts.tags import TAGS, sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.contracts.tags import Tags


class AvroFields:
    """Values of an Avro schema whose fields are encrypted by rules."""

    def __init__(self, schema: Schema, texts: Sequence[str], tags: Tags) -> None:
        self._tags = tags
        self._schema = json.loads(schema.text)
        self._named: dict[str, Any] = {}
        for part in [*map(json.loads, texts), self._schema]:
            self._name(part, "")

    def marked(self, value: Any) -> Any:
        """Return the value with encrypted parts replaced."""
        return self._walk(value, self._schema, None)

    def _name(self, schema: Any, space: str) -> None:
        """Register named types by full name, and set each record's full name."""
        if isinstance(schema, list):
            for branch in schema:
                self._name(branch, space)
        if not isinstance(schema, dict):
            return
        if isinstance(schema.get("type"), dict | list):
            self._name(schema["type"], space)
        if isinstance(name := schema.get("name"), str) and schema.get("type") in ("record", "error", "enum", "fixed"):
            own = name.rpartition(".")[0] or schema.get("namespace", space)
            schema["name"] = f"{own}.{name.rpartition('.')[2]}" if own else name
            schema["namespace"] = space = own
            self._named[schema["name"]] = schema
        for field in schema.get("fields", ()):
            self._name(field, space)
        for inner in ("items", "values"):
            self._name(schema.get(inner), space)

    def _walk(self, value: Any, schema: Any, rule: Rule | None, space: str = "") -> Any:
        """Replace parts of a value. `rule` encrypts the enclosing field; None: no rule does."""
        if isinstance(schema, list):
            return self._branch(value, schema, rule, space)
        kind = schema.get("type") if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            return self._walk(value, kind, rule, space)
        if isinstance(schema, str) and (found := self._named.get(schema) or self._named.get(f"{space}.{schema}")):
            return self._walk(value, found, rule, space)
        if kind in ("record", "error") and isinstance(value, dict):
            for field in schema["fields"]:
                if field["name"] in value:
                    own = self._tags.rule(f"{schema['name']}.{field['name']}", field.get(TAGS) or ())
                    held = value[field["name"]]
                    value[field["name"]] = self._walk(held, field["type"], own, schema["namespace"])
        elif kind == "array" and isinstance(value, list):
            return [self._walk(item, schema["items"], rule, space) for item in value]
        elif kind == "map" and isinstance(value, dict):
            return {key: self._walk(item, schema["values"], rule, space) for key, item in value.items()}
        elif rule is not None and kind in ("string", "bytes") and isinstance(value, str | dict):
            return sealed(rule)
        return value

    def _branch(self, value: Any, union: list[Any], rule: Rule | None, space: str) -> Any:
        """Replace parts of a value of any branch: whatever may be ciphertext counts as such. A union may name its
        branch around it."""
        for branch in union:
            name = branch.get("name", branch.get("type")) if isinstance(branch, dict) else branch
            if isinstance(value, dict) and list(value) == [name]:
                return {name: self._walk(value[name], branch, rule, space)}
        for branch in union:
            made = self._walk(value, branch, rule, space)
            if isinstance(made, dict) and list(made) == ["encrypted"]:
                return made
            value = made
        return value
