"""Batches: sealed, read, cut off, broken, compressed, and of the old formats."""

from __future__ import annotations

import os
import zlib

import pytest

from kcli.errors import DecodeError, EncodeError
from kcli.proto import compression, core
from kcli.proto.batch import CODECS, Batch, CorruptBatch, read_batches, seal

ROWS = [
    (1000 + n, b"k%d" % n if n % 3 else None, b"value %d " % n * (n % 9), [("h", b"x")] * (n % 2)) for n in range(500)
]
PACKED = [codec for codec in CODECS if codec != "none"]


def batch(rows=ROWS, base_offset=0, **options):
    builder = core.Builder()
    for row in rows:
        builder.append(*row)
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    made = seal(builder.take(), count, base, latest, **options)
    made.data[:8] = base_offset.to_bytes(8, "big")
    return made


def contents(batches):
    return [(record.timestamp, record.key, record.value, list(record.headers)) for each in batches for record in each]


@pytest.mark.parametrize("codec", CODECS)
def test_D15_every_codec_round_trips(codec):
    sealed = batch(codec=codec)
    [read] = read_batches(sealed.data)
    assert contents([read]) == ROWS
    assert (read.codec, read.count, read.size, read.magic) == (codec, 500, len(sealed.data), 2)
    assert codec == "none" or sealed.size < sealed.raw_size


@pytest.mark.parametrize("codec", PACKED)
def test_D18_a_batch_may_grow_when_compressed(codec):
    rows = [(1, None, os.urandom(3000), [])]
    assert contents(read_batches(batch(rows, codec=codec).data)) == rows


def test_D19_a_second_stamp_leaves_the_same_bytes():
    sealed = batch(codec="lz4")
    sealed.stamp(42, 3, 77)
    before = bytes(sealed.data)
    sealed.stamp(42, 3, 77)
    assert bytes(sealed.data) == before
    [read] = read_batches(sealed.data)
    assert (read.producer_id, read.producer_epoch, read.base_sequence) == (42, 3, 77)


def test_unknown_codecs_and_levels_are_refused():
    with pytest.raises(EncodeError):
        batch(codec="brotli")
    with pytest.raises(EncodeError):
        batch(codec="gzip", level=99)


def test_E1_a_tail_that_is_cut_off_is_left_out_at_every_byte():
    one, two = bytes(batch(ROWS[:3]).data), bytes(batch(ROWS[3:5], base_offset=3).data)
    for end in range(len(one) + len(two) + 1):
        read = read_batches((one + two)[:end])
        assert len(read) == (end >= len(one)) + (end >= len(one) + len(two))


def test_E4_an_empty_batch_keeps_its_last_offset():
    data = bytearray(batch(ROWS[:4], base_offset=10).data)[:61]
    data[8:12] = (49).to_bytes(4, "big")
    data[57:61] = bytes(4)
    [read] = read_batches(data, check_crcs=False)
    assert (read.last_offset, read.count, read.visible, list(read)) == (13, 0, 0, [])
    out = bytearray()
    assert read.write_values(out, b"\n") == (0, 14)


def test_E5_a_corrupt_batch_names_its_offset_and_keeps_the_good_ones():
    data = bytearray(batch(ROWS[:3]).data + batch(ROWS[3:9], base_offset=3).data)
    data[-1] ^= 1
    with pytest.raises(CorruptBatch, match="offset 3") as caught:
        read_batches(data)
    assert contents(caught.value.good) == ROWS[:3]
    assert (caught.value.base_offset, caught.value.next_offset) == (3, 9)


@pytest.mark.parametrize("codec", PACKED)
def test_E6_a_bomb_ends_at_the_bound(codec):
    small = batch([(1, None, bytes(20_000_000), [])], codec=codec)
    [read] = read_batches(small.data, max_decompressed=1_000_000)
    with pytest.raises(CorruptBatch, match="1000000"):
        list(read)


def test_E6_more_than_64_mib_must_come_from_a_believable_number_of_bytes():
    zeros = compression.compress("zstd", bytes(65 << 20))
    assert len(zeros) * compression.RATIO < 64 << 20
    with pytest.raises(DecodeError, match="more than 67108864 bytes"):
        compression.decompress("zstd", zeros, 256 << 20)
    assert len(compression.decompress("zstd", compression.compress("zstd", bytes(63 << 20)), 256 << 20)) == 63 << 20


@pytest.mark.parametrize("codec", PACKED)
def test_E6_broken_compressed_bytes_are_decode_errors(codec):
    packed = bytes(compression.compress(codec, b"some text " * 500))
    for end in range(0, len(packed) - 1, 3):
        try:
            assert bytes(compression.decompress(codec, packed[:end], 10_000)) != b"some text " * 500 or end > 40
        except DecodeError:
            continue
    for at in range(0, len(packed), 3):
        bad = packed[:at] + bytes((packed[at] ^ 0x55,)) + packed[at + 1 :]
        try:
            compression.decompress(codec, bad, 100_000)
        except DecodeError:
            continue


@pytest.mark.parametrize("codec", PACKED)
def test_E4_nothing_at_all_is_compressed_and_read_again(codec):
    """Also as a frame in front of another one: an empty lz4 frame was taken for one that is cut off."""
    nothing = bytes(compression.compress(codec, b""))
    assert compression.decompress(codec, nothing, 100) == b""
    if codec != "snappy":
        assert compression.decompress(codec, nothing + bytes(compression.compress(codec, b"x")), 100) == b"x"


@pytest.mark.parametrize("codec", PACKED)
def test_D15_sections_of_megabytes_are_read_whole(codec):
    """Input goes in pieces and output comes in steps: here a step of lz4 ends where a piece does."""
    rows = []
    for n in range(97_581, 97_581 + 17_597):
        line = b"%07d %s" % (
            n,
            (b"order=%d user=%d price=%d " % (n * 7919 % 100_003, n * 31 % 977, n % 10_007) * 4)[:91],
        )
        rows.append((1_700_000_000_000, None, line, ()))
    [read] = read_batches(batch(rows, codec=codec).data)
    assert [record.value for record in read] == [value for _, _, value, _ in rows]


def test_D16_lz4_blocks_are_independent_and_of_64_kib():
    frame = bytes(compression.compress("lz4", bytes(300_000)))
    assert frame[4] & 0x20
    assert frame[5] >> 4 == 4


def test_D17_zstd_frames_in_a_row_and_without_a_size_are_read():
    import zstandard

    sized = zstandard.ZstdCompressor().compress(b"one")
    stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    unsized = stream.compress(b"two") + stream.flush()
    assert compression.decompress("zstd", sized + unsized, 100) == b"onetwo"


def test_D15_snappy_is_read_raw_and_with_redpandas_header():
    from cramjam import snappy

    raw = bytes(snappy.compress_raw(b"text" * 50))
    assert compression.decompress("snappy", raw, 1000) == b"text" * 50
    framed = compression.XERIAL + bytes((1, 0, 0, 0, 1, 0, 0, 0)) + len(raw).to_bytes(4, "big") + raw
    assert compression.decompress("snappy", framed, 1000) == b"text" * 50


def test_gzip_without_isal_is_zlibs(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "isal", None)
    packed = compression.compress("gzip", b"text" * 50)
    assert zlib.decompress(packed, 31) == b"text" * 50
    assert compression.decompress("gzip", bytes(packed) + bytes(packed), 1000) == b"text" * 100


def test_the_window_is_counted_without_decoding_where_the_log_is_dense():
    [read] = read_batches(batch().data)
    read.first, read.stop = 100, 230
    read.data = b""  # nothing to decode
    assert read.visible == 130


def test_converters_see_each_field():
    [read] = read_batches(batch(ROWS[:3]).data)
    out = bytearray()
    program = (("k", lambda key: b"none" if key is None else key.upper()), b" ", ("T", None), b" ", ("h", None), b"\n")
    assert read.write_format(out, program, b"t", 0, 2) == (2, 2)
    assert out == b"none 1000 \nK1 1001 h=x\n"


def test_F3_control_types():
    for kind in (0, 1):
        data = bytearray(batch([(1, b"\0\0" + bytes((0, kind)), bytes(6), [])]).data)
        assert len(data) == 78
        data[22] |= 0x30
        [read] = read_batches(data, check_crcs=False)
        assert (read.is_control, read.is_transactional, read.control_type) == (True, True, kind)


def message(offset, value, magic=1, attributes=0, timestamp=5, key=None):
    body = bytes((magic, attributes)) + (timestamp.to_bytes(8, "big", signed=True) if magic else b"")
    for field in (key, value):
        body += b"\xff" * 4 if field is None else len(field).to_bytes(4, "big") + field
    crc = zlib.crc32(body).to_bytes(4, "big")
    return offset.to_bytes(8, "big") + (len(body) + 4).to_bytes(4, "big") + crc + body


def wrapped(outer, inner, magic=1, codec=1, **options):
    packed = bytes(compression.compress(CODECS[codec], b"".join(inner)))
    return message(outer, packed, magic, codec | options.pop("extra", 0), **options)


def seen(data, **options):
    return [(r.offset, r.timestamp, r.value) for each in read_batches(data, **options) for r in each]


def test_E9_three_formats_in_one_answer():
    data = message(0, b"a", magic=0) + message(1, b"b", timestamp=7) + bytes(batch(ROWS[1:2], base_offset=2).data)
    data += message(3, None, timestamp=8)
    assert seen(data) == [(0, -1, b"a"), (1, 7, b"b"), (2, 1001, b"value 1 "), (3, 8, None)]


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_E8_compressed_message_sets(codec):
    relative = [message(n, b"v%d" % n, timestamp=n) for n in (0, 2, 3)]
    assert seen(wrapped(103, relative, codec=codec)) == [(100, 0, b"v0"), (102, 2, b"v2"), (103, 3, b"v3")]
    assert [row[0] for row in seen(wrapped(0, relative, codec=codec))] == [0, 2, 3]
    stamped = wrapped(103, relative, codec=codec, extra=8, timestamp=77)
    assert [row[1] for row in seen(stamped)] == [77] * 3
    assert read_batches(stamped)[0].timestamp_type == "append"
    absolute = [message(n, b"v", magic=0) for n in (50, 53)]
    assert seen(wrapped(53, absolute, magic=0, codec=codec)) == [(50, -1, b"v"), (53, -1, b"v")]


def test_E8_a_v0_lz4_frame_with_kafkas_wrong_checksum_is_read():
    packed = bytearray(compression.compress("lz4", message(0, b"v", magic=0)))
    packed[6] ^= 0x5A
    assert seen(message(0, bytes(packed), 0, 3)) == [(0, -1, b"v")]


@pytest.mark.parametrize(
    "data",
    [
        wrapped(5, [wrapped(5, [message(5, b"v")])]),
        message(5, b"anything", attributes=4),
        wrapped(1, [message(0, b"a"), message(5, b"b")]),
        wrapped(1, []),
        wrapped(1, [message(0, b"a", magic=0)]),
        message(5, b"v")[:16] + b"\x03" + message(5, b"v")[17:],
    ],
    ids=["nested", "zstd", "outer before inner", "empty", "mixed magic", "magic 3"],
)
def test_E8_what_is_no_message_set_is_refused(data):
    with pytest.raises(CorruptBatch):
        read_batches(message(0, b"good") + data)


def test_E6_mutated_message_sets_raise_nothing_but_decode_errors():
    data = (
        message(0, b"a" * 20, magic=0)
        + wrapped(9, [message(n, b"v" * n) for n in range(9)])
        + message(10, b"x", key=b"k")
    )
    for at in range(len(data)):
        for mask in (1, 0x80, 0xFF):
            bad = data[:at] + bytes((data[at] ^ mask,)) + data[at + 1 :]
            try:
                for each in read_batches(bad, check_crcs=False):
                    assert isinstance(each, Batch)
                    list(each)
            except DecodeError:
                continue
