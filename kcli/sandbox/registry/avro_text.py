"""An Avro schema's text as Java writes it (`Schema.toString`): by it a registry finds that two texts are one schema.

Attributes have their order, names no namespace that is the one around them, and there is no white space; docs, defaults
and unknown properties stay. Normalized, names are full and unknown properties in the order of their names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kcli.serde.avro.types import PRIMITIVES

PARTS = {
    "record": ("doc", "fields"),
    "error": ("doc", "fields"),
    "enum": ("doc", "symbols", "default"),
    "fixed": ("doc", "size"),
    "array": ("items",),
    "map": ("values",),
}
"""The attributes of a type that Java writes behind its name, in this order; unknown ones follow, then aliases."""


def written(text: str, *, normalize: bool = False, references: Mapping[str, str] | None = None) -> str:
    """The text of a schema that `kcli.serde.avro.parse` accepts. `references` are texts of other schemas by the full
    names that they define: each is put in where its name occurs first."""
    writer = _Writer(normalize, references or {})
    return json.dumps(writer.type(_read(text), ""), separators=(",", ":"), ensure_ascii=False)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()  # a primitive without its quotes


class _Writer:
    def __init__(self, normalize: bool, references: Mapping[str, str]) -> None:
        self._normalize = normalize
        self._left = dict(references)

    def type(self, tree: Any, space: str) -> Any:
        """`space` is the namespace around it."""
        if isinstance(tree, str):
            return self._named(tree, space)
        if isinstance(tree, list):
            return [self.type(branch, space) for branch in tree]
        kind = tree["type"]
        if isinstance(kind, dict | list):
            return self.type(kind, space)
        if kind in PARTS:
            return self._object(kind, tree, space)
        others = self._others(tree, ("type",))
        if kind in PRIMITIVES and others:
            return {"type": kind, **others}
        return self._named(kind, space)

    def _named(self, name: str, space: str) -> Any:
        if name in PRIMITIVES:
            return name
        full = name if "." in name or not space else f"{space}.{name}"
        found = next((known for known in (full, name) if known in self._left), None)
        if found is not None:
            return self.type(_read(self._left.pop(found)), "")
        return full if self._normalize else _short(full, name, space)

    def _object(self, kind: str, tree: dict[str, Any], space: str) -> dict[str, Any]:
        out: dict[str, Any] = {"type": kind}
        known = ["type", *PARTS[kind]]
        if "name" in tree and kind not in ("array", "map"):
            own, name = _full(tree, space), tree["name"].rpartition(".")[2]
            known += ["name", "namespace", "aliases"]
            out["name"] = f"{own}.{name}" if self._normalize and own else name
            if own != space and not self._normalize:
                out["namespace"] = own
            self._left.pop(f"{own}.{name}" if own else name, None)
            space = own
        for part in PARTS[kind]:
            if part in tree:
                out[part] = self._part(part, tree[part], space)
        out |= self._others(tree, known)
        if "aliases" in known and tree.get("aliases"):
            out["aliases"] = tree["aliases"]
        return out

    def _part(self, part: str, value: Any, space: str) -> Any:
        if part == "fields":
            return [self._field(field, space) for field in value]
        return self.type(value, space) if part in ("items", "values") else value

    def _field(self, field: dict[str, Any], space: str) -> dict[str, Any]:
        known = ("name", "type", "doc", "default", "order", "aliases")
        others = self._others(field, known)
        kind = field["type"]
        if isinstance(kind, str) and kind in PRIMITIVES and "logicalType" in others:
            kind, others = {"type": kind, **others}, {}  # as some generators write it, and the reader takes it
        out = {"name": field["name"], "type": self.type(kind, space)}
        for name in known[2:]:
            if name in field and not (name == "order" and field[name] == "ascending"):
                out[name] = field[name]
        return {**out, **others}

    def _others(self, tree: dict[str, Any], known: Any) -> dict[str, Any]:
        found = [name for name in tree if name not in known]
        return {name: tree[name] for name in (sorted(found) if self._normalize else found)}


def _full(tree: dict[str, Any], space: str) -> str:
    """The namespace of a named type."""
    around, dot, _ = tree["name"].rpartition(".")
    if dot:
        return str(around)
    given = tree.get("namespace")
    return given if isinstance(given, str) else space


def _short(full: str, name: str, space: str) -> str:
    around, _, last = full.rpartition(".")
    return last if around == space else name
