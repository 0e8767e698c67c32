"""The header and the stamp of a batch: both record cores write the same bytes."""

from __future__ import annotations

import random
import tracemalloc
from types import ModuleType

import pytest

from kcli.proto import records
from kcli.proto.plain.scan import HEADER

from .record_cores import CORES


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("size", [61, 62, 130, 70_000])
def test_a_header_and_a_stamp_are_the_same_bytes_and_can_be_read(core: ModuleType, size: int) -> None:
    rng = random.Random(size)
    body = rng.randbytes(size - 61)
    for _ in range(50):
        count, attributes = rng.randrange(1, 1 << 31), rng.choice([0, 4, 16, 20])
        times = rng.randrange(-1, 1 << 62), rng.randrange(-1, 1 << 62)
        stamp = rng.choice([(-1, -1, -1), (rng.randrange(1 << 63), rng.randrange(1 << 15), rng.randrange(1 << 31))])
        data, expected = (bytearray(rng.randbytes(61)) + body for _ in range(2))
        for made, written in ((core, data), (records, expected)):
            made.write_header(written, attributes, count, *times)
            made.write_stamp(written, *stamp)
        assert data == expected
        fields = HEADER.unpack_from(data)
        assert fields[:4] == (0, size - 12, -1, 2)
        assert fields[4] == records.crc32c(memoryview(data)[21:])
        assert fields[5:] == (attributes, count - 1, *times, *stamp, count)


@pytest.mark.parametrize("core", CORES)
def test_less_than_a_header_is_refused(core: ModuleType) -> None:
    with pytest.raises(Exception, match="bytes"):
        core.write_header(bytearray(20), 0, 1, 0, 0)
    with pytest.raises(Exception, match="bytes"):
        core.write_stamp(bytearray(20), 1, 1, 1)


@pytest.mark.parametrize("core", CORES)
def test_a_batch_of_one_line_does_not_have_room_for_a_megabyte(core: ModuleType) -> None:
    chunk = b"x" * 99 + b"\n"
    chunk *= 10_000
    builder = core.Builder()
    tracemalloc.start()
    assert builder.append_lines(chunk, 0, len(chunk), 10, 0, 1 << 20, 1) == 100
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000
    assert builder.append_lines(chunk, 100, len(chunk), 10, 0, 1 << 21, 1 << 20) == len(chunk)
    assert builder.count == 10_000


@pytest.mark.parametrize("core", CORES)
def test_lines_of_any_length_are_taken_alike_where_few_are(core: ModuleType) -> None:
    rng = random.Random(7)
    for _ in range(100):
        lines = [rng.randbytes(rng.choice([0, 5, 900, 5000, 70_000])).replace(b"\n", b".") for _ in range(12)]
        chunk = b"\n".join(lines) + rng.choice([b"", b"\n"])
        start, bound = rng.randrange(len(chunk) // 2), rng.choice([0, 100, 6000, 1 << 20])
        most, null = rng.randrange(20), rng.random() < 0.5
        ours, expected = core.Builder(), records.Builder()
        for _ in range(3):
            stops = [made.append_lines(chunk, start, len(chunk), 10, 9, bound, most, null) for made in (ours, expected)]
            assert stops[0] == stops[1]
            start = stops[0]
        assert (ours.count, ours.take()) == (expected.count, expected.take())
