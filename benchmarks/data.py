"""The data: lines of text, made from a seed, kept in a temporary folder for the length of the run."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = (
    b"broker cluster topic partition offset leader follower replica epoch batch record header consumer producer group "
    b"member coordinator commit fetch lag sandbox kafka stream event order user session payment status created updated"
).split()

POOL = 20_000_000
"""Bytes of the lines that a file of lines is made of, at most."""


def line(rng: random.Random, size: int) -> bytes:
    """`size` bytes of words: as compressible as real text is."""
    out = b" ".join(rng.choices(WORDS, k=size // 4 + 2))
    return out[:size]


def write_lines(path: Path, count: int, sizes: tuple[int, int], *, keyed: bool = False) -> int:
    """`count` lines of a size between the two, with an 8-byte key and a tab when keyed; the size of the file."""
    rng = random.Random(f"{path.name}")
    pool = [line(rng, rng.randint(*sizes)) for _ in range(min(5000, POOL // sizes[1]))]
    with path.open("wb") as out:
        step = min(10_000, max(POOL // sizes[1], 1))
        for start in range(0, count, step):
            some = rng.choices(pool, k=min(step, count - start))
            if keyed:
                some = [b"%08d\t%b" % (rng.randrange(100_000), one) for one in some]
            out.write(b"\n".join(some) + b"\n")
    return path.stat().st_size


def write_envelopes(path: Path, count: int) -> int:
    """Lines as `consume -J` writes them, of about 230 bytes with three headers."""
    rng = random.Random(f"{path.name}")
    with path.open("wb") as out:
        for n in range(count):
            out.write(
                b'{"topic":"orders","partition":-1,"offset":%d,"timestamp":%d,"timestamp_type":"create","key":"%08d",'
                b'"value":"%b","headers":[["trace","%016x"],["n","%d"],["kind","order"]]}\n'
                % (n, 1_790_000_000_000 + n, rng.randrange(100_000), line(rng, 40), rng.getrandbits(64), n % 1000)
            )
    return path.stat().st_size


def write_json(path: Path, count: int) -> int:
    """Order events of about 138 bytes."""
    rng = random.Random(f"{path.name}")
    with path.open("wb") as out:
        for n in range(count):
            out.write(
                b'{"id":%09d,"user":"user-%05d","status":"%b","amount":%d.%02d,"currency":"EUR","items":[%d,%d],"at":%d}\n'
                % (n, rng.randrange(50_000), rng.choice((b"created", b"payed", b"shipped")), rng.randrange(1000),
                   rng.randrange(100), rng.randrange(9999), rng.randrange(9999), 1_790_000_000_000 + n)
            )  # fmt: skip
    return path.stat().st_size
