"""Hostile schemas × hostile payloads over Avro → Arrow columns: `python -m tests.serde.avro.columns.hostile --seeds N`.

Both record cores fill the same buffers or refuse with the same words, in milliseconds, and neither ends the process.
`make chaos` plays MUTATED_SCHEMAS of them from seed MUTATION_SEED.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from types import ModuleType
from typing import Any

from kcli.schemas import SchemaRefused
from tests.serde.avro.columns.samples import columns

SCHEMAS = 2000
"""Where neither --seeds nor MUTATED_SCHEMAS says otherwise: some ten seconds of a core."""
PAYLOADS = 40
SECONDS = 2.0  # of CPU for the payloads of one schema, on the plain core
PLAIN = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LOGICAL = (
    ("int", "date"), ("int", "time-millis"), ("long", "timestamp-millis"), ("long", "timestamp-micros"),
    ("long", "local-timestamp-micros"), ("bytes", "decimal"), ("string", "uuid"), ("long", "timestamp-nanos"),
)  # fmt: skip
PIECES = (
    b"\0", b"\1", b"\2", b"\3", b"\4", b"\6ab", b"\x80\x80\x80\x80\x10", b"\xff" * 9 + b"\1", b"\xfe" * 9 + b"\1",
    b"\xff" * 10, b"\x80" * 11, b"\x01\x02", b"\x01\x00", b"\xff\xff\xff\xff\x0f", b"\x02\0", b"\xc3\x28", b"\x7f",
)  # fmt: skip
"""Small numbers, sizes that no payload has, varints without an end, counts with a size, no UTF-8."""


def schema_of(rng: random.Random, names: list[str], depth: int = 0) -> Any:
    kind = rng.choice(("plain", "plain", "logical", "record", "array", "map", "union", "enum", "fixed"))
    if depth > 4 or kind == "plain":
        return rng.choice(names) if names and rng.random() < 0.05 else rng.choice(PLAIN)
    if kind == "logical":
        type, logical = rng.choice(LOGICAL)
        return {
            "type": type,
            "logicalType": logical,
            "precision": rng.choice((0, 1, 38, 39)),
            "scale": rng.choice((0, 2)),
        }
    if kind == "array":
        return {"type": "array", "items": schema_of(rng, names, depth + 1)}
    if kind == "map":
        return {"type": "map", "values": schema_of(rng, names, depth + 1)}
    if kind == "union":
        return [schema_of(rng, names, depth + 1) for _ in range(rng.randrange(5))]
    name = f"N{len(names)}"
    names.append(name)
    if kind == "enum":
        return {"type": "enum", "name": name, "symbols": [f"S{n}" for n in range(rng.randrange(3))]}
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": rng.choice((0, 1, 12, 16, 2**31))}
    fields = [{"name": f"f{n}", "type": schema_of(rng, names, depth + 1)} for n in range(rng.randrange(4))]
    return {"type": "record", "name": name, "fields": fields}


def payload_of(rng: random.Random) -> bytes | None:
    return None if rng.random() < 0.05 else b"".join(rng.choices(PIECES, k=rng.randrange(12)))


def read(core: ModuleType, schema: Any, reader: Any, payloads: list[bytes | None]) -> tuple[object, float]:
    """What a core makes of payloads, or why the schema is refused; and the seconds of CPU."""
    begun = time.process_time()
    try:
        _, buffers, faults = columns(core, schema, *payloads, reader=reader)
        found: object = (buffers, faults)
    except SchemaRefused as problem:
        found = str(problem)
    return found, time.process_time() - begun


def play(seed: int, cores: list[ModuleType]) -> bool:
    """One schema, with and without a reader's. Whether it was read; raises AssertionError where cores differ."""
    rng = random.Random(seed)
    schema = schema_of(rng, [])
    reader = schema_of(rng, []) if rng.random() < 0.3 else None
    payloads = [payload_of(rng) for _ in range(PAYLOADS)]
    made = [read(core, schema, reader, payloads) for core in cores]
    assert all(found == made[0][0] for found, _ in made), f"seed {seed}: the cores differ about {schema}"
    assert max(took for _, took in made) < SECONDS, f"seed {seed}: {max(took for _, took in made):.2f} s for {schema}"
    return not isinstance(made[0][0], str)


def main(words: list[str]) -> int:
    from tests.proto.record_cores import CORES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("MUTATED_SCHEMAS", SCHEMAS)))
    parser.add_argument("--first", type=int, default=int(os.environ.get("MUTATION_SEED", "0")))
    given = parser.parse_args(words)
    read_ones = sum(play(seed, CORES) for seed in range(given.first, given.first + given.seeds))
    print(f"{given.seeds:,} schemas × {PAYLOADS} payloads on {len(CORES)} cores alike; {read_ones:,} were read")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
