"""Pairs of schemas, the second changed from the first as people change schemas: some changes keep it readable."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.serde.avro.samples import NAMES, schemas

Json = Any
PROMOTIONS = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"],
              "string": ["bytes"], "bytes": ["string"]}  # fmt: skip
DEFAULTS = {"int": 1, "long": 2, "double": 0.5, "string": "x", "boolean": True, "null": None}
ODDS = 5  # one change in so many types


@st.composite
def evolutions(draw: st.DrawFn, depth: int = 3) -> tuple[Json, Json]:
    """(the older schema, the newer one)."""
    older = draw(schemas(depth))
    if draw(st.booleans()):
        older = _recursive(older)
    return older, _Changed(draw).type(json.loads(json.dumps(older)))


def _recursive(schema: Json) -> Json:
    """Within a list of itself."""
    itself = {"name": "next", "type": ["null", "Node"], "default": None}
    return {"type": "record", "name": "Node", "fields": [{"name": "value", "type": schema}, itself]}


class _Changed:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def seldom(self) -> bool:
        return self.draw(st.integers(0, ODDS)) == 0

    def type(self, schema: Json) -> Json:
        if isinstance(schema, list):
            return self.union([self.type(branch) for branch in schema])
        if isinstance(schema, str):
            return self.leaf(schema)
        if schema["type"] == "array":
            return {**schema, "items": self.type(schema["items"])}
        if schema["type"] == "map":
            return {**schema, "values": self.type(schema["values"])}
        return self.named(schema)

    def leaf(self, kind: str) -> Json:
        if kind not in PROMOTIONS and kind not in DEFAULTS:
            return kind
        if self.seldom():
            return self.draw(st.sampled_from([*PROMOTIONS.get(kind, []), "null", "int", "string"]))
        return ["null", kind] if kind != "null" and self.seldom() else kind

    def union(self, branches: list[Json]) -> Json:
        flat = [part for branch in branches for part in (branch if isinstance(branch, list) else [branch])]
        if flat and self.seldom():
            flat = flat[1:] if self.draw(st.booleans()) else flat[::-1]
        kept: dict[str, Json] = {}
        for branch in flat:
            kept.setdefault(branch if isinstance(branch, str) else branch.get("name", branch["type"]), branch)
        if len(kept) == 1 and self.draw(st.booleans()):
            return next(iter(kept.values()))
        return list(kept.values())

    def named(self, schema: Json) -> Json:
        if self.seldom() and schema["name"] != "Node":
            renamed = {**schema, "name": f"{schema['name']}new"}
            space = schema.get("namespace")
            alias = f"{space}.{schema['name']}" if space else schema["name"]
            schema = {**renamed, "aliases": [alias]} if self.draw(st.booleans()) else renamed
        if schema["type"] == "fixed":
            return {**schema, "size": schema["size"] + 1} if self.seldom() else schema
        if schema["type"] == "enum":
            return self.enum(schema)
        fields = [self.field(field) for field in schema["fields"] if not self.seldom()]
        if self.seldom():
            fields.insert(self.draw(st.integers(0, len(fields))), self.fresh())
        by_name = {field["name"]: field for field in fields}
        return {**schema, "fields": list(by_name.values())}

    def enum(self, schema: Json) -> Json:
        symbols = schema["symbols"]
        if self.seldom():
            symbols = symbols[1:] + self.draw(st.lists(st.sampled_from("XYZ"), min_size=1, unique=True))
        if self.seldom():
            return {**schema, "symbols": symbols, "default": symbols[0]}
        return {**schema, "symbols": symbols}

    def field(self, field: Json) -> Json:
        if field["name"] == "next":
            return field
        field = {**field, "type": self.type(field["type"])}
        if self.seldom():
            renamed = {**field, "name": f"{field['name']}_new"}
            return {**renamed, "aliases": [field["name"]]} if self.draw(st.booleans()) else renamed
        return field

    def fresh(self) -> Json:
        kind = self.draw(st.sampled_from(sorted(DEFAULTS)))
        field = {"name": f"{self.draw(NAMES)}_fresh", "type": kind}
        return {**field, "default": DEFAULTS[kind]} if self.draw(st.booleans()) else field
