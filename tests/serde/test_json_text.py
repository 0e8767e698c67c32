"""Keys and values as JSON texts."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kcli.serde.json_text import any_json, json_or_map, msgpack_json, url_json, written_json

TEXT = some.text(some.characters(exclude_categories=["Cs"]))
PLAIN = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**63), 2**64 - 1) | TEXT,
    lambda inner: some.lists(inner) | some.dictionaries(TEXT, inner),
)


@pytest.mark.slow
@given(PLAIN)
def test_msgpack_is_the_same_value_in_json(value: Any) -> None:
    text = msgpack_json(msgpack.packb(value))
    assert text is not None
    assert "\n" not in text
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("packed", "text"),
    [
        (msgpack.packb({1: b"\xff", "t": b"text"}), '{"1": {"base64": "/w=="}, "t": "text"}'),
        (msgpack.packb(msgpack.Timestamp(5, 500_000_000)), "5.5"),
        (msgpack.packb(msgpack.ExtType(5, b"x")), '{"extension": 5, "base64": "eA=="}'),
        (msgpack.packb(float("nan")), '"nan"'),
        (b"\xa1\xff", '{"base64": "/w=="}'),
        (b"\xc1", None),
        (b"\x01\x01", None),
    ],
)
def test_what_json_has_no_word_for(packed: bytes, text: str | None) -> None:
    assert msgpack_json(packed) == text


@given(some.binary())
def test_any_bytes_are_one_line_of_json_that_gives_them_back(data: bytes) -> None:
    text = any_json(data)
    assert "\n" not in text
    found = json.loads(text)
    if isinstance(found, str) and json_or_map(data) is None:
        assert found.encode() == data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"a":1.10, "big": 123456789012345678901}', '{"a":1.10, "big": 123456789012345678901}'),
        (b'{\n"a" : "x\\ny",\r\n"a":[1 ,2]}', '{"a": "x\\ny", "a": [1, 2]}'),
        (b" 1e400 ", "1e400"),
        (b"NaN", None),
        (b'"\xff"', None),
        (b"", None),
    ],
)
def test_json_stays_as_it_is_written(data: bytes, text: str | None) -> None:
    assert written_json(data) == text


def test_fields_of_a_query() -> None:
    assert url_json(b"a=1&b=x%20y") == '{"a": "1", "b": "x y"}'
    assert url_json(b"text") is None
