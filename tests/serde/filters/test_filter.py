"""Filters over batches: the same records as testing one by one, whatever the shape, the codec, the window, the core."""

from __future__ import annotations

import contextlib
import json
import random
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.errors import KcliError, UsageError
from kcli.proto import core
from kcli.proto.batch import RESERVED, Batch, read_batches, seal
from kcli.proto.plain.gather import spans as cells
from kcli.proto.varint import encode_varint
from kcli.serde import decoded
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.row_search import rows_headed_with
from kcli.serde.filters.where import Where
from kcli.serde.schemas.decoded_batch import replaced
from tests.effort import tries

piece = st.sampled_from([b"a", b"b", b"ab", b"x", b"\xff", "é".encode(), b'{"n":1}', b""])
nullable = st.none() | st.lists(piece, max_size=4).map(b"".join)
header = st.tuples(st.sampled_from(["a", "ab", "h"]), nullable)
rows = st.lists(
    st.tuples(st.integers(0, 99), nullable, nullable, st.lists(header, max_size=2)), min_size=1, max_size=30
)
FILTERS = [
    {"grep": ["ab"]},
    {"grep": ["^a"]},
    {"grep": ["a", "b$"]},
    {"grep": ["[éx]"]},
    {"keys": [b"a"]},
    {"keys": [b"a", b""]},
    {"key_grep": ["b"]},
    {"key_grep": ["^$"]},
    {"headers": [("a", None)]},
    {"headers": [("h", b"ab"), ("a", None)]},
    {"where": ["value.n == 1 or key == 'a'"]},
    {"grep": ["a"], "key_grep": ["a"], "where": ["offset % 2 == 0 and 'a' in headers"]},
    {"where": ["timestamp > 50", "partition == 3 and topic == 't'"]},
    {"where": ["value.n == 1"]},
    {"where": ["headers.h == 'ab' and offset < 20"]},
    {"where": ["key == 'ab'"]},
    {"grep": ["a[bx]+"]},
    {"grep": ["x*"]},
    {"grep": ["b(a|x){1,2}"]},
    {"grep": ["[a-b]\\d?x"]},
    {"headers": [("h", b"a")]},
    {"headers": [("ab", b"")]},
]


def made(wanted: dict[str, list[object]]) -> Filter:
    return Filter(**{**wanted, "where": [Where(str(text)) for text in wanted.get("where", [])]})  # type: ignore[arg-type]


def batch_of(records: list[tuple[Any, ...]], codec: str = "none") -> Batch:
    builder = core.Builder()
    for row in records:
        builder.append(*row)
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    sealed = seal(builder.take(), count, base, latest, codec=codec)
    (batch,) = read_batches(bytes(sealed.data))
    return batch


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
@given(records=rows, codec=st.sampled_from(["none", "gzip"]), cut=st.tuples(st.integers(0, 10), st.integers(0, 10)))
@settings(max_examples=tries(25), deadline=None)
def test_a_batch_is_filtered_as_its_records_one_by_one(
    wanted: dict[str, list[object]], records: list[tuple[Any, ...]], codec: str, cut: tuple[int, int]
) -> None:
    keep = made(wanted)
    batch = batch_of(records, codec)
    batch.first, batch.stop = min(cut[0], len(records)), max(len(records) - cut[1], 0)
    expected = [record for record in batch if keep.record(record, "t", 3)]
    assert keep.count(batch, "t", 3) == len(expected)
    kept = keep.batch(batch, "t", 3)
    assert (list(kept) if kept is not None else []) == expected
    if kept is not None:
        assert (kept.first, kept.stop, kept.visible) == (batch.first, batch.stop, len(expected))
        out = bytearray()
        assert kept.write_values(out, b"\n") == (len(expected), min(batch.stop, batch.last_offset + 1))
        assert out == b"".join((record.value or b"") + b"\n" for record in expected)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_the_bytes_may_be_any_buffer_and_the_batch_anywhere_in_it(wrap: Callable[[bytes], Any]) -> None:
    records = [(i, b"k%d" % i, b"value %d" % (i % 10), [("h", b"%d" % i)]) for i in range(100)]
    sealed = bytes(batch_of(records).data)
    for batch in read_batches(wrap(sealed + sealed)):
        for keep in (Filter(grep=["value 7"]), Filter(grep=["e [7]"]), Filter(where=[Where("value.endswith('7')")])):
            kept = keep.batch(batch, "t", 0)
            assert kept is not None
            assert [record.offset for record in kept] == list(range(7, 100, 10))
        assert Filter(keys=[b"k13"]).count(batch, "t", 0) == 1
        assert Filter(headers=[("h", b"13")]).count(batch, "t", 0) == 1
        assert Filter(grep=["k13"]).count(batch, "t", 0) == 0


def test_all_kept_is_the_batch_itself_and_none_kept_is_none() -> None:
    batch = batch_of([(0, b"k", b"v", ())] * 3)
    assert Filter(grep=["v"]).batch(batch, "t", 0) is batch
    assert Filter(grep=["nowhere"]).batch(batch, "t", 0) is None
    assert Filter(where=[Where("false")]).batch(batch, "t", 0) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_literal_is_found_exactly_in_the_fields_it_is_whole_in(seed: int) -> None:
    """What runs over from a key into a value, or out of it into a header, is no match."""
    pick = random.Random(seed)

    def text() -> bytes | None:
        return pick.choice([None, b"".join(pick.choices([b"a", b"b"], k=pick.randrange(6)))])

    records = [(0, text(), text(), [("aab", text())] * pick.randrange(2)) for _ in range(50)]
    batch = batch_of(records)
    for literal in ("a", "ab", "aab", "bb"):
        expected = [i for i, row in enumerate(records) if row[2] is not None and literal.encode() in row[2]]
        assert list(Filter(grep=[literal]).rows(batch.columns(), "t", 0)) == expected
        expected = [i for i, row in enumerate(records) if row[1] is not None and literal.encode() in row[1]]
        assert list(Filter(key_grep=[literal]).rows(batch.columns(), "t", 0)) == expected


@pytest.mark.parametrize("pattern", [r"a[\x00-\xff]{1,12}b", r"(?s)a.b", r"b+a", r"a{2,3}|b{4}", r"x?", r"[^a]a[^b]"])
@pytest.mark.parametrize("seed", range(5))
def test_a_pattern_matches_exactly_the_values_it_matches_alone(pattern: str, seed: int) -> None:
    """Many values are searched at once, and what runs over from one into the next, or into a header, is no match."""
    pick = random.Random(seed)
    many = [
        pick.choice([None, b"".join(pick.choices([b"a", b"b", b"c"], [1, 1, 4], k=pick.randrange(9)))])
        for _ in range(300)
    ]
    long = [b"c" * 70_000 + b"aab", b"c" * 70_000]
    for values in (many, many + long + many):
        batch = batch_of([(0, b"b", value, [("ab", b"a")] * pick.randrange(2)) for value in values])
        expected = [i for i, value in enumerate(values) if value is not None and re.search(pattern.encode(), value)]
        assert list(Filter(grep=[pattern]).rows(batch.columns(), "t", 0)) == expected


def test_a_long_value_is_searched_by_what_can_be_stopped() -> None:
    """Python's engine takes a minute for it."""
    batch = batch_of([(0, None, b"1" * 300_000, ())] * 2)
    begin = time.perf_counter()
    with contextlib.suppress(KcliError):  # of a second for one record
        assert not Filter(grep=[r"\d+x"]).rows(batch.columns(), "t", 0)
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize("bad", ["(", "a{2,1}", "[z-a]", "(?P<x", "*"])
def test_a_bad_pattern_is_one_sentence(bad: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"grep {bad}: ")):
        Filter(grep=[bad])


KEYS = [b'"ann"', b"ann", '"a\u00e9"'.encode(), b'"q\\"q"', None, b"7"]
PLAIN_OR_NOT = {
    "where-ann": ({"where": [Where("key == 'ann'")]}, [0, 1], [1]),
    "key-ann": ({"keys": [b"ann"]}, [0, 1], [1]),
    "key-quoted": ({"keys": [b'"ann"']}, [0], [0]),
    "where-quoted": ({"where": [Where("key == '\"ann\"'")]}, [], [0]),
    "where-quote": ({"where": [Where("key == 'q\"q'")]}, [3], []),
    "where-in-quote": ({"where": [Where("'q\"' in key")]}, [3], [3]),
    "key-é": ({"keys": ["a\u00e9".encode()]}, [2], []),
    "key-no-text": ({"keys": [b"\xff"]}, [], []),
    "grep-ann": ({"key_grep": ["^ann$"]}, [0, 1], [1]),
    "grep-quote": ({"key_grep": ['q"q']}, [3], []),
    "grep-é": ({"key_grep": ["^a\u00e9$"]}, [2], []),
    "grep-number": ({"key_grep": ["^7$"]}, [5], [5]),
    "grep-quotes": ({"key_grep": ['^"']}, [], [0, 2, 3]),
}


@pytest.mark.parametrize("case", PLAIN_OR_NOT)
def test_keys_are_meant_without_quotes_where_they_are_decoded(case: str) -> None:
    """A stored key that happens to be a JSON text keeps its quotes, also beside one that is decoded."""
    given, as_text, plain = PLAIN_OR_NOT[case]
    (batch,) = read_batches(bytes(batch_of([(n, key, b"%d" % n, []) for n, key in enumerate(KEYS)]).data))
    keep = Filter(**given, decoded=True)  # type: ignore[arg-type]

    def kept(batch: Batch) -> list[int]:
        found = keep.batch(batch, "t", 0)
        offsets = [] if found is None else [record.offset for record in found]
        assert keep.count(batch, "t", 0) == len(offsets)
        return offsets

    assert [record.offset for record in batch if keep.record(record, "t", 0)] == as_text
    assert kept(batch) == plain
    made = replaced(batch, cells(KEYS), None)
    assert kept(made) == as_text
    for left in ({0}, {1, 3}, {0, 1, 2, 3, 4, 5}):
        made.plain_keys = left
        assert kept(made) == sorted({*as_text} - left | {*plain} & left)


TEXTS = ["ann", "bo", 'an"n', "a\\nn", "\x1f", "é", "ä\u2028", "", "an\tn", "nn", '"']


@pytest.mark.parametrize("pattern", ["nn", "^ann$", "n", '"', "é", "\\\\", "^$", "a.n"])
def test_a_pattern_of_decoded_keys_sees_their_text(pattern: str) -> None:
    """Whether a text has escapes in JSON or not, and whatever is preselected by its bytes."""
    keys = [json.dumps(text, ensure_ascii=ascii).encode() for text in TEXTS for ascii in (False, True)]
    keys += [b'{"n":"ann"}', b"7", b"null"]
    (batch,) = read_batches(bytes(batch_of([(n, key, b"%d" % n, []) for n, key in enumerate(keys)]).data))
    found = Filter(key_grep=[pattern], decoded=True).batch(replaced(batch, cells(keys), None), "t", 0)
    shown = [text for text in TEXTS for _ in range(2)] + ['{"n":"ann"}', "7", "null"]
    wanted = [n for n, text in enumerate(shown) if re.search(pattern, text)]
    assert ([] if found is None else [record.offset for record in found]) == wanted


def test_a_decoded_key_that_cannot_match_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def parse(data: bytes) -> object:
        parsed.append(data)
        return json.loads(data)

    monkeypatch.setattr(decoded, "decoded_key_of", parse)
    keys = [b'"key-%d"' % n for n in range(1000)] + [b'"k\\u0065y-7"']
    (batch,) = read_batches(bytes(batch_of([(n, key, b"", []) for n, key in enumerate(keys)]).data))
    found = Filter(key_grep=["key-77"], decoded=True).batch(replaced(batch, cells(keys), None), "t", 0)
    assert found is not None
    assert [record.offset for record in found] == [77, *range(770, 780)]
    assert parsed == keys[-1:]


def with_header(number: int, length: bytes, text: bytes) -> bytes:
    """A record with the headers h=x77y and n=`text`, whose length is written as given."""
    body = b"\0\0" + encode_varint(number) + b"\x01\x02v\x04" + b"\x02h\x08x77y" + b"\x02n" + length + text
    return encode_varint(len(body)) + body


def test_a_header_is_found_behind_a_like_one_and_with_a_length_of_many_bytes() -> None:
    lengths = [b"\x04", b"\x84\x00", b"\x84\x80\x80\x80\x00", b"\x04"]
    texts = [b"77", b"77", b"77", b"78"]
    records = [with_header(number, *one) for number, one in enumerate(zip(lengths, texts, strict=True))]
    section = bytearray(RESERVED) + b"".join(records)
    (batch,) = read_batches(bytes(seal(section, len(records), 0, 0).data))
    columns = batch.columns()
    for wanted in (Filter(headers=[("n", b"77")]), Filter(where=[Where('headers.n == "77"')])):
        assert list(wanted.rows(columns, "t", 0)) == [0, 1, 2]
    assert rows_headed_with(columns, b"77") == [0, 1, 2, 3]  # of the last one it is not known here
    assert rows_headed_with(columns, b"7") == [1, 2, 3]  # a zero byte is in front of it there


def test_a_long_header_of_one_letter_costs_no_step_a_byte() -> None:
    long = b"a" * 1000
    records = [with_header(0, encode_varint(len(long)), long), with_header(1, b"\x02", b"b")]
    section = bytearray(RESERVED) + b"".join(records)
    (batch,) = read_batches(bytes(seal(section, len(records), 0, 0).data))
    assert rows_headed_with(batch.columns(), b"a") == [0, 1]  # after some places it is left to what reads the row
    assert list(Filter(headers=[("n", b"a")]).rows(batch.columns(), "t", 0)) == []
