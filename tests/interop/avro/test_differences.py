"""kcli beside Avro for Java: canonical forms, what is refused, resolution, defaults, unions, JSON in and out.

A sample takes the seconds of AVRO_SECONDS (60), from AVRO_SEED (0) on; `make nightly` plays more.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import time
from collections import Counter
from random import Random
from struct import pack
from typing import Any

import pytest

from kcli.proto.core import AvroReader
from kcli.proto.faults import Fault
from kcli.schemas import SchemaRefused
from kcli.serde.avro.canonical import canonical, fingerprint
from kcli.serde.avro.compatibility import incompatibilities
from kcli.serde.avro.exact import BadValue, read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.program import avro_program
from kcli.serde.avro.strict import parse_strictly
from kcli.serde.avro.write import AvroWriter
from tests.interop.avro.cases import Drawn
from tests.interop.avro.oracle import Oracle

pytestmark = [pytest.mark.long, pytest.mark.needs("java", "mvn")]
AT_ONCE = 500
NAMED = re.compile(r"Found (?:\S*\.)?([^.\s]+), expecting (?:union\[)?(.*?)\]?$")
"""Java wants the full names of enums and fixed; the specification, and kcli, only what is behind the last point."""
OWN = ("StackOverflowError", "Schema fields not set yet")
"""Errors of Java's own: records that contain themselves in every value, and their defaults."""

Case = dict[str, Any]


def cases(seed: int) -> list[Case]:
    drawn = Drawn(seed)
    schema = drawn.record()
    reader = drawn.changed(schema)
    payload, value = drawn.value(schema, {})
    coded = base64.b64encode(payload).decode()
    text, other = json.dumps(schema), json.dumps(reader)
    return [
        {"do": "parse", "schema": text},
        {"do": "parse", "schema": json.dumps(drawn.broken(json.loads(text)))},
        {"do": "read", "schema": text, "payload": coded},
        {"do": "read", "schema": text, "reader": other, "payload": coded},
        {"do": "compare", "schema": text, "reader": other},
        {"do": "write", "schema": text, "json": json.dumps(plain(value))},
    ]


def plain(value: Any) -> Any:
    """Without NaN and the infinities, for which Java reads no JSON, and 0.1, which it reads as a float at times."""
    if isinstance(value, float):
        return value if math.isfinite(value) and value != 0.1 else 0.25
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def ours(case: Case) -> Case:
    try:
        return _ours(case)
    except (SchemaRefused, Fault, BadValue) as problem:
        return {"error": str(problem)}


def _ours(case: Case) -> Case:
    text = case["schema"]
    if case["do"] == "parse":
        form = canonical(parse_strictly(text))
        number = fingerprint(form)
        return {"canonical": form, "fingerprint": number - (1 << 64) if number >> 63 else number}
    if case["do"] == "read":
        reader = parse(case["reader"]) if "reader" in case else None
        program = AvroReader(*avro_program(parse(text), reader, wrapped=True))
        return {"json": program.json(base64.b64decode(case["payload"])).decode()}
    if case["do"] == "compare":
        return {"verdict": "INCOMPATIBLE" if incompatibilities(parse(case["reader"]), parse(text)) else "COMPATIBLE"}
    payload = AvroWriter(parse(text), specified=True).write(read_json(case["json"]))
    return {"payload": base64.b64encode(payload).decode()}


def difference(case: Case, here: Case, there: Case) -> str:
    if "error" in there:
        return "" if "error" in here or lenient(case, there["error"]) else f"Java refuses it: {there['error']}"
    if "error" in here:
        return f"kcli refuses it: {here['error']}"
    if case["do"] == "read":
        return "" if same(json.loads(here["json"]), json.loads(there["json"])) else "other JSON"
    return "" if here == there else "other answers"


def lenient(case: Case, error: str) -> bool:
    """Whether kcli may read what Java refuses with an error."""
    if any(own in error for own in OWN):
        return True
    name = None if "missing required" in error else NAMED.search(error)
    wanted = [] if name is None else [one.rpartition(".")[2] for one in name[2].split(", ")]
    return case["do"] == "read" and name is not None and name[1] in wanted


def same(here: Any, there: Any) -> bool:
    """Equal JSON, whatever the order of fields; a float32 may be written with more digits."""
    if isinstance(here, dict) and isinstance(there, dict):
        return here.keys() == there.keys() and all(same(here[name], there[name]) for name in here)
    if isinstance(here, list) and isinstance(there, list):
        return len(here) == len(there) and all(map(same, here, there))
    if isinstance(here, float) and isinstance(there, float) and here != there:
        return pack("<f", here) == pack("<f", there) and pack("<d", there)[:3] == b"\0\0\0"
    return bool(here == there) and isinstance(here, bool) == isinstance(there, bool)


def test_kcli_and_java_say_the_same() -> None:
    seed, until = int(os.environ.get("AVRO_SEED", "0")), time.monotonic() + float(os.environ.get("AVRO_SECONDS", "60"))
    played, refused = 0, Counter[str]()
    found: list[str] = []
    with Oracle() as oracle:
        while time.monotonic() < until and len(found) < 20:
            asked = [case for number in range(seed, seed + AT_ONCE) for case in cases(number)]
            for case, there in zip(asked, oracle.answers(asked), strict=True):
                here = ours(case)
                refused[case["do"]] += "error" in there
                if problem := difference(case, here, there):
                    found.append(f"{problem}\n  {json.dumps(case)}\n  kcli: {here}\n  Java: {there}")
            seed, played = seed + AT_ONCE, played + len(asked)
    assert not found, "\n\n".join(found[:20])
    assert played >= AT_ONCE
    assert set(refused) == {"parse", "read", "compare", "write"}


def test_text_that_is_not_utf8_is_replaced_as_java_does() -> None:
    rng = Random(0)
    odd = bytes.fromhex("41 80 bf c0 c3 a9 e0 a0 e2 82 ac ed 9f a0 b0 bd ef bf f0 90 9f 98 f1 f4 8f f5 ff")
    asked = []
    for _ in range(3000):
        text = bytes(rng.choice(odd) for _ in range(rng.randrange(9)))
        payload = base64.b64encode(bytes((2 * len(text),)) + text).decode()
        asked.append({"do": "read", "schema": '"string"', "payload": payload})
    with Oracle() as oracle:
        for case, there in zip(asked, oracle.answers(asked), strict=True):
            assert json.loads(ours(case)["json"]) == json.loads(there["json"]), case


def test_types_are_used_before_their_definition_as_in_java() -> None:
    def a(*fields: Any, name: str = "R") -> Case:
        types = [{"name": f"f{number}", "type": type} for number, type in enumerate(fields)]
        return {"type": "record", "name": name, "namespace": "a", "fields": types}

    fixed = {"type": "fixed", "name": "B", "size": 2}
    enum = {"type": "enum", "name": "E", "symbols": ["A"]}
    schemas = [
        a(["null", "B"], a(["null", "R"], name="B")), a("c.B", {**fixed, "namespace": "c"}), a("B", fixed, "B"),
        a("B", {**fixed, "namespace": "c"}), a("B", {**fixed, "namespace": ""}), ["B", fixed], a("B", fixed, fixed),
        a("B", {"type": "array", "items": {"type": "map", "values": [a("C", name="B"), {**fixed, "name": "C"}]}}),
        a(fixed, {**fixed, "size": 3}), a(enum, {**enum, "doc": "x"}), a(enum, {**enum, "symbols": ["A", "B"]}),
        a("B", "C", a("C", name="B")), a({"type": "array", "items": "B"}, fixed), a("B", a("B", name="D")),
    ]  # fmt: skip
    asked = [{"do": "parse", "schema": json.dumps(schema)} for schema in schemas]
    with Oracle() as oracle:
        found = [difference(case, ours(case), there) for case, there in zip(asked, oracle.answers(asked), strict=True)]
    assert found == [""] * len(schemas)
