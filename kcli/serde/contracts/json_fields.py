"""Replaces encrypted strings in JSON values by placeholders. Tags are in the schema of a property (`confluent:tags`),
or assigned to its path in the metadata: `$.buyer.mail`."""

from __future__ import annotations

import json
from urllib.parse import unquote

from kcli.serde.contracts.tags import TAGS, sealed
from kcli.serde.schemas.payloads import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.contracts.tags import Tags

MOST_STEPS = 100_000
"""Schemas to visit for one value: `allOf` may list the same ones again and again."""
BRANCHES = ("allOf", "anyOf", "oneOf")


class JsonFields:
    """Values of a JSON schema whose fields are encrypted by rules. If several alternatives are possible, all count:
    whatever may be ciphertext is replaced."""

    def __init__(self, schema: Schema, referred: Sequence[tuple[str, str]], tags: Tags) -> None:
        self._tags = tags
        self._steps = 0
        self._own = json.loads(schema.text)
        self._files: dict[str, Any] = {}
        for name, text in referred:
            found = json.loads(text)
            self._files[name] = found
            if isinstance(found, dict):
                self._files.setdefault(str(found.get("$id") or found.get("id") or name), found)

    def marked(self, value: Any) -> Any:
        """Return the value with encrypted parts replaced. Raises Unreadable."""
        self._steps = 0
        return self._walk(value, self._own, self._own, None, "$")

    def _walk(self, value: Any, schema: Any, file: Any, rule: Rule | None, path: str) -> Any:
        """Replace parts of a value. `rule` encrypts the enclosing field; None: no rule does. `file` is the document for
        references with `#`."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Unreadable("its schema has too many branches to find what is encrypted")
        if not isinstance(schema, dict):
            return value
        if isinstance(reference := schema.get("$ref"), str):
            found, where = self._referred(reference, file)
            value = self._walk(value, found, where, rule, path)
        for branch in (branch for word in BRANCHES for branch in _list(schema.get(word))):
            value = self._walk(value, branch, file, rule, path)
        if isinstance(value, dict) and not _is_mark(value):
            self._object(value, schema, file, path)
        elif isinstance(value, list):
            items = _list(schema.get("prefixItems")) or _list(schema.get("items"))
            more = schema.get("additionalItems" if isinstance(schema.get("items"), list) else "items")
            for number, item in enumerate(value):
                value[number] = self._walk(item, items[number] if number < len(items) else more, file, rule, path)
        elif rule is not None and type(value) is str:  # a number without exact form is a str of another class
            return sealed(rule)
        return value

    def _object(self, value: dict[str, Any], schema: dict[str, Any], file: Any, path: str) -> None:
        named = schema.get("properties")
        named = named if isinstance(named, dict) else {}
        for name, item in value.items():
            inner = named.get(name, schema.get("additionalProperties"))
            if isinstance(inner, dict):
                own = f"{path}.{name}"
                tags = inner.get(TAGS)
                rule = self._tags.rule(own, map(str, _list(tags) or ([tags] if tags else [])))
                value[name] = self._walk(item, inner, file, rule, own)

    def _referred(self, reference: str, file: Any) -> tuple[Any, Any]:
        """Resolve a `$ref`: return the schema and its document; None if it cannot be resolved."""
        name, _, pointer = reference.partition("#")
        file = self._files.get(name) if name else file
        found = file
        for step in unquote(pointer).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                found = found.get(step) if isinstance(found, dict) else None
        return found, file


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _is_mark(value: dict[str, Any]) -> bool:
    """Whether another alternative already replaced it."""
    return list(value) == ["encrypted"] and isinstance(value["encrypted"], str)
