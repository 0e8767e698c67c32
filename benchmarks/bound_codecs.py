"""What it costs to compress a record and to decompress it, by each decoder that Python has: the bound of the rows
with a codec.

The data is a batch of the JSON lines of the rows, compressed as the producer does it. The decoders of the libraries
trust the sizes in the frame and fill one buffer at once; kcli's own reads in steps up to a bound, for a frame may lie.
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import data
from benchmarks.process import median
from kcli.proto.compression import compress, decompress

LINES = 6_000  # a batch of about a million bytes
REPEATED = 40
BOUND = 1 << 30

Coder = Callable[[bytes], object]


def decoders() -> dict[str, dict[str, Coder]]:
    """Codec to decoder by name."""
    import cramjam
    from lz4 import frame
    from zstandard import ZstdDecompressor

    zstd = ZstdDecompressor()
    return {
        "lz4": {
            "kcli": lambda packed: decompress("lz4", packed, BOUND),
            "python-lz4": frame.decompress,
            "cramjam": lambda packed: cramjam.lz4.decompress(packed),
        },
        "zstd": {
            "kcli": lambda packed: decompress("zstd", packed, BOUND),
            "zstandard": lambda packed: zstd.decompress(packed, max_output_size=BOUND),
            "cramjam": lambda packed: cramjam.zstd.decompress(packed),
        },
    }


def batch() -> bytes:
    """The lines of the rows' JSON, as many as a batch takes."""
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        path = Path(folder) / "json"
        data.write_json(path, LINES)
        return path.read_bytes()


def measured(rounds: int) -> dict[str, float]:
    """What is done with a record to its median of CPU nanoseconds."""
    plain = batch()
    found: dict[str, float] = {}
    for codec, ways in decoders().items():
        packed = bytes(compress(codec, plain))
        made = median([_nanoseconds(functools.partial(compress, codec), plain) for _ in range(rounds)])
        found[f"a record of JSON, {codec}, compressed"] = made
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, decode in ways.items():  # interleaved
                times[name].append(_nanoseconds(decode, packed))
        found |= {f"a record of JSON, {codec}, decompressed by {name}": median(each) for name, each in times.items()}
    return found


def _nanoseconds(code: Coder, data: bytes) -> float:
    begin = time.process_time()
    for _ in range(REPEATED):
        code(data)
    return (time.process_time() - begin) / (REPEATED * LINES) * 1e9
