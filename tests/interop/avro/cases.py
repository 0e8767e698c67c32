"""Random Avro schemas, what people change in them, payloads and JSON of them: the cases of the differential suite."""

from __future__ import annotations

import copy
import random
from struct import pack
from typing import Any

from kcli.proto.varint import encode_varint

Json = Any
SPACES = ("", "a", "b.c")
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
WIDER = {"int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",), "string": ("bytes",),
         "bytes": ("string",)}  # fmt: skip
FLOATS = (0.0, 0.5, -1.25, 3.0, 1e10, 0.1, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "x", "é", '\x00"\\', "𝄞")
ODD_DEFAULTS: tuple[object, ...] = (None, "x", 1.0, 2**40, [], {}, True)
ODD = tuple({"default": value} for value in ODD_DEFAULTS)
PLACES = ("symbols", "size", "name", "fields", "items")


class Drawn:
    """One case. Named types have names of their own, or one short name in several namespaces."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0

    def seldom(self, one_in: int = 5) -> bool:
        return self.rng.randrange(one_in) == 0

    # -- schemas ------------------------------------------------------------------------------------------------------

    def record(self, depth: int = 3, name: str = "", space: str | None = None) -> Json:
        self.count += 1
        own = name or f"R{self.count}"
        count = self.rng.randrange(1, 4)  # of a record without fields Java's encoder writes no JSON
        fields = [self.field(f"f{number}", self.schema(depth - 1)) for number in range(count)]
        if self.seldom():
            fields.append({"name": "again", "type": ["null", own], "default": None})
        return {"type": "record", "name": own, **self.space(space), "fields": fields}

    def space(self, space: str | None = None) -> Json:
        return {"namespace": self.rng.choice(SPACES) if space is None else space}

    def field(self, name: str, type: Json) -> Json:
        found = {"name": name, "type": type}
        if self.seldom(3):
            default = self.default(type)
            if default is not NONE:
                found["default"] = default
        return found

    def schema(self, depth: int) -> Json:
        kind = self.rng.choice(("leaf", "leaf", "record", "array", "map", "union", "enum", "fixed"))
        if depth <= 0 or kind == "leaf":
            return self.rng.choice(PRIMITIVES)
        if kind == "record":
            return self.record(depth)
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1)}
        if kind == "map":
            return {"type": "map", "values": self.schema(depth - 1)}
        if kind == "union":
            return self.union(depth)
        self.count += 1
        return self.named(kind, f"N{self.count}", self.rng.choice(SPACES), depth)

    def named(self, kind: str, name: str, space: str, depth: int) -> Json:
        if kind == "record":
            return self.record(depth, name, space)
        if kind == "enum":
            return {"type": "enum", "name": name, "namespace": space,
                    "symbols": [f"S{n}" for n in range(self.rng.randrange(1, 4))]}  # fmt: skip
        return {"type": "fixed", "name": name, "namespace": space, "size": self.rng.randrange(4)}

    def union(self, depth: int) -> Json:
        branches: list[Json] = self.rng.sample(PRIMITIVES, self.rng.randrange(4))
        if self.seldom(2):
            self.count += 1
            kind, name = self.rng.choice(("record", "record", "enum", "fixed")), f"U{self.count}"
            spaces = self.rng.sample(SPACES, self.rng.randrange(1, 3))
            branches += [self.named(kind, name, space, depth - 1) for space in spaces]
        self.rng.shuffle(branches)
        return branches or ["null"]

    # -- what people change -------------------------------------------------------------------------------------------

    def changed(self, schema: Json) -> Json:
        return self._changed(copy.deepcopy(schema))

    def _changed(self, schema: Json) -> Json:
        if isinstance(schema, list):
            return self._branches([self._changed(branch) for branch in schema])
        if isinstance(schema, str):
            return self._leaf(schema)
        for part in ("items", "values"):
            if part in schema:
                return {**schema, part: self._changed(schema[part])}
        if schema["type"] == "record":
            return self._record(schema)
        if schema["type"] == "enum" and self.seldom():
            symbols = self.rng.sample(["S0", "S1", "S2", "S3"], self.rng.randrange(1, 4))
            return {**schema, "symbols": symbols, **({"default": symbols[0]} if self.seldom(2) else {})}
        if schema["type"] == "fixed" and self.seldom(9):
            return {**schema, "size": schema["size"] + 1}
        return schema

    def _leaf(self, kind: str) -> Json:
        if self.seldom(4) and kind in WIDER:
            return self.rng.choice(WIDER[kind])
        if self.seldom(9) and kind in PRIMITIVES:
            return self.rng.choice(PRIMITIVES)
        return ["null", kind] if self.seldom(6) and kind in PRIMITIVES and kind != "null" else kind

    def _branches(self, branches: list[Json]) -> Json:
        flat = [one for branch in branches for one in (branch if isinstance(branch, list) else [branch])]
        kept: dict[str, Json] = {}
        for branch in flat:
            kept.setdefault(label(branch), branch)
        left = list(kept.values())
        extra = next(one for one in self.rng.sample(PRIMITIVES, len(PRIMITIVES)) if one not in kept)
        twins = len({name.rpartition(".")[2] for name in kept}) < len(kept)
        if self.seldom(3):
            self.rng.shuffle(left)
            if twins:  # else Java takes the branches of two unions that look alike by their places
                left.append(extra)
        elif self.seldom(4) and len(left) > 1:
            left.pop(self.rng.randrange(len(left)))
        elif self.seldom(4):
            left.append(extra)
        return left[0] if len(left) == 1 and self.seldom(2) else left

    def _record(self, schema: Json) -> Json:
        left = [field for field in schema["fields"] if not self.seldom(7)] or schema["fields"]  # as in `record`
        fields = [{**field, "type": self._changed(field["type"])} for field in left]
        for field in fields:
            field.pop("default", None)
        if self.seldom(3):
            self.rng.shuffle(fields)
        if self.seldom(3):
            fields.append(self.field("added", self.rng.choice((*PRIMITIVES, ["null", "int"], ["int", "null"]))))
        schema = {**schema, "fields": fields}
        if fields and self.seldom(6):  # of a record with another name Java looks at no alias
            fields[0] = {**fields[0], "name": "renamed", "aliases": [fields[0]["name"]]}
        elif self.seldom(8) and not names_itself(schema):
            space = schema["namespace"]
            other = {**schema, "name": f"{schema['name']}x"}
            old = f"{space}.{schema['name']}" if space else schema["name"]
            return {**other, "aliases": [old]} if self.seldom(2) else other
        return schema

    def broken(self, schema: Json) -> Json:
        """A schema of which one part may not be what the specification says."""
        parts = [part for part in every_part(schema) if isinstance(part, dict)]
        part = self.rng.choice(parts)
        if "type" in part and "name" in part and "symbols" not in part and "size" not in part and "fields" not in part:
            part |= self.rng.choice(ODD)
        elif "symbols" in part:
            part["symbols"] = self.rng.choice((["A", "A"], ["A-B"], [], "A", ["A"]))
            part |= self.rng.choice(({}, {"default": "A"}, {"default": "Z"}))
        elif "size" in part:
            part["size"] = self.rng.choice((-1, "2", None, 2.5, 3))
        elif "name" in part:
            part["name"] = self.rng.choice(("1x", "a-b", "", "é", "int", "ok"))
        return schema

    # -- values -------------------------------------------------------------------------------------------------------

    def default(self, type: Json) -> Json:
        if isinstance(type, list):
            return self.default(type[0])
        known = {"null": None, "boolean": True, "int": 7, "long": -8, "float": 0.5, "double": 2.25, "bytes": "ÿ",
                 "string": "é"}  # fmt: skip
        if isinstance(type, str):
            return known.get(type, NONE)
        if type["type"] in ("array", "map"):
            return [] if type["type"] == "array" else {}
        return type["symbols"][0] if type["type"] == "enum" else NONE

    def value(self, type: Json, names: dict[str, Json], space: str = "", depth: int = 0) -> tuple[bytes, Json]:
        """A payload, and the same as the specification's JSON."""
        if isinstance(type, list):
            number = 0 if depth > 6 else self.rng.randrange(len(type))
            payload, value = self.value(type[number], names, space, depth + 1)
            kind = named_of(type[number], names, space)
            return encode_varint(number) + payload, value if kind == "null" else {kind: value}
        if isinstance(type, str) and type not in PRIMITIVES:
            full = f"{space}.{type}" if space and "." not in type else type
            return self.value(names[full], names, space, depth + 1)
        kind = type if isinstance(type, str) else type["type"]
        if kind == "record":
            names[full_name(type)] = type
            parts = [self.value(field["type"], names, type["namespace"], depth + 1) for field in type["fields"]]
            named = zip((field["name"] for field in type["fields"]), (value for _, value in parts), strict=True)
            return b"".join(payload for payload, _ in parts), dict(named)
        if kind in ("array", "map"):
            return self.items(kind, type, names, space, depth)
        if kind == "enum":
            names[full_name(type)] = type
            number = self.rng.randrange(len(type["symbols"]))
            return encode_varint(number), type["symbols"][number]
        if kind == "fixed":
            names[full_name(type)] = type
            data = self.rng.randbytes(type["size"])
            return data, data.decode("latin-1")
        return self.leaf(kind)

    def items(self, kind: str, type: Json, names: dict[str, Json], space: str, depth: int) -> tuple[bytes, Json]:
        inner = type["items"] if kind == "array" else type["values"]
        count = 0 if depth > 6 else self.rng.randrange(3 if kind == "array" else 2)  # of several keys Java has no order
        made = [self.value(inner, names, space, depth + 1) for _ in range(count)]
        name = b"" if kind == "array" else b"\2k"
        payload = (encode_varint(count) if count else b"") + b"".join(name + one for one, _ in made) + b"\0"
        found = [value for _, value in made]
        return payload, found if kind == "array" else dict.fromkeys(["k"][:count], *found)

    def leaf(self, kind: str) -> tuple[bytes, Json]:
        if kind == "null":
            return b"", None
        if kind == "boolean":
            yes = self.seldom(2)
            return bytes([yes]), yes
        if kind in ("int", "long"):
            bits = 31 if kind == "int" else 63
            number = self.rng.choice((0, 1, -1, 2**24 + 1, (1 << bits) - 1, -(1 << bits), 2**53 % (1 << bits)))
            return encode_varint(number), number
        if kind in ("float", "double"):
            real = self.rng.choice(FLOATS)
            return pack("<f" if kind == "float" else "<d", real), real
        text = self.rng.choice(TEXTS)
        data = self.rng.randbytes(self.rng.randrange(3)) if kind == "bytes" and self.seldom(2) else text.encode()
        return encode_varint(len(data)) + data, data.decode("latin-1") if kind == "bytes" else text


NONE = object()
"""No default."""


def full_name(type: Json) -> str:
    return f"{type['namespace']}.{type['name']}" if type["namespace"] else str(type["name"])


def label(type: Json) -> str:
    return type if isinstance(type, str) else full_name(type) if "name" in type else type["type"]


def named_of(type: Json, names: dict[str, Json], space: str) -> str:
    """The name of a branch."""
    if isinstance(type, str) and type not in PRIMITIVES:
        return f"{space}.{type}" if space and "." not in type else type
    return label(type)


def every_part(schema: Json) -> list[Json]:
    found = [schema]
    parts = schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ()
    for part in parts:
        if isinstance(part, dict | list):
            found += every_part(part)
    return found


def names_itself(schema: Json) -> bool:
    return any(schema["name"] in part for part in every_part(schema) if isinstance(part, list))
