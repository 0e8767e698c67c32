"""`python -m benchmarks.cores [python]`: what each function of the record cores costs, in ns of thread CPU a record."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from time import thread_time_ns
from types import ModuleType
from typing import Any

from benchmarks.data import line
from kcli.proto import _records, records
from kcli.proto.batch import seal

COUNT, STAMP, ROUNDS = 8_000, 1_700_000_000_000, 9
FORMAT = (("k", None), b"\t", ("s", None), b" ", ("o", None), b"\n")


def lines(count: int) -> list[bytes]:
    rng = random.Random(1)
    return [line(rng, 100) + b"\n" for _ in range(count)]


def best(work: Callable[[], Any], count: int) -> float:
    """ns a record: the median of some rounds."""
    took = []
    for _ in range(ROUNDS):
        began = thread_time_ns()
        work()
        took.append(thread_time_ns() - began)
    return sorted(took)[ROUNDS // 2] / count


def opened(core: ModuleType, data: bytes) -> Any:
    found: list[Any] = []
    core.scan(data, 0, True, core.Header, found)
    return found[0]


def sealed(core: ModuleType, text: bytes, most: int) -> bytes:
    builder = core.Builder()
    builder.append_lines(text, 0, len(text), 10, STAMP, 1 << 30, most)
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    return bytes(seal(builder.take(), count, base, latest).data)


def cases(core: ModuleType) -> dict[str, tuple[Callable[[], Any], int]]:
    text = b"".join(lines(COUNT))
    keyed = b"".join(b"key%05d\t%s" % (n * 7919 % 100_000, line) for n, line in enumerate(lines(COUNT)))
    quoted = b"".join(b'{"a":1,"b":2,"c":"x","d":[1,2],"e":"yyyyyyyyyyyyyyyyyyyy","f":null,"g":1,"h":2,"i":"z","j":3}\n'
                      for _ in range(COUNT))  # fmt: skip
    plain, json_ = opened(core, sealed(core, text, COUNT)), opened(core, sealed(core, quoted, COUNT))
    builder = core.Builder()
    rows = core.split_lines(keyed, 0, len(keyed), 10, b"\t")
    alone, few, many_places = (core.partition_keys(keyed, rows, partitions) for partitions in (1, 4, 1000))
    core.spread_rows([builder], alone, keyed, rows, 0, STAMP, 1 << 30, COUNT)
    pairs = opened(core, bytes(seal(builder.take(), COUNT, STAMP, STAMP).data))
    one = [opened(core, sealed(core, line, 1)) for line in lines(500)]
    many = b"".join(sealed(core, line, 1) for line in lines(500))

    def append_lines() -> None:
        builder.append_lines(text, 0, len(text), 10, STAMP, 1 << 30, COUNT)
        builder.take()

    def spread_rows(places: Any, partitions: int) -> None:
        core.spread_rows([core.Builder() for _ in range(partitions)], places, keyed, rows, 0, STAMP, 1 << 30, COUNT)

    def ones() -> None:
        out = bytearray()
        for batch in one:
            core.write_values(batch, out, b"\n", -1, b"")

    return {
        "append_lines": (append_lines, COUNT),
        "split_lines with a key": (lambda: core.split_lines(keyed, 0, len(keyed), 10, b"\t"), COUNT),
        "partition_keys": (lambda: core.partition_keys(keyed, rows, 4), COUNT),
        "spread_rows, 1 partition": (lambda: spread_rows(alone, 1), COUNT),
        "spread_rows, 4 partitions": (lambda: spread_rows(few, 4), COUNT),
        "spread_rows, 1,000 partitions": (lambda: spread_rows(many_places, 1000), COUNT),
        "write_values": (lambda: core.write_values(plain, bytearray(), b"\n", -1, b""), COUNT),
        "write_values, keyed": (lambda: core.write_values(pairs, bytearray(), b"\n", -1, b""), COUNT),
        "write_values, 1-record batches": (ones, 500),
        "scan, 1-record batches": (lambda: core.scan(many, 0, True, core.Header, []), 500),
        "write_format k s o": (lambda: core.write_format(pairs, bytearray(), FORMAT, b"t", 0, -1), COUNT),
        "write_json": (lambda: core.write_json(plain, bytearray(), "t", 0, -1), COUNT),
        "write_json of JSON": (lambda: core.write_json(json_, bytearray(), "t", 0, -1), COUNT),
        "read_columns": (lambda: core.read_columns(plain), COUNT),
        "read_records": (lambda: [None for _ in core.read_records(plain)], COUNT),
    }


def main() -> None:
    for core in (records,) if sys.argv[1:] == ["python"] else (_records, records):
        for name, (work, count) in cases(core).items():
            print(f"{core.NAME:9} {name:32} {best(work, count):8.1f}")


if __name__ == "__main__":
    main()
