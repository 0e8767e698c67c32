"""The time inside of a value: fields, units, texts; why there is none; what a range of times keeps and counts."""

from __future__ import annotations

import json
import time

import msgpack
import pytest

from kcli.serde.filters.within import Within
from kcli.serde.payload_time import MISSING, NO_TIME, NULL, UNREADABLE, TimeField, milliseconds

TIMES = [
    (1700000000, 1700000000000),
    (9999999999, 9999999999000),
    (1700000000123, 1700000000123),
    (1700000000123456, 1700000000123),
    (1700000000123456789, 1700000000123),
    (1700000000.123, 1700000000123),
    ("1700000000", 1700000000000),
    ("1700000000.5", 1700000000500),
    (" 1700000000123 ", 1700000000123),
    ("2023-11-14T22:13:20Z", 1700000000000),
    ("2023-11-14T22:13:20.123456789+00:00", 1700000000123),
    ("2023-11-15T00:13:20,5+02:00", 1700000000500),
    (0, None),
    (-5, None),
    (True, None),
    (None, None),
    ("", None),
    ("soon", None),
    ("12:30", None),
    ([1700000000], None),
    ({}, None),
    (10**19, None),
    (float("nan"), None),
    (float("inf"), None),
    ("9" * 400, None),
    ("²", None),
]


@pytest.mark.parametrize(("value", "expected"), TIMES, ids=repr)
def test_numbers_and_texts_as_milliseconds(value: object, expected: int | None) -> None:
    assert milliseconds(value) == expected


def test_a_text_without_zone_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-3")
    time.tzset()
    try:
        assert milliseconds("2023-11-15 01:13:20") == 1700000000000
    finally:
        monkeypatch.undo()
        time.tzset()


def test_fields_are_names_places_and_names_with_dots() -> None:
    value = json.dumps({"a": {"b": [{"t": 1700000000}]}, "x.y": 1700000001, "x": {"y": 5}}).encode()
    assert TimeField("a.b.0.t").time(value) == 1700000000000
    assert TimeField("x.y").time(value) == 1700000001000
    assert TimeField("a.b.1.t").time(value) is None
    assert TimeField("a").fields(value) == ["a.b", "x.y", "x.y"]


def test_every_format_gives_its_time_and_its_reason() -> None:
    for name, data in (
        ("json", b'{"ts":1700000000}'),
        ("msgpack", msgpack.packb({"ts": 1700000000})),
        ("url", b"ts=1700000000"),
    ):
        for field in (TimeField("ts", name), TimeField("ts"), TimeField("ts", "auto", likely="json")):
            assert field.time(data) == 1700000000000
        assert TimeField("tz").why(data) == MISSING
        assert TimeField("ts", "json" if name != "json" else "url").time(data) is None
    assert TimeField("ts", "msgpack").time(msgpack.packb({"ts": msgpack.Timestamp(1700000000, 5_000_000)})) == (
        1700000000005
    )
    assert TimeField("ts").why(b"text") == UNREADABLE
    assert TimeField("ts").why(b'{"ts":"soon"}') == NO_TIME
    assert TimeField("ts").why(None) == NULL
    assert TimeField("ts").time(None) is None


def test_a_range_keeps_its_start_and_not_its_end_and_tells_what_has_no_time() -> None:
    within = Within(TimeField("ts", "json"), 1700000001000, 1700000003000)
    values = [json.dumps({"ts": 1700000000 + n}).encode() for n in range(5)]
    values += [None, b"{}", b"no", b'{"ts":"?"}', b'{"ts":1700000001}']
    assert within.rows(range(10), values, range(100, 110), "t", 2) == [1, 2, 9]
    assert within.back == (3000, "t", 2, 109)
    assert within.said() == (
        "skipped 4 records that have no time: 1 without the field ts, 1 with something in ts that is not a time, "
        "1 not json, 1 null (the first: t[2] offset 106)"
    )
    assert Within(TimeField("ts"), None, None).said() is None
