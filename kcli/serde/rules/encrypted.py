"""Values that a rule encrypts: marked, for kcli asks for no key. `{"encrypted": "KEK"}` is in place of a field."""

from __future__ import annotations

import json
import re

from kcli.schemas import AVRO
from kcli.serde.rules.rules import PAYLOAD, Rule, encrypts, rules_of
from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from kcli.schemas import Schema

TAGS = "confluent:tags"


def marked(schema: Schema, texts: Sequence[str], reader: PayloadReader) -> PayloadReader:
    """The reader of a schema with its rules heeded. `texts` are those of the schemas that it refers to. Fields are
    marked in Avro; of other kinds, and where a rule encrypts payloads, values stay as they are stored."""
    rules = [rule for rule in rules_of(schema) if encrypts(rule)]
    if not rules:
        return reader
    if schema.kind != AVRO or any(rule.type == PAYLOAD for rule in rules):
        return Sealed(rules[0])
    return EncryptedReader(reader, AvroTags(schema, texts), rules)


class Sealed(PayloadReader):
    """Reads nothing: the values stay as they are stored."""

    def __init__(self, rule: Rule) -> None:
        self._reason = f"encrypted: {rule.key or rule.name}"

    def json(self, data: bytes) -> bytes:
        raise Unreadable(self._reason)


class EncryptedReader(PayloadReader):
    """Reads values of Avro; texts and bytes in fields that a rule encrypts are ciphertext, and marked as such."""

    def __init__(self, reader: PayloadReader, tags: AvroTags, rules: Sequence[Rule]) -> None:
        self._reader = reader
        self._tags = tags
        self._rules = rules

    def json(self, data: bytes) -> bytes:
        value = self._tags.marked(json.loads(read_one(self._reader, data)), self._rules)
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class AvroTags:
    """The tags of a schema's fields: in its text, and by patterns of paths in its metadata."""

    def __init__(self, schema: Schema, texts: Sequence[str]) -> None:
        self._schema = json.loads(schema.text)
        self._named: dict[str, Any] = {}
        for part in [*map(json.loads, texts), self._schema]:
            self._name(part, "")
        metadata = json.loads(schema.metadata) if schema.metadata else {}
        patterns = metadata.get("tags") if isinstance(metadata, dict) else None
        self._patterns = [
            (_pattern(path), frozenset(map(str, tags)))
            for path, tags in (patterns.items() if isinstance(patterns, dict) else ())
            if isinstance(tags, list)
        ]

    def marked(self, value: Any, rules: Sequence[Rule]) -> Any:
        """The value with what these rules encrypt replaced."""
        return self._walk(value, self._schema, None, rules)

    def _name(self, schema: Any, space: str) -> None:
        """Note the types with a name, each by its full name, and give its own full name to each record."""
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

    def _walk(self, value: Any, schema: Any, rule: Rule | None, rules: Sequence[Rule], space: str = "") -> Any:
        """`rule` encrypts the field around this value; None: no rule does."""
        if isinstance(schema, list):
            return self._branch(value, schema, rule, rules, space)
        kind = schema.get("type") if isinstance(schema, dict) else schema
        if isinstance(kind, dict | list):
            return self._walk(value, kind, rule, rules, space)
        if isinstance(schema, str) and (found := self._named.get(schema) or self._named.get(f"{space}.{schema}")):
            return self._walk(value, found, rule, rules, space)
        if kind in ("record", "error") and isinstance(value, dict):
            for field in schema["fields"]:
                if field["name"] in value:
                    own = next(self._rules_of(f"{schema['name']}.{field['name']}", field, rules), None)
                    held = value[field["name"]]
                    value[field["name"]] = self._walk(held, field["type"], own, rules, schema["namespace"])
        elif kind == "array" and isinstance(value, list):
            return [self._walk(item, schema["items"], rule, rules, space) for item in value]
        elif kind == "map" and isinstance(value, dict):
            return {key: self._walk(item, schema["values"], rule, rules, space) for key, item in value.items()}
        elif rule is not None and kind in ("string", "bytes") and isinstance(value, str | dict):
            return {"encrypted": rule.key or rule.name}
        return value

    def _branch(self, value: Any, union: list[Any], rule: Rule | None, rules: Sequence[Rule], space: str) -> Any:
        """A value of any branch: what may be ciphertext is taken for it. A union may name its branch around it."""
        for branch in union:
            name = branch.get("name", branch.get("type")) if isinstance(branch, dict) else branch
            if isinstance(value, dict) and list(value) == [name]:
                return {name: self._walk(value[name], branch, rule, rules, space)}
        for branch in union:
            made = self._walk(value, branch, rule, rules, space)
            if isinstance(made, dict) and list(made) == ["encrypted"]:
                return made
            value = made
        return value

    def _rules_of(self, path: str, field: dict[str, Any], rules: Sequence[Rule]) -> Iterator[Rule]:
        """Those that encrypt a field; a rule without tags encrypts each."""
        tags = set(field.get(TAGS) or ()).union(*(tags for pattern, tags in self._patterns if pattern.fullmatch(path)))
        return (rule for rule in rules if not rule.tags or rule.tags & tags)


def _pattern(path: str) -> re.Pattern[str]:
    """A path of Confluent's: `**` is any, `*` any without a dot, `?` one character of a name."""
    some = {"**": ".*", "*": "[^.]*", "?": "[^.]"}
    return re.compile("".join(some.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", path)))
