"""Makes a schema self-contained: each type that it references is defined at its first use."""

from __future__ import annotations

import json

from kcli.serde.avro.types import PRIMITIVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Json = object

NAMED = ("record", "error", "enum", "fixed")


def resolved(text: str, references: Iterable[str]) -> str:
    """Return the text with the types of the `references` included; both parse as Avro (see parse.py). Each type is
    defined once, under its full name. Raises RecursionError for types nested too deeply for Python's stack."""
    known: dict[str, dict[str, Json]] = {}
    for referred in references:
        _collect(json.loads(referred), "", known)
    return json.dumps(_Inlined(known).type(json.loads(text), ""), ensure_ascii=False)


def _full(name: str, space: str) -> str:
    return f"{space}.{name}" if space and "." not in name else name


def _named(schema: dict[str, Json], space: str) -> str:
    """Return the full name of a definition."""
    given = schema.get("namespace")
    return _full(str(schema["name"]), given if isinstance(given, str) else space)


def _collect(schema: Json, space: str, known: dict[str, dict[str, Json]]) -> None:
    """Collect the definitions in a schema by full name."""
    if isinstance(schema, list):
        for branch in schema:
            _collect(branch, space, known)
        return
    if not isinstance(schema, dict):
        return
    if schema.get("type") in NAMED:
        name = _named(schema, space)
        known[name] = {key: value for key, value in schema.items() if key != "namespace"} | {"name": name}
        space = name.rpartition(".")[0]
        fields = schema.get("fields")
        for field in fields if isinstance(fields, list) else ():
            _collect(field["type"], space, known)
        return
    for key in ("type", "items", "values"):
        _collect(schema.get(key), space, known)


class _Inlined:
    """A text in progress, with the types defined so far."""

    def __init__(self, known: dict[str, dict[str, Json]]) -> None:
        self.known = known
        self.defined: set[str] = set()

    def type(self, schema: Json, space: str) -> Json:
        if isinstance(schema, list):
            return [self.type(branch, space) for branch in schema]
        if isinstance(schema, str):
            return self.name(schema, space)
        if not isinstance(schema, dict):
            return schema
        if schema.get("type") in NAMED:
            return self.definition(schema, space)
        return {
            key: self.type(value, space) if key in ("type", "items", "values") else value
            for key, value in schema.items()
        }

    def name(self, name: str, space: str) -> Json:
        if name in PRIMITIVES or name in ("array", "map"):
            return name
        for full in (_full(name, space), name):
            if full in self.known and full not in self.defined:
                return self.definition(self.known[full], "")
            if full in self.defined:
                return full
        return name

    def definition(self, schema: dict[str, Json], space: str) -> Json:
        name = _named(schema, space)
        self.defined.add(name)
        inner = name.rpartition(".")[0]
        inlined = {**schema, "name": name} if "." in name else {**schema, "name": name, "namespace": ""}
        if "." in name:
            inlined.pop("namespace", None)
        fields = schema.get("fields")
        if isinstance(fields, list):
            inlined["fields"] = [{**field, "type": self.type(field["type"], inner)} for field in fields]
        return inlined
