"""The record cores do the same, byte for byte, and break on nothing but with a DecodeError."""

from __future__ import annotations

import json
import random
import sys
from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.errors import DecodeError
from kcli.proto import checksum
from kcli.proto import records as twin
from kcli.proto.columns import Lines
from tests.effort import tries
from tests.proto.record_cores import CORES, built, opened, sealed

cores = pytest.mark.parametrize("core", CORES, ids=lambda core: core.NAME)
nullable = st.none() | st.binary(max_size=200) | st.text(max_size=40).map(str.encode)
headers = st.lists(st.tuples(st.text(max_size=8), nullable), max_size=3)
stamps = st.integers(-1, 2**45)
rows = st.lists(st.tuples(stamps, nullable, nullable, headers), min_size=1, max_size=20)
PROGRAM = tuple((token, None) if token.isalpha() else token.encode() for token in "k|s|S|R|K|T|o|t|p|h\n")


def as_json(row: Any, offset: int) -> str:
    def text(data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            from base64 import b64encode

            return {"base64": b64encode(data).decode()}

    timestamp, key, value, held = row
    envelope = {"topic": 'a"ü', "partition": 7, "offset": offset, "timestamp": timestamp, "timestamp_type": "create"}
    pairs = [[name, text(content)] for name, content in held]
    envelope |= {"key": text(key), "value": text(value), "headers": pairs}
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")) + "\n"


@cores
@given(rows=rows)
def test_D10_what_was_built_is_what_is_read(core, rows):
    batch = opened(core, built(core, rows))
    assert [(*record[1:4], list(record.headers)) for record in core.read_records(batch)] == rows
    columns = core.read_columns(batch)
    assert [columns.value(row) for row in range(len(columns))] == [row[2] for row in rows]
    assert [columns.key(row) for row in range(len(columns))] == [row[1] for row in rows]
    assert [core.read_headers(columns.data, at, n) for at, n in zip(columns.header_starts, columns.header_counts)] == [
        row[3] for row in rows
    ]
    assert core.count_visible(batch) == len(rows)


@cores
@given(rows=rows, wanted=st.sets(st.integers(0, 25)))
def test_records_that_are_picked_out_stay_what_they_were(core, rows, wanted):
    batch = opened(core, built(core, rows))
    kept = [record for record in core.read_records(batch) if record.offset in wanted]
    section, count = core.pick(batch, array("q", sorted(record.offset for record in kept)))
    assert count == len(kept)
    batch.data, batch.body_start, batch.body_end, batch.count = section, 0, len(section), count
    assert list(core.read_records(batch)) == kept


@cores
@given(
    lines=st.lists(st.text("a:b|", max_size=5).map(str.encode), max_size=9), key=st.sampled_from([b":", b"||", b"ab"])
)
def test_the_first_line_without_a_key_is_found(core: Any, lines: list[bytes], key: bytes) -> None:
    chunk = bytearray(b"x\n" + b"".join(line + b"\n" for line in lines) + b"rest")
    end = len(chunk) - 4
    places = [2 + sum(len(line) + 1 for line in lines[:n]) for n, line in enumerate(lines) if key not in line]
    assert core.unkeyed(chunk, 2, end, 10, key) == (places[0] if places else end)


@cores
@given(rows=rows, times=st.tuples(stamps, stamps), first=st.integers(0, 3))
def test_records_are_found_by_their_timestamps(core: Any, rows: Any, times: tuple[int, int], first: int) -> None:
    batch = opened(core, built(core, rows))
    batch.first = first
    kept = [record.offset for record in core.read_records(batch) if times[0] <= record.timestamp < times[1]]
    assert list(core.timed(batch, *times)) == kept


@cores
def test_timestamps_of_what_is_cut_off_are_a_decode_error(core: Any) -> None:
    batch = opened(core, built(core, [(1, b"k", b"v" * 50, ())] * 3))
    batch.body_end -= 10
    with pytest.raises(DecodeError):
        core.timed(batch, 0, 9)


@cores
def test_picking_from_what_is_cut_off_is_a_decode_error(core):
    batch = opened(core, built(core, [(1, b"k", b"v" * 50, ())] * 3))
    batch.body_end -= 10
    with pytest.raises(DecodeError):
        core.pick(batch, array("q", [0, 2]))


@cores
def test_records_are_iterated_one_at_a_time_in_the_for_loop_and_by_hand(core):
    batch = opened(core, built(core, [(1, b"k", b"v", ()), (2, None, None, [("h", None)])]))
    records = core.read_records(batch)
    assert iter(records) is records
    assert next(records) == (0, 1, b"k", b"v", ())
    assert [record.value for record in records] == [None]
    assert next(records, "no more") == "no more"


@cores
@given(rows=rows, more=rows, first=st.integers(0, 3))
def test_messages_are_the_records_of_batch_after_batch_with_their_places(
    core: Any, rows: list[Any], more: list[Any], first: int
) -> None:
    batches = [opened(core, built(core, rows)), opened(core, built(core, more))]
    batches[1].first = first
    batches[1].attributes, batches[1].leader_epoch = batches[1].attributes | 8, 12
    epoch = batches[0].leader_epoch
    expected = [("a", 7, *record, "create", epoch) for record in core.read_records(batches[0])]
    expected += [("b", 8, *record, "append", 12) for record in core.read_records(batches[1])]
    left: list[Any] = [(batches[1], "b", 8), None, (batches[0], "a", 7)]  # a turn that opens nothing is no end

    def go_on() -> None:
        if not left:
            raise StopIteration
        if (given := left.pop()) is not None:
            stream.open(*given)

    stream: Any = core.Messages(go_on)
    read = []
    assert (stream.after, stream.left()) == (-1, False)
    for message in stream:
        assert (stream.topic, stream.partition, stream.after) == (*message[:2], message.offset + 1)
        read.append(message)
        rest = sum(row[0] == message.topic for row in expected) - sum(row[0] == message.topic for row in read)
        assert stream.left() == (rest > 0)
    assert read == expected
    assert next(stream, None) is None


@cores
def test_messages_that_are_dropped_are_not_given_and_a_broken_batch_opens_nothing(core: Any) -> None:
    batch, broken = (opened(core, built(core, [(1, b"k", b"v", [("h", b"w")])] * 3)) for _ in range(2))
    broken.body_end -= 1
    found: list[Any] = [batch]
    stream: Any = core.Messages(lambda: stream.open(found.pop(), "t", 0) if found else next(iter(())))
    assert next(stream) == ("t", 0, 0, 1, b"k", b"v", [("h", b"w")], "create", batch.leader_epoch)
    stream.drop()
    assert (stream.after, stream.left(), list(stream)) == (-1, False, [])
    with pytest.raises(DecodeError):
        stream.open(broken, "t", 0)
    assert (stream.left(), list(stream)) == (False, [])
    found.append(batch)
    assert len(list(stream)) == 3


@cores
@given(rows=rows)
def test_both_cores_build_and_write_the_same(core, rows):
    data = built(core, rows)
    assert data == built(twin, rows)
    ours, oracle = opened(core, data), opened(twin, data)
    for write, arguments in (
        ("write_values", (b"\n", -1, b"~")),
        ("write_format", (PROGRAM, b"topic", 12, -1)),
        ("write_readable", ('a"ü', 7, -1, None, None)),
        ("write_json", ('a"ü', 7, -1)),
    ):
        out, expected = bytearray(b"before"), bytearray(b"before")
        assert getattr(core, write)(ours, out, *arguments) == getattr(twin, write)(oracle, expected, *arguments)
        assert out == expected
    assert out[6:].decode() == "".join(as_json(row, offset) for offset, row in enumerate(rows))


@cores
@given(rows=rows, first=st.integers(0, 25), stop=st.integers(0, 25), limit=st.integers(-1, 25))
def test_E3_the_window_and_the_limit_are_exact(core, rows, first, stop, limit):
    batch = opened(core, built(core, rows))
    batch.first, batch.stop = first, stop
    seen = [offset for offset in range(len(rows)) if first <= offset < stop]
    assert [record.offset for record in core.read_records(batch)] == seen
    taken = seen if limit < 0 else seen[:limit]
    end = min(stop, len(rows))
    after = end if len(taken) == len(seen) else (taken[-1] + 1 if taken else first)
    for write, arguments in (
        ("write_values", (b"\r\n", limit, b"")),
        ("write_format", ((("o", None), b"\n"), b"t", 0, limit)),
        ("write_json", ("t", 0, limit)),
        ("write_readable", ("t", 0, limit, None, None)),
    ):
        out = bytearray()
        assert getattr(core, write)(batch, out, *arguments) == (len(taken), after)
    assert core.count_visible(batch) == len(seen)


@cores
@settings(max_examples=tries(150))
@given(
    lines=st.lists(st.binary(max_size=300).map(lambda line: line.replace(b"\n", b"")), max_size=60),
    bound=st.integers(1, 20_000),
    most=st.integers(1, 70),
    before=st.integers(0, 2),
    nulls=st.booleans(),
)
def test_lines_are_cut_where_the_batch_is_full(core, lines, bound, most, before, nulls):
    chunk = b"skipped" + b"".join(line + b"\n" for line in lines) + b"not whole"
    ends, sections = [], []
    for each in (core, twin):
        builder, slow = each.Builder(), each.Builder()
        for _ in range(before):
            builder.append(5, b"k", b"v")
            slow.append(5, b"k", b"v")
        ends.append(builder.append_lines(chunk, 7, len(chunk), 10, 9, bound, most, nulls))
        for line in lines[: builder.count - before]:
            slow.append(9, None, line if line or not nulls else None)
        if slow.count and builder.count < before + len(lines) and builder.count < most and builder.count:
            line = lines[builder.count - before]
            slow.append(9, None, line if line or not nulls else None)
            assert slow.size > bound
        assert builder.size <= bound or builder.count <= 1 or builder.count == before
        sections.append(bytes(builder.take()))
    assert ends[0] == ends[1]
    assert sections[0] == sections[1]


@cores
@given(
    text=st.lists(st.sampled_from([b"a", b"::", b":", b"\n", b"key", b"\n\n"]), max_size=40).map(b"".join),
    cut=st.sampled_from([None, b":", b"::", b"\t"]),
    nulls=st.booleans(),
)
def test_rows_are_split_partitioned_and_appended(core: Any, text: bytes, cut: bytes | None, nulls: bool) -> None:
    chunk = b"x" + text
    lines, oracle = (each.split_lines(chunk, 1, len(chunk), 10, cut, nulls) for each in (core, twin))
    names = ("key_starts", "key_lengths", "value_starts", "value_lengths", "count", "consumed")
    assert [getattr(lines, name) for name in names] == [getattr(oracle, name) for name in names]
    partitions = core.partition_keys(chunk, lines, 5)
    assert partitions == twin.partition_keys(chunk, lines, 5)
    made = []
    for each in (core, twin):
        builder = each.Builder()
        stop, _ = each.spread_rows([builder], array("i", bytes(4 * lines.count)), chunk, lines, 0, 1, 90, 8)
        made.append((stop, builder.count, bytes(builder.take())))
    assert made[0] == made[1]
    assert spread(core, chunk, lines, partitions, 90, 8) == spread(twin, chunk, lines, partitions, 90, 8)


@pytest.mark.slow
@cores
def test_E6_mutated_sections_raise_nothing_but_decode_errors(core):
    rng = random.Random(7)
    rows = [(n * 3, b"key%d" % n, b"v" * (n * 9), [("h", b"x"), ("n", None)] * (n % 3)) for n in range(12)]
    good = built(core, rows)
    outcomes = set()
    for _ in range(tries(6000)):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(61, len(data))] = rng.choice((0, 1, 2, 127, 128, 255, rng.randrange(256)))
        if rng.random() < 0.2:
            data[35:43] = rng.randbytes(8)
            data[27:35] = b"\x7f" + b"\xff" * 7
        results = []
        for each in (core, twin):
            batch = opened(each, bytes(data), check_crcs=False)
            answers = []
            for read, arguments in (
                ("read_records", ()),
                ("write_values", (b"\n", -1, b"")),
                ("write_format", (PROGRAM, b"t", 0, -1)),
                ("write_json", ("t", 0, -1)),
                ("write_readable", ("t", 0, -1, None, None)),
            ):
                out = bytearray(b"kept")
                try:
                    given_out = (out, *arguments) if arguments else ()
                    answer = getattr(each, read)(batch, *given_out)
                    answers.append((answer if arguments else list(answer), bytes(out)))
                except DecodeError:
                    assert out == b"kept"
                    answers.append(None)
            results.append(answers)
        assert results[0] == results[1]
        outcomes.add(results[0][0] is None)
    assert outcomes == {True, False}


@cores
@pytest.mark.parametrize("shape", ["plain", "keyed", "headers", "nulls", "mixed"])
def test_long_batches_of_every_shape_are_written_and_broken_alike(core, shape):
    rng = random.Random(shape)
    rows = []
    for n in range(9000):
        odd = shape if shape != "mixed" or n % 50 == 0 else "plain"
        key = rng.randbytes(rng.randrange(80)) if odd in ("keyed", "mixed") else None
        value = None if odd == "nulls" and n % 100 == 99 else b"v" * rng.choice((100, 60, 63, 64, 120, 3))
        held = [("h", b"x")] if odd in ("headers", "mixed") and n % 40 == 39 else ()
        rows.append((n // 30, key, value, held))
    good = built(twin, rows)
    for bad_at in (None, *(rng.randrange(61, len(good)) for _ in range(tries(40)))):
        data = bytearray(good)
        if bad_at is not None:
            data[bad_at] ^= rng.choice((1, 2, 128, 255))
        answers = []
        for each in (core, twin):
            out = bytearray()
            try:
                answers.append((each.write_values(opened(each, bytes(data), False), out, b"|", -1, b"~"), bytes(out)))
            except DecodeError:
                answers.append(None)
        assert answers[0] == answers[1]
        if bad_at is None:
            assert answers[0][1] == b"".join((b"~" if row[2] is None else row[2]) + b"|" for row in rows)


def spread(
    core: Any, text: bytes, lines: Lines, places: Any, most_bytes: int, most: int, times: Any = None
) -> tuple[list[tuple[int, int]], dict[int, list[bytes]]]:
    """What the rows come to, spread over builders by place (rows of place -1 left out): where each call ended, by how
    many bytes the builders grew, and the batches of each place in their order."""
    kept = [row for row, place in enumerate(places) if place >= 0]
    columns = ("key_starts", "key_lengths", "value_starts", "value_lengths")
    ks, kl, vs, vl = (array("i", [getattr(lines, name)[row] for row in kept]) for name in columns)
    lines = Lines(ks, kl, vs, vl, lines.consumed)
    places = array("i", [places[row] for row in kept])
    times = None if times is None else array("q", [times[row] for row in kept])
    builders: list[Any] = [None] * (max(places, default=0) + 1)
    batches: dict[int, list[bytes]] = {}
    ends: list[tuple[int, int]] = []
    row = total = 0
    while row < lines.count:
        row, grown = core.spread_rows(builders, places, text, lines, row, 5, most_bytes, most, times)
        ends.append((row, grown))
        total += grown
        if row < lines.count:
            place = places[row]
            if builders[place] is not None:
                batches.setdefault(place, []).append(sealed(builders[place]))
            builders[place] = core.Builder()
    for place, builder in enumerate(builders):
        if builder is not None:
            batches.setdefault(place, []).append(sealed(builder))
    assert total == sum(len(data) - 61 for datas in batches.values() for data in datas)
    return ends, batches


@pytest.mark.slow
@cores
def test_rows_are_spread_over_the_batches_of_their_partitions(core: Any) -> None:
    rng = random.Random(3)
    text = b"".join(b"%d\t%s\n" % (rng.randrange(5000), b"x" * rng.randrange(200)) for _ in range(tries(3000)))
    lines = core.split_lines(text, 0, len(text), 10, b"\t")
    times = array("q", [rng.randrange(2**41) for _ in range(lines.count)])
    for partitions in (1, 3, 700):
        parts = core.partition_keys(text, lines, partitions)
        wanted: dict[int, list[tuple[bytes, int]]] = {}
        for at, size, part, time in zip(lines.value_starts, lines.value_lengths, parts, times):
            wanted.setdefault(part, []).append((text[at : at + size], time))
        for most_bytes, most in ((10_000, 1 << 30), (1 << 30, 7), (300, 10), (1 << 30, 1 << 30)):
            for stamps in (None, times):
                ends, batches = spread(core, text, lines, parts, most_bytes, most, stamps)
                assert (ends, batches) == spread(twin, text, lines, parts, most_bytes, most, stamps)
                for place, datas in batches.items():
                    read = [record for data in datas for record in core.read_records(opened(core, data))]
                    assert [record.value for record in read] == [value for value, _ in wanted[place]]
                    assert stamps is None or [record.timestamp for record in read] == [at for _, at in wanted[place]]
                if most_bytes == most:
                    assert len(ends) == len(set(parts)) + 1  # a call for each batch, however many partitions


@cores
def test_rows_have_the_headers_that_are_in_their_chunk(core: Any) -> None:
    rng = random.Random(5)
    rows = [
        (
            rng.choice([None, b"k"]),
            rng.choice([None, b"", b"v" * rng.randrange(300)]),
            [("h", b"x" * rng.randrange(90))] * rng.randrange(3),
        )
        for _ in range(400)
    ]
    text = bytearray()
    columns: list[list[int]] = [[] for _ in range(6)]
    for key, value, headers in rows:
        for at, piece in enumerate((key, value, twin.encode_headers(headers) if headers else b"")):
            columns[2 * at].append(len(text))
            columns[2 * at + 1].append(-1 if piece is None else len(piece))
            text += piece or b""
    ks, kl, vs, vl, hs, hl = (array("i", column) for column in columns)
    lines, places, times = Lines(ks, kl, vs, vl, 0), array("i", [0] * 400), array("q", range(400))
    for most_bytes, most in ((10_000, 1 << 30), (1 << 30, 7), (150, 10)):
        read, row = [], 0
        while row < 400:
            builder = core.Builder()
            row, grown = core.spread_rows(
                [builder], places, bytes(text), lines, row, 5, most_bytes, most, times, (hs, hl)
            )
            assert grown == builder.size
            assert builder.count == 1 or (builder.size <= most_bytes and builder.count <= most)
            read += core.read_records(opened(core, sealed(builder)))
        assert [(record.key, record.value, list(record.headers)) for record in read] == rows
        assert [record.timestamp for record in read] == list(range(400))
    if core is not twin:  # C trusts no place
        with pytest.raises(ValueError, match="outside its chunk"):
            core.spread_rows(
                [core.Builder()], places, bytes(text), lines, 0, 5, 10, 10, times, (array("i", [1 << 30] * 400), hl)
            )


@cores
def test_a_row_stops_at_a_partition_without_a_batch_and_one_outside_is_refused(core: Any) -> None:
    text = b"a\tb\nc\td\n"
    lines = core.split_lines(text, 0, len(text), 10, b"\t")
    full = core.Builder()
    assert core.spread_rows([full, None], array("i", [0, 1]), text, lines, 0, 5, 1000, 10) == (1, full.size)
    for places in (array("i", [2, 0]), array("i", [-1, 0])):
        with pytest.raises(ValueError, match="outside its partitions"):
            core.spread_rows([full, full], places, text, lines, 0, 5, 1000, 10)


@cores
def test_rows_of_many_batches_are_cut_where_each_is_full(core):
    rng = random.Random(3)
    text = b"".join(b"%d\t%s\n" % (rng.randrange(50), b"x" * rng.randrange(200)) for _ in range(tries(3000)))
    lines = core.split_lines(text, 0, len(text), 10, b"\t")
    alone = array("i", bytes(4 * lines.count))
    for most_bytes, most in ((10_000, 1 << 30), (1 << 30, 77), (300, 10), (30_000, 500)):
        made = []
        for each in (core, twin):
            builder, row = each.Builder(), 0
            while row < lines.count:
                row, _ = each.spread_rows([builder], alone, text, lines, row, 5, most_bytes, most)
                made.append((each, row, builder.count, sealed(builder) if builder.count else b""))
        ours = [one[1:] for one in made if one[0] is core]
        assert ours == [one[1:] for one in made if one[0] is twin][: len(ours)]


@cores
def test_rows_with_a_time_each_are_cut_where_each_batch_is_full(core):
    rng = random.Random(5)
    text = b"".join(b"%d\t%s\n" % (rng.randrange(50), b"x" * rng.randrange(200)) for _ in range(500))
    lines = core.split_lines(text, 0, len(text), 10, b"\t")
    times = array("q", [rng.randrange(2**41) for _ in range(lines.count)])
    alone = array("i", bytes(4 * lines.count))
    for most_bytes, most in ((10_000, 1 << 30), (1 << 30, 77), (50, 10)):
        made = {}
        for each in (core, twin):
            builder, row, batches = each.Builder(), 0, []
            while row < lines.count:
                row, _ = each.spread_rows([builder], alone, text, lines, row, 5, most_bytes, most, times)
                if builder.count:
                    batches.append((row, sealed(builder)))
            made[each] = batches
        assert made[core] == made[twin]
        read = [record for _, data in made[core] for record in core.read_records(opened(core, data))]
        assert [record.timestamp for record in read] == list(times)


@cores
def test_E6_counts_that_cannot_be_are_refused(core):
    good = bytearray(built(core, [(1, None, b"v", ())]))
    for count in (-1, 2**31 - 1, 3):
        good[57:61] = count.to_bytes(4, "big", signed=True)
        assert "count" in core.scan(bytes(good), 0, False, core.Header, [])[1]


@cores
def test_E5_every_flipped_byte_is_seen(core):
    good = built(core, [(1, b"k", b"v", ())] * 3)
    for at in range(17, len(good)):
        bad = bytearray(good)
        bad[at] ^= 16
        assert core.scan(bytes(bad), 0, True, core.Header, [])[1] == "its CRC does not match"


@cores
def test_E7_the_brokers_clock_gives_every_timestamp(core):
    data = bytearray(built(core, [(1, None, b"a", ()), (5, None, b"b", ())]))
    data[22] |= 8
    data[35:43] = (99).to_bytes(8, "big")
    assert [r.timestamp for r in core.read_records(opened(core, bytes(data), False))] == [99, 99]


@cores
def test_crc32c_is_castagnolis(core):
    assert core.crc32c(b"123456789") == 0xE3069283
    assert core.crc32c(b"") == 0
    rng = random.Random(3)
    for size in (1, 7, 8, 63, 3071, 3072, 3073, 10_000):
        data = rng.randbytes(size)
        assert core.crc32c(memoryview(data)) == twin.crc32c(data)
        assert core.crc32c(data[size // 2 :], core.crc32c(data[: size // 2])) == twin.crc32c(data)


@cores
def test_crc32c_is_the_same_however_a_buffer_is_cut(core):
    """Wide registers begin at 512 bytes and take 256 at a time: every remainder, from odd addresses."""
    data = random.Random(1).randbytes(1400)
    whole = twin.crc32c(data)
    for cut in range(0, 1400, 1 if core is not twin else 37):
        assert core.crc32c(memoryview(data)[cut:], core.crc32c(memoryview(data)[:cut])) == whole


@cores
def test_D11_keys_go_where_java_puts_them(core):
    for key, hashed in (
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
        (b"", 0x106E08D9),
    ):
        assert core.murmur2(key) == hashed & 0xFFFFFFFF
        assert core.partition_of(key, 10) == (hashed & 0x7FFFFFFF) % 10


@cores
def test_a_batch_is_kafka_pythons_and_aiokafkas_byte_for_byte(core):
    kafka = pytest.importorskip("kafka.record.default_records")
    aiokafka = pytest.importorskip("aiokafka.record.default_records")
    rows = [(1000 + n, b"k%d" % n if n % 2 else None, b"v" * n * 7, [("h", b"x")] * (n % 3)) for n in range(200)]
    rows[3] = (1003, b"", b"", [])
    ours = built(core, rows)
    for module in (kafka, aiokafka):
        theirs = module.DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 20)
        for offset, (timestamp, key, value, held) in enumerate(rows):
            theirs.append(offset, timestamp, key, value, held)
        built_there = bytearray(theirs.build())
        built_there[12:16] = b"\xff" * 4  # the leader's epoch is outside the CRC, and theirs to choose
        assert bytes(built_there) == ours


@cores
def test_a_builder_is_empty_after_take(core):
    builder = core.Builder()
    builder.append(1, None, b"v")
    assert sealed(builder)
    assert (builder.count, builder.size, bytes(builder.take())) == (0, 0, bytes(61))


def test_what_is_broken_behind_a_limit_is_broken_for_both_cores():
    rng = random.Random(11)
    outcomes = set()
    for _ in range(tries(4000)):
        rows = [(5, rng.choice((None, b"k" * 90)), b"v" * rng.randrange(100), [("h", b"x")] * rng.randrange(2))
                for _ in range(rng.randint(1, 5))]  # fmt: skip
        good = bytearray(built(twin, rows))
        for _ in range(rng.randint(0, 2)):
            good[rng.randrange(61, len(good))] = rng.choice((0, 1, 2, 127, 128, 255, rng.randrange(256)))
        count, limit = len(rows) + rng.choice((0, 0, 0, -1, 1)), rng.randint(0, 6)
        body = bytes(good[61:]) if rng.random() < 0.7 else bytes(good[61 : rng.randint(61, len(good))])
        answers = []
        for each in CORES:
            batch = opened(each, bytes(good), check_crcs=False)
            batch.data, batch.body_start, batch.body_end, batch.count = body, 0, len(body), count
            for write, arguments in (
                ("write_values", (b"\n", limit, b"")),
                ("write_format", (PROGRAM, b"t", 0, limit)),
                ("write_json", ("t", 0, limit)),
                ("write_readable", ("t", 0, limit, None, None)),
                ("write_readable", ("t", 0, limit, None, None)),
            ):
                out = bytearray()
                try:
                    answers.append((each.NAME, write, getattr(each, write)(batch, out, *arguments), bytes(out)))
                except DecodeError:
                    answers.append((each.NAME, write, "broken", b""))
        outcomes.add(answers[0][2] == "broken")
        half = len(answers) // len(CORES)
        assert [one[1:] for one in answers[:half]] == [one[1:] for one in answers[-half:]]
    assert outcomes == {True, False}


@pytest.mark.parametrize("start", [b"", b"123"])
def test_checksums_need_no_extension_module(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a wheel whose library crc32c was not compiled: `import crc32c` fails, and the value is the same."""
    for missing in ("crc32c", "crc32c._crc32c"):
        monkeypatch.setitem(sys.modules, missing, None)
    function, note = checksum._choose()
    assert note
    for data in (b"", b"a", b"456789", bytes(range(256)) * 5):
        assert function(memoryview(data), function(start, 0)) == checksum.crc32c(start + data, 0)
    assert function(b"123456789", 0) == 0xE3069283
