"""Rows of many batches as Arrow's buffers: both record cores, byte for byte, and nothing kept of a broken batch."""

from __future__ import annotations

import random
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.errors import DecodeError
from tests.proto.record_cores import CORES, built, opened

cores = pytest.mark.parametrize("core", CORES, ids=lambda core: core.NAME)
nullable = st.none() | st.binary(max_size=200)
rows = st.lists(
    st.tuples(
        st.integers(-1, 2**45), nullable, nullable, st.lists(st.tuples(st.text(max_size=8), nullable), max_size=3)
    ),
    min_size=1,
    max_size=20,
)


def cells(spans):
    """A binary column as Arrow would read it."""
    ends, data = array("i", bytes(spans.ends)), bytes(spans.data)
    assert len(ends) == spans.rows + 1
    valid = [spans.valid is None or bool(bytes(spans.valid)[row >> 3] >> (row & 7) & 1) for row in range(spans.rows)]
    assert valid.count(False) == spans.nulls
    assert (spans.valid is None) == (not spans.nulls)
    return [data[ends[row] : ends[row + 1]] if valid[row] else None for row in range(spans.rows)]


def headers_of(gathered):
    ends = array("i", bytes(gathered.header_ends))
    pairs = [
        (name.decode("utf-8", "replace"), content)
        for name, content in zip(cells(gathered.header_names), cells(gathered.header_values), strict=True)
    ]
    return [pairs[ends[row] : ends[row + 1]] for row in range(gathered.rows)]


@cores
@given(batches=st.lists(rows, min_size=1, max_size=4))
def test_what_is_gathered_is_what_was_written(core, batches):
    into = core.Gather(True, True, True)
    assert [into.add(opened(core, built(core, one))) for one in batches] == [len(one) for one in batches]
    every = [row for one in batches for row in one]
    assert into.rows == len(every)
    got = into.take()
    assert list(array("q", bytes(got.offsets))) == [at for one in batches for at in range(len(one))]
    assert list(array("q", bytes(got.timestamps))) == [row[0] for row in every]
    assert set(array("i", bytes(got.kinds))) == {0}
    assert cells(got.keys) == [row[1] for row in every]
    assert cells(got.values) == [row[2] for row in every]
    assert headers_of(got) == [row[3] for row in every]
    assert (into.rows, into.size, into.take().rows) == (0, 0, 0)


@cores
def test_only_the_window_and_the_columns_asked_for_are_gathered(core):
    batch = opened(core, built(core, [(7, b"k%d" % i, b"v%d" % i, []) for i in range(10)]))
    batch.first, batch.stop = 3, 6
    into = core.Gather(False, True)
    assert into.add(batch) == 3
    assert into.size == 6
    got = into.take()
    assert (got.keys, got.header_ends, got.header_names) == (None, None, None)
    assert cells(got.values) == [b"v3", b"v4", b"v5"]


@cores
def test_the_brokers_clock_and_messages_without_time_are_told_apart(core):
    into = core.Gather()
    batch = opened(core, built(core, [(5, None, b"", [])]))
    batch.attributes, batch.max_timestamp = batch.attributes | 8, 99
    into.add(batch)
    old = opened(core, built(core, [(-1, None, b"", [])]))
    old.magic = 0
    into.add(old)
    got = into.take()
    assert list(array("i", bytes(got.kinds))) == [1, -1]
    assert list(array("q", bytes(got.timestamps))) == [99, -1]


@pytest.mark.slow
@cores
def test_a_broken_batch_leaves_what_was_gathered_before(core):
    good = [(i, None if i % 3 else b"key", None if i % 5 else b"value", [("h", b"x")]) for i in range(50)]
    whole = bytearray(built(core, good))
    rng = random.Random(1)
    broken = 0
    for _ in range(300):
        into = core.Gather(True, True, True)
        into.add(opened(core, built(core, good)))
        data = bytearray(whole)
        data[rng.randrange(61, len(data))] = rng.randrange(256)
        batch = opened(core, bytes(data), check_crcs=False)
        try:
            into.add(batch)
        except DecodeError:
            broken += 1
            assert into.rows == 50
        into.add(opened(core, built(core, good)))
        got = into.take()
        kept = cells(got.values)
        assert kept[:50] == kept[-50:] == [row[2] for row in good]
        assert cells(got.keys)[-50:] == [row[1] for row in good]
        assert headers_of(got)[-50:] == [[("h", b"x")]] * 50
    assert broken > 100


def test_both_cores_make_the_same_buffers():
    rng = random.Random(3)
    rows = [
        (rng.randrange(2**40), rng.choice([None, b"", b"k"]), rng.randbytes(rng.randrange(300)), []) for _ in range(999)
    ]
    made = []
    for core in CORES:
        into = core.Gather(True, True, True)
        into.add(opened(core, built(core, rows)))
        got = into.take()
        size = struct.unpack("<i", bytes(got.values.ends)[-4:])[0]
        made.append(
            (
                bytes(got.offsets),
                bytes(got.keys.valid)[: (999 + 7) // 8],
                bytes(got.keys.ends),
                bytes(got.values.data)[:size],
                got.values.valid,
            )
        )
    assert all(one == made[0] for one in made)
