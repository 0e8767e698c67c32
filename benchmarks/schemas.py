"""`python -m benchmarks.schemas`: records of a schema registry read as JSON and as columns, beside what Python has for
it. `--output docs/benchmarks.md` writes its part of that page.

Each record is a frame of about 72 bytes with eight fields. CPU is that of whole processes, start-up included. A million
records are read by kcli, a tenth of them by the others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
from confluent_kafka import Producer

from benchmarks.cases import KCLI, PEERS, PYTHON
from benchmarks.process import Run, measure, median
from benchmarks.report import machine, with_part
from kcli.client import keep_large_blocks
from kcli.pipeline.formats.avro_arrow import AvroColumns
from kcli.pipeline.source.fetching import ROWS
from kcli.registry.disk import Disk, place_of
from kcli.registry.settings import RegistrySettings
from kcli.schemas import AVRO as AVRO_KIND
from kcli.schemas import PROTOBUF, Schema
from kcli.security.http import origin_of
from kcli.serde.avro.columns import column_reader, columns_of
from kcli.serde.avro.parse import parse
from kcli.serde.schemas.writers import writer_of

COUNT, SHARE, POOL = 1_000_000, 10, 5000
TITLE = "## Records of a schema registry"
ARROW = "Avro → Arrow columns, no process around it"
MANY = 200_000
SIZES = (ROWS, MANY)
"""Records of a column: what a task of Spark reads at once, and all."""
ELSEWHERE = "http://registry.example.test:8081"
FIELDS = (
    ("id", "long", "int64"), ("customer", "string", "string"), ("quantity", "int", "int32"),
    ("price", "double", "double"), ("paid", "boolean", "bool"), ("state", "string", "string"), ("at", "long", "int64"),
    ("note", "string", "string"),
)  # fmt: skip
AVRO = json.dumps(
    {"type": "record", "name": "Order", "fields": [{"name": name, "type": type} for name, type, _ in FIELDS]}
)
_LINES = (f"{type} {name} = {number};" for number, (name, _, type) in enumerate(FIELDS, 1))
PROTO = f"syntax = 'proto3'; message Order {{ {' '.join(_LINES)} }}"


def orders() -> list[dict[str, Any]]:
    rng = random.Random(1)
    return [
        {
            "id": 100_000_000 + n, "customer": f"customer-{rng.randrange(10_000):05}", "quantity": rng.randrange(1, 99),
            "price": rng.randrange(1, 100_000) / 100, "paid": True, "state": rng.choice(["PAID", "SHIPPED"]),
            "at": 1_790_000_000_000 + n, "note": rng.choice(["at the door", "ring twice!"]),
        }
        for n in range(POOL)
    ]  # fmt: skip


def avro(rows: list[dict[str, Any]]) -> list[bytes]:
    schema, found = fastavro.parse_schema(json.loads(AVRO)), []
    for row in rows:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, row)
        found.append(out.getvalue())
    return found


def protobuf(rows: list[dict[str, Any]]) -> list[bytes]:
    write = writer_of(Schema(text=PROTO, kind=PROTOBUF), [])  # with the indexes of the message in front
    return [write(json.dumps(row)) for row in rows]


@contextlib.contextmanager
def sandbox() -> Iterator[tuple[str, str]]:
    """The addresses of a broker and of its registry, in a process of their own."""
    words = [KCLI, "sandbox", "--port", "0", "--registry", "--format", "json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = json.loads(process.stdout.readline())
        yield said["bootstrap"], said["registry"]
    finally:
        process.terminate()
        process.wait(30)


def register(registry: str, topic: str, schema: str, suffix: str) -> int:
    """The id of the schema of a topic's values."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(schema.encode())
        file.flush()
        words = [KCLI, "registry", "register", f"{topic}-value", file.name, "--schema-registry", registry]
        subprocess.run([*words, "--execute", "-q"], check=True, timeout=60, stdout=subprocess.DEVNULL)
    shown = [KCLI, "registry", "list", "--schema-registry", registry, "--format", "json"]
    rows = json.loads(subprocess.run(shown, check=True, timeout=60, capture_output=True).stdout)
    (id,) = (row["id"] for row in rows["subjects"] if row["subject"] == f"{topic}-value")
    return int(id)


def fill(bootstrap: str, topic: str, payloads: list[bytes], count: int) -> None:
    subprocess.run([KCLI, "topics", "create", topic, "-p", "1", "-b", bootstrap, "--wait"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "batch.size": 1 << 20})
    for number in range(count):
        while True:
            try:
                producer.produce(topic, payloads[number % len(payloads)])
                break
            except BufferError:
                producer.poll(0.05)
    producer.flush()


def programs(bootstrap: str, registry: str) -> list[tuple[str, str, list[str], int]]:
    """Rows: what is measured, the program, its words, and into how many parts its records are cut."""
    ends = ["-b", bootstrap, "-o", "beginning", "-e", "-q"]
    decoded = [*ends, "--schema-registry", registry]

    def peer(name: str, topic: str) -> list[str]:
        return [PYTHON, str(PEERS / "schemas.py"), name, bootstrap, topic, registry]

    return [
        ("Avro, as it is stored", "kcli", [KCLI, "consume", "avro", *ends], 1),
        ("Avro as JSON", "kcli", [KCLI, "consume", "avro", *decoded], 1),
        ("Avro as JSON", "fastavro", peer("fastavro", "avro-part"), SHARE),
        ("Avro as JSON", "confluent-kafka's AvroDeserializer", peer("confluent", "avro-part"), SHARE),
        ("Protobuf as JSON", "kcli", [KCLI, "consume", "protobuf", *decoded], 1),
        ("Protobuf as JSON", "protobuf's MessageToDict", peer("google", "protobuf-part"), SHARE),
    ]


def starts(bootstrap: str) -> dict[str, list[str]]:
    """Ten records, with the schema in the disk cache: the registry that is named is never asked."""
    ends = ["-b", bootstrap, "-o", "beginning", "-e", "-q"]
    decoded = [*ends, "--schema-registry", ELSEWHERE]
    return {
        "consume, 10 records as they are": [KCLI, "consume", "avro-ten", *ends],
        "consume, 10 records of Avro": [KCLI, "consume", "avro-ten", *decoded],
        "consume, 10 records of Protobuf": [KCLI, "consume", "protobuf-ten", *decoded],
    }


@contextlib.contextmanager
def disk_cache(ids: dict[int, Schema]) -> Iterator[None]:
    """A cache folder that has these schemas. Those of a registry on this machine are not kept."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for id, schema in ids.items():
            Disk(place_of(RegistrySettings(origins=(origin_of(ELSEWHERE),)))).write(
                f"id {id} of the default context", [("", schema.replace(id=id))]
            )
        try:
            yield
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before


def arrow(payloads: list[bytes], rounds: int = 5) -> dict[tuple[str, str], float]:
    """µs of CPU a record to read Avro into typed Arrow columns, by row and program; pyruhvro where it is installed. The
    columns are compared first. Freed blocks are kept, as in each process that has a client of kcli, such as a task of
    Spark: else every call pays for the page faults of a large column."""
    keep_large_blocks()
    named = fastavro.parse_schema(json.loads(AVRO))

    def by_fastavro() -> pa.Table:
        return pa.Table.from_pylist([fastavro.schemaless_reader(io.BytesIO(one), named, None) for one in payloads])

    expected, found = by_fastavro().to_pylist(), {}
    for size in SIZES:
        many = payloads * (size // len(payloads))
        runs = {"kcli": by_kcli(many)}
        if find_spec("pyruhvro"):
            runs["pyruhvro"] = by_pyruhvro(many)
        for program, run in runs.items():
            assert run()[: len(payloads)].to_pylist() == expected
            found[f"{ARROW}, {size:,} records a column", program] = _cpu(run, rounds, MANY // size) / MANY * 1e6
    found[ARROW, "fastavro, then pyarrow"] = _cpu(by_fastavro, rounds) / len(payloads) * 1e6
    return found


def by_kcli(payloads: list[bytes]) -> Callable[[], Any]:
    schema, cells = parse(AVRO), pa.array(payloads, pa.binary())
    column = columns_of(schema)
    columns, reader = AvroColumns(column), column_reader(schema, schema, column)
    zeros = array("i", [0]) * len(payloads)
    return lambda: columns.read(cells, zeros, zeros, [reader])[0]


def by_pyruhvro(payloads: list[bytes]) -> Callable[[], Any]:
    from pyruhvro import deserialize_array

    return lambda: deserialize_array(payloads, AVRO)


def _cpu(run: Callable[[], object], rounds: int, times: int = 1) -> float:
    """Seconds of this process's CPU that so many calls take, the median."""
    took = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(times):
            run()
        took.append(time.process_time() - began)
    return median(took)


def arrow_table(rounds: int = 5) -> str:
    """The row of ARROW by itself."""
    lines = [f"| {row} | {name} | {took:.3f} |" for (row, name), took in arrow(avro(orders()), rounds).items()]
    return "\n".join(["| | program | CPU µs a record |", "|---|---|---:|", *lines])


def section(count: int = COUNT, rounds: int = 3) -> str:
    """Its part of the page."""
    rows = orders()
    kinds = (("avro", AVRO, ".avsc", avro(rows)), ("protobuf", PROTO, ".proto", protobuf(rows)))
    found: dict[tuple[str, str], list[tuple[Run, int]]] = {}
    begun: dict[str, list[Run]] = {}
    ids: dict[int, Schema] = {}
    with sandbox() as (bootstrap, registry):
        for topic, schema, suffix, payloads in kinds:
            id = register(registry, topic, schema, suffix)
            ids[id] = Schema(text=schema, kind=PROTOBUF if topic == "protobuf" else AVRO_KIND)
            front = b"\0" + id.to_bytes(4, "big")
            framed = [front + payload for payload in payloads]
            for name, size in ((topic, count), (f"{topic}-part", count // SHARE), (f"{topic}-ten", 10)):
                fill(bootstrap, name, framed, size)
        for turn in range(rounds + 1):  # the first is a warm-up
            for row, program, words, share in programs(bootstrap, registry):
                run = measure(words)
                if turn:
                    found.setdefault((row, program), []).append((run, count // share))
            with disk_cache(ids):
                for name, words in starts(bootstrap).items():
                    several = [measure(words) for _ in range(3)]
                    if turn:
                        begun.setdefault(name, []).extend(several)
    return _page(found, begun, arrow(kinds[0][3]), len(kinds[0][3][0]) + 5)


def _page(
    found: dict[tuple[str, str], list[tuple[Run, int]]],
    begun: dict[str, list[Run]],
    columns: dict[tuple[str, str], float],
    size: int,
) -> str:
    out = [f"\n{TITLE}, {size} bytes with eight fields\n", f"{machine()} {_versions()}\n",
           "| | program | CPU µs a record |", "|---|---|---:|"]  # fmt: skip
    for (row, program), runs in found.items():
        out.append(f"| {row} | {program} | {median([run.cpu / count * 1e6 for run, count in runs]):.2f} |")
    out += [f"| {row} | {program} | {took:.2f} |" for (row, program), took in columns.items()]
    out += ["", f"A task of Spark reads {ROWS:,} records a column. The process keeps the blocks that it freed, as each",
            "one does that has a client of kcli.", "", "Start-up: the least of all runs, schemas in the disk cache.",
            "", "| start-up | CPU ms | more than as they are |", "|---|---:|---:|"]  # fmt: skip
    plain = min(run.cpu for run in next(iter(begun.values())))
    for name, runs in begun.items():
        cpu = min(run.cpu for run in runs)
        out.append(f"| {name} | {cpu * 1000:.0f} | {(cpu - plain) * 1000:.0f} |")
    return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--records", type=int, default=COUNT)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="the page whose part is written anew")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured with compiled modules, as people have them
    text = section(given.records, given.rounds)
    print(text)
    if given.output is not None:
        given.output.write_text(with_part(given.output.read_text(), TITLE, text))
    return 0


def _versions() -> str:
    names = [name for name in ("fastavro", "confluent-kafka", "pyruhvro", "protobuf") if _installed(name)]
    return ", ".join(f"{name} {version(name)}" for name in names) + "."


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


if __name__ == "__main__":
    sys.exit(main())
