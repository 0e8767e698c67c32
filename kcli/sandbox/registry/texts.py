"""Schemas as a registry takes them in: read by their type, refused where they are none, and kept as one text for all
texts of the same schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.schemas import AVRO, JSON, KINDS, PROTOBUF, SchemaRefused
from kcli.serde.avro.parse import parse
from kcli.serde.avro.strict import parse_strictly
from kcli.serde.avro.types import PRIMITIVES, Named, Type
from kcli.serde.protobuf.reader import ProtobufSchema

LONGEST = 4 * 1024 * 1024  # characters
PARTS = {
    "record": ("doc", "fields"),
    "error": ("doc", "fields"),
    "enum": ("doc", "symbols", "default"),
    "fixed": ("doc", "size"),
    "array": ("items",),
    "map": ("values",),
}
"""The attributes of a type that Java writes behind its name, in this order; unknown ones follow, then aliases."""


def canonical(kind: str, text: str, needed: Sequence[str], *, normalize: bool) -> str:
    """The text that is kept. `needed` are the texts of the schemas that it refers to. Raises Refused."""
    if kind not in KINDS:
        raise refusals.bad_schema(f"there is no type {kind[:40]!r}; there are {', '.join(KINDS)}")
    if not text.strip():
        raise refusals.bad_schema("it is empty")
    if len(text) > LONGEST:
        raise refusals.too_large(f"The schema is longer than {LONGEST:,} characters")
    return _READERS[kind](text, needed, normalize)


def avro_type(text: str, needed: Sequence[str]) -> Type:
    """Raises Refused."""
    try:
        return parse(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None


def resolved(text: str, needed: Sequence[str]) -> str:
    """An Avro schema with the schemas that it refers to in its text."""
    by_name = {}
    for number, other in enumerate(needed):
        found = avro_type(other, needed[:number])
        if isinstance(found, Named):
            by_name[found.name] = other
    return written(text, references=by_name)


def _avro(text: str, needed: Sequence[str], normalize: bool) -> str:
    try:
        parse_strictly(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None
    return written(text, normalize=normalize)


def _json(text: str, needed: Sequence[str], normalize: bool) -> str:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise refusals.bad_schema(f"it is not JSON: {problem}") from None
    if not isinstance(found, dict | bool):
        raise refusals.bad_schema("a JSON schema is an object, true or false")
    try:
        return json.dumps(found, separators=(",", ":"), ensure_ascii=False, sort_keys=normalize, allow_nan=False)
    except (ValueError, RecursionError) as problem:
        raise refusals.bad_schema(f"it is not JSON: {problem}") from None


def _protobuf(text: str, needed: Sequence[str], normalize: bool) -> str:
    """The text as it came, or the base64 of a descriptor, which Confluent's registry would write as a text."""
    try:
        ProtobufSchema(text, needed)
    except SchemaRefused as problem:
        raise refusals.bad_schema(str(problem)) from None
    return text


_READERS: dict[str, Callable[[str, Sequence[str], bool], str]] = {AVRO: _avro, JSON: _json, PROTOBUF: _protobuf}


# An Avro schema's text as Java writes it (`Schema.toString`): by it a registry finds that two texts are one schema.
#
# Attributes have their order, names no namespace that is the one around them, and there is no white space; docs,
# defaults and unknown properties stay. Normalized, names are full and unknown properties in the order of their names.
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
