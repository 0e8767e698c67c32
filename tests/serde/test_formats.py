"""Formats of values: read for what they are, found out from their bytes, never an error but ValueError."""

from __future__ import annotations

import json

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.serde.decoded import value_of, values_as
from kcli.serde.formats import detect, read_any, read_json, read_msgpack, read_url, reader

leaf = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
leaf = leaf.filter(lambda one: one not in (float("inf"), float("-inf")))
nested = st.recursive(leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
maps = st.dictionaries(st.text(), nested, max_size=4)


@given(maps)
def test_json_and_msgpack_maps_are_detected_and_read(value: dict) -> None:
    for name, data in (("json", json.dumps(value).encode()), ("msgpack", msgpack.packb(value))):
        assert detect(data) == name
        assert read_any(data) == reader(name)(data) == value_of(data) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_with_a_value_error(data: bytes) -> None:
    for read in (read_json, read_msgpack, read_url, read_any):
        try:
            read(data)
        except ValueError:
            continue
    assert detect(data) in (None, "json", "msgpack", "url")
    for name in (None, "auto", "json", "msgpack", "url"):
        values_as(name)(data)


DETECTED = [
    (b'{"ts":1}', "json"),
    (b' \n[{"ts":1}] ', "json"),
    (b'{"ts":1', None),
    (b"ts=1700000000&user=a%20b", "url"),
    (b"ts=1\n", "url"),
    (b"x=", "url"),
    (b"=x", None),
    (b"1700000000", None),
    (b'"a=b"', None),
    (b"level=info msg=hello", None),
    (b"plain", None),
    (b"", None),
    (b"\x81\xa2ts\x01", "msgpack"),
    (b"\x81\xa2ts", None),
    (b"\x81\xa2ts\x01\x01", None),
    (b"\x93\x01\x02\x03", None),
]


@pytest.mark.parametrize(("data", "name"), DETECTED)
def test_what_a_value_is(data: bytes, name: str | None) -> None:
    assert detect(data) == name


def test_the_last_field_of_a_name_counts_in_a_query() -> None:
    assert read_url(b"a=1&b=x+y%21&a=2&c=") == {"a": "2", "b": "x y!", "c": ""}


def test_msgpack_beyond_json() -> None:
    assert read_msgpack(msgpack.packb({1: b"\xff", "t": msgpack.Timestamp(5, 500_000_000)})) == {1: b"\xff", "t": 5.5}
    with pytest.raises(ValueError):
        read_msgpack(b"\x81\x91\x01\x01")  # a list as a key
    with pytest.raises(ValueError):
        read_msgpack(b"\x91" * 100_000 + b"\x01")
    with pytest.raises(ValueError, match="deep"):
        read_json(b"[" * 100_000 + b"]" * 100_000)


def test_what_is_not_of_the_format_is_text() -> None:
    assert values_as("json")(b"a=1") == "a=1"
    assert values_as("url")(b"a=1") == values_as("auto")(b"a=1") == {"a": "1"}
    assert values_as("msgpack")(b'{"a":1}') == '{"a":1}'
    assert values_as("auto")(b"42") == values_as(None)(b"42") == 42
    assert values_as(None)(b"a=1") == "a=1"
    assert values_as("auto")(None) is None
    with pytest.raises(ValueError, match="known: json, msgpack, url"):
        values_as("avro")
