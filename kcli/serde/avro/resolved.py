"""A schema whose text needs no other one: each type that it refers to is defined where it is first used."""

from __future__ import annotations

import json

from kcli.serde.avro.types import PRIMITIVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Json = object

NAMED = ("record", "error", "enum", "fixed")


def resolved(text: str, references: Iterable[str]) -> str:
    """The text with the types of the `references` put in; both parse as Avro (see parse.py). Each type is defined once,
    under its full name. Raises RecursionError for types nested deeper than Python's stack."""
    known: dict[str, dict[str, Json]] = {}
    for referred in references:
        _collect(json.loads(referred), "", known)
    return json.dumps(_Inlined(known).type(json.loads(text), ""), ensure_ascii=False)


def _full(name: str, space: str) -> str:
    return f"{space}.{name}" if space and "." not in name else name


def _named(found: dict[str, Json], space: str) -> str:
    """The full name of a definition."""
    given = found.get("namespace")
    return _full(str(found["name"]), given if isinstance(given, str) else space)


def _collect(found: Json, space: str, known: dict[str, dict[str, Json]]) -> None:
    """The definitions in a schema, by their full names."""
    if isinstance(found, list):
        for branch in found:
            _collect(branch, space, known)
        return
    if not isinstance(found, dict):
        return
    if found.get("type") in NAMED:
        name = _named(found, space)
        known[name] = {key: value for key, value in found.items() if key != "namespace"} | {"name": name}
        space = name.rpartition(".")[0]
        fields = found.get("fields")
        for field in fields if isinstance(fields, list) else ():
            _collect(field["type"], space, known)
        return
    for key in ("type", "items", "values"):
        _collect(found.get(key), space, known)


class _Inlined:
    """One text under way: the types that it has defined."""

    def __init__(self, known: dict[str, dict[str, Json]]) -> None:
        self.known = known
        self.defined: set[str] = set()

    def type(self, found: Json, space: str) -> Json:
        if isinstance(found, list):
            return [self.type(branch, space) for branch in found]
        if isinstance(found, str):
            return self.name(found, space)
        if not isinstance(found, dict):
            return found
        if found.get("type") in NAMED:
            return self.definition(found, space)
        return {
            key: self.type(value, space) if key in ("type", "items", "values") else value
            for key, value in found.items()
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

    def definition(self, found: dict[str, Json], space: str) -> Json:
        name = _named(found, space)
        self.defined.add(name)
        inner = name.rpartition(".")[0]
        made = {**found, "name": name} if "." in name else {**found, "name": name, "namespace": ""}
        if "." in name:
            made.pop("namespace", None)
        fields = found.get("fields")
        if isinstance(fields, list):
            made["fields"] = [{**field, "type": self.type(field["type"], inner)} for field in fields]
        return made
