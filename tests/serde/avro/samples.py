"""Random Avro schemas and values of them, and how fastavro writes and reads them: the oracle of these tests."""

from __future__ import annotations

import io
import json
from array import array
from base64 import b64encode
from math import isinf, isnan, nan
from struct import pack, unpack
from types import ModuleType
from typing import Any

import fastavro
from hypothesis import strategies as st

from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import avro_program

Json = Any
NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
LEAVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Json:
    """A schema; its named types have different names."""
    return _Drawn(draw).type(depth)


class _Drawn:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.named = 0

    def type(self, depth: int) -> Json:
        kinds = ["leaf", "fixed", "enum"] + (["array", "map", "union", "record"] * 2 if depth else [])
        kind = self.draw(st.sampled_from(kinds))
        if kind == "leaf":
            return self.draw(LEAVES)
        if kind == "array":
            return {"type": "array", "items": self.type(depth - 1)}
        if kind == "map":
            return {"type": "map", "values": self.type(depth - 1)}
        if kind == "union":
            return self.union(depth)
        self.named += 1
        name = {"type": kind, "name": f"N{self.named}", "namespace": self.draw(st.sampled_from(["", "a.b"]))}
        if kind == "fixed":
            return {**name, "size": self.draw(st.integers(0, 9))}
        if kind == "enum":
            return {**name, "symbols": self.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))}
        fields = self.draw(st.lists(NAMES, max_size=4, unique=True))
        return {**name, "fields": [{"name": own, "type": self.type(depth - 1)} for own in fields]}

    def union(self, depth: int) -> Json:
        """Branches whose values no reader confuses: fastavro takes the first that fits."""
        leaves = self.draw(st.lists(st.sampled_from(["null", "boolean", "long", "string", "bytes"]), unique=True))
        more = [self.type(depth - 1)] if self.draw(st.booleans()) else []
        return leaves + [one for one in more if isinstance(one, dict) and one["type"] in ("array", "map")] or ["null"]


def values(schema: Json) -> st.SearchStrategy[Any]:
    """Values of a schema, as fastavro takes them."""
    if isinstance(schema, list):
        return st.one_of([values(branch) for branch in schema])
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "array":
        return st.lists(values(schema["items"]), max_size=4)
    if kind == "map":
        return st.dictionaries(st.text(max_size=4), values(schema["values"]), max_size=4)
    if kind == "record":
        return st.fixed_dictionaries({field["name"]: values(field["type"]) for field in schema["fields"]})
    if kind == "enum":
        return st.sampled_from(schema["symbols"])
    if kind == "fixed":
        return st.binary(min_size=schema["size"], max_size=schema["size"])
    return LEAF_VALUES[kind]


def _one_nan(number: float) -> float:
    """The text NaN says nothing of the bits with which one NaN differs from another."""
    return nan if isnan(number) else number


LEAF_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32).map(_one_nan),
    "double": st.floats().map(_one_nan),
    "bytes": st.binary(max_size=40),
    "string": st.text(max_size=40),
}


def written(schema: Json, value: Any) -> bytes:
    """A payload by fastavro."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return out.getvalue()


def read(core: ModuleType, schema: Json, *payloads: bytes, **options: Any) -> list[str | int]:
    """What a core makes of payloads: the JSON of each, or the number of its fault."""
    given = options.pop("reader", None)
    references = options.pop("references", ())
    reader = None if given is None else parse(json.dumps(given))
    program = avro_program(parse(json.dumps(schema), references), reader, **options)
    return run(core, program, payloads)


def run(core: ModuleType, program: tuple[array[int], list[bytes]], payloads: tuple[bytes, ...]) -> list[str | int]:
    starts, lengths, data = array("i"), array("i"), b""
    for payload in payloads:
        starts.append(len(data))
        lengths.append(len(payload))
        data += payload
    rows = len(payloads)
    # what lies behind the last byte is not ours (see test_records_bounds)
    column = memoryview(array("B", data)[:])
    reader = core.AvroReader(*program)
    spans, faults = core.payload_json(column, starts, lengths, array("i", [0] * rows), array("i", [0] * rows), [reader])
    ends = memoryview(bytes(spans.ends)).cast("i")
    cells: list[str | int] = []
    for row in range(rows):
        cell = bytes(spans.data[ends[row] : ends[row + 1]])
        fault = dict(faults).get(row)
        if fault is not None:
            assert cell == payloads[row], "what cannot be read stays as it was"
        cells.append(cell.decode() if fault is None else fault)
    return cells


def shown(schema: Json, value: Any) -> Any:
    """A value of fastavro as the JSON that kcli writes, parsed."""
    if isinstance(schema, list):
        for branch in schema:
            if _fits(branch, value):
                return shown(branch, value)
        raise AssertionError((schema, value))
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "array":
        return [shown(schema["items"], item) for item in value]
    if kind == "map":
        return {name: shown(schema["values"], item) for name, item in value.items()}
    if kind == "record":
        return {field["name"]: shown(field["type"], value[field["name"]]) for field in schema["fields"]}
    if kind in ("bytes", "fixed"):
        return {"base64": b64encode(value).decode()}
    if kind in ("float", "double"):
        return "NaN" if isnan(value) else ("Infinity" if value > 0 else "-Infinity") if isinf(value) else value
    return value


def same(schema: Json, ours: Any, theirs: Any) -> bool:
    """Equal, float32 by their 32 bits: ours is the shortest text of them."""
    if isinstance(schema, list):
        kind = "array" if isinstance(theirs, list) else "map"
        parts = [one for one in schema if isinstance(one, dict) and one["type"] == kind]
        return ours == theirs or (bool(parts) and type(theirs) in (list, dict) and same(parts[0], ours, theirs))
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "array":
        return len(ours) == len(theirs) and all(same(schema["items"], a, b) for a, b in zip(ours, theirs, strict=True))
    if kind == "map":
        return list(ours) == list(theirs) and all(same(schema["values"], ours[name], theirs[name]) for name in ours)
    if kind == "record":
        return all(same(field["type"], ours[field["name"]], theirs[field["name"]]) for field in schema["fields"])
    if kind == "float" and isinstance(ours, float):
        return bool(unpack("<f", pack("<f", ours))[0] == theirs)
    return type(ours) is type(theirs) and ours == theirs


def _fits(branch: Json, value: Any) -> bool:
    kind = branch if isinstance(branch, str) else branch["type"]
    kinds: dict[str, type | tuple[type, ...]] = {
        "null": type(None), "boolean": bool, "long": int, "string": str, "bytes": bytes, "array": list, "map": dict,
    }  # fmt: skip
    return isinstance(value, kinds[kind]) and not (kind == "long" and isinstance(value, bool))
