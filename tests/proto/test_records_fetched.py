"""What is done with all batches of a fetch in one call: over both cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kcli.proto import core as in_use
from kcli.proto.batch import Batch, read_batches, seal
from tests.proto.record_cores import CORES, sealed

cores = pytest.mark.parametrize("core", CORES, ids=lambda core: core.NAME)


@cores
def test_ends_reads_headers_of_every_format_and_stops_before_what_is_cut_off(core: Any) -> None:
    one, two = sealed_lines(core, [b"a", b"bc"]), sealed_lines(core, [b"d"])
    both = placed(one, 10, epoch=3) + placed(two, 12, epoch=4)
    assert core.ends(both) == (13, 4, len(both))
    assert core.ends(memoryview(both)[:-1]) == (12, 3, len(one))
    assert core.ends(both[: len(one) - 1]) == (-1, -1, 0)
    assert core.ends(b"") == (-1, -1, 0)
    old = bytearray(both)
    old[16] = 1  # a message of v1 is one offset wide and has no epoch
    assert core.ends(old[: len(one)]) == (11, -1, len(one))
    for base in (-1, 2**63 - 1):
        assert core.ends(placed(one, base, epoch=3)) == (-1, -1, 0)
        assert core.ends(both + placed(one, base, epoch=5)) == (13, 4, len(both))
    assert core.ends(both + placed(one, 2, epoch=3))[0] == 13  # an old batch behind new ones


@cores
def test_the_records_of_windows_are_counted_by_their_headers(core: Any) -> None:
    found: list[Any] = []
    data = b"".join(placed(sealed_lines(core, [b"a", b"b", b"c"]), base, epoch=0) for base in (0, 3, 6))
    core.scan(data, 0, True, core.Header, found)
    assert core.shown_records(found) == 9
    found[0].first, found[2].stop = 2, 7  # 1 + 3 + 1
    assert core.shown_records(found) == 5
    found[1].count = 2  # of a compacted log
    assert core.shown_records(found) == 4
    assert core.shown_records([]) == 0


@cores
def test_a_codec_of_any_batch_is_seen(core: Any) -> None:
    found: list[Any] = []
    core.scan(placed(sealed_lines(core, [b"a"]), 0, epoch=0) * 2, 0, True, core.Header, found)
    assert not core.any_compressed(found)
    found[1].attributes |= 4
    assert core.any_compressed(found)
    assert not core.any_compressed([])


@cores
def test_show_cuts_batches_to_the_window_and_leaves_out_markers(core: Any) -> None:
    def batches() -> list[Any]:
        found: list[Any] = []
        data = b"".join(placed(sealed_lines(core, [b"a", b"b", b"c"]), base, epoch=0) for base in (0, 3, 6))
        core.scan(data, 0, True, core.Header, found)
        found[1].attributes |= 32
        return found

    shown, following, everything = core.show(batches(), 1, None, False)
    assert [(h.base_offset, h.first, h.stop) for h in shown] == [(0, 1, 3), (6, 6, 9)]
    assert (following, everything) == (9, True)
    shown, following, everything = core.show(batches(), 3, 5, True)
    assert [(h.first, h.stop) for h in shown] == [(3, 5)]
    assert (following, everything) == (5, False)
    assert core.show(batches(), 9, None, False) == ([], 9, True)
    again = batches()[:1] + batches()
    shown, following, _ = core.show(again, 0, None, True)
    assert [(h.first, h.stop) for h in shown] == [(0, 3), (3, 6), (6, 9)]
    assert following == 9


@cores
def test_write_many_stops_before_what_is_compressed_or_broken(core: Any) -> None:
    def batches() -> list[Any]:
        found: list[Any] = []
        data = b"".join(placed(sealed_lines(core, [b"a%d" % n]), n, epoch=0) for n in range(4))
        core.scan(data, 0, True, core.Header, found)
        return found

    out = bytearray(b"> ")
    assert core.write_many(batches(), out, b"\n", b"") == (4, 4)
    assert out == b"> a0\na1\na2\na3\n"
    compressed = batches()
    compressed[2].attributes |= 2
    out = bytearray()
    assert core.write_many(compressed, out, b"\n", b"") == (2, 2)
    assert out == b"a0\na1\n"
    broken = batches()
    broken[1].body_end -= 1
    out = bytearray()
    assert core.write_many(broken, out, b"\n", b"") == (1, 1)
    assert out == b"a0\n"
    beyond = batches()
    beyond[0].count = 1000
    assert core.write_many(beyond, bytearray(), b"\n", b"") == (0, 0)


@cores
def test_write_many_is_write_values_of_each_whatever_buffer_it_lies_in(core: Any) -> None:
    def batches(lines: list[list[bytes]]) -> list[Any]:
        found: list[Any] = []
        core.scan(b"".join(placed(sealed_lines(core, some), 9 * n, epoch=0) for n, some in enumerate(lines)),
                  0, True, core.Header, found)  # fmt: skip
        return found

    large = [b"%05d" % n * 40 for n in range(900)]
    found = [*batches([[b"a", b"", b"b"], [b"c"]]), *batches([large]), *batches([[b"d"] * 4, [b"e"]])]
    found[0].first = 1
    found[3].first, found[3].stop = found[3].base_offset + 1, found[3].base_offset + 3
    for delimiter, null in ((b"\n", b""), (b"--", b"nothing at all"), (b"", b"")):
        out, expected, written = bytearray(b"> "), bytearray(b"> "), 0
        for h in found:
            written += core.write_values(h, expected, delimiter, -1, null)[0]
        assert core.write_many(found, out, delimiter, null) == (written, len(found))
        assert out == expected
        assert written == 2 + 1 + 900 + 2 + 1


@cores
def test_write_many_stops_before_a_section_outside_its_buffer(core: Any) -> None:
    found: list[Any] = []
    core.scan(b"".join(placed(sealed_lines(core, [b"a"]), n, epoch=0) for n in range(3)), 0, True, core.Header, found)
    found[2].data = bytes(found[2].data[: found[2].body_end - 1])
    out = bytearray(b"> ")
    assert core.write_many(found, out, b"\n", b"") == (2, 2)
    assert out == b"> a\na\n"


def sealed_lines(core: Any, lines: Sequence[bytes]) -> bytes:
    builder = core.Builder()
    text = b"".join(line + b"\n" for line in lines)
    builder.append_lines(text, 0, len(text), 10, 1_700_000_000_000, 1 << 20, len(lines))
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    return bytes(seal(builder.take(), count, base, latest).data)


def placed(data: bytes, base: int, *, epoch: int) -> bytes:
    """A batch as a broker stores it: at an offset, under an epoch (neither is under the CRC)."""
    return base.to_bytes(8, "big", signed=True) + data[8:12] + epoch.to_bytes(4, "big") + data[16:]


@cores
def test_contains_finds_what_is_anywhere_in_the_section(core: Any) -> None:
    """At every distance from the ends, and where first and last byte are there and what is between is not."""
    for size in (*range(1, 40), 200):
        value = bytes(97 + n % 23 for n in range(size))
        found: list[Any] = []
        core.scan(placed(sealed_lines(core, [value]), 0, epoch=0), 0, True, core.Header, found)
        section = bytes(found[0].data[found[0].body_start : found[0].body_end])
        texts = [section[at:end] for at in range(len(section)) for end in range(at, min(at + 35, len(section)) + 1)]
        for text in (*texts[:: 1 if size < 40 else 7], section, section + b"x", b"x" + section, b"\xfe", b""):
            assert core.contains(found[0], text) == (text in section)
            for between in range(1, len(text) - 1, 5):
                other = text[:between] + b"\xfe" + text[between + 1 :]
                assert not core.contains(found[0], other)


def timed_batch(**options: Any) -> Batch:
    """Records at 5, 3 and 9 ms."""
    builder = in_use.Builder()
    for time in (5, 3, 9):
        builder.append(time, None, b"v" * 90, ())
    [read] = read_batches(sealed(builder, **options))
    return read


def test_a_batch_that_is_whole_within_a_range_of_times_stays_compressed() -> None:
    read = timed_batch(codec="lz4")
    assert read.within(3, 10) is read
    assert read.within(10, 20) is None
    assert read.within(-5, 3) is None
    part = read.within(4, 10)
    assert part is not None
    assert read.packed
    assert [record.offset for record in part] == [0, 2]


def test_the_records_of_a_batch_with_the_brokers_time_have_one_timestamp() -> None:
    read = timed_batch()
    read.attributes |= 8
    assert (read.within(4, 9), read.within(9, 10)) == (None, read)
