"""One offset grammar everywhere."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.errors import UsageError
from kcli.grammar.offsets import duration, parse_range

NOW = 1_700_000_000_000
LOCAL = int(datetime(2024, 1, 15, 10, 0).timestamp() * 1000)
UTC = 1_705_312_800_000  # 2024-01-15T10:00:00Z


@pytest.mark.parametrize(
    ("texts", "start", "stop"),
    [
        (["beginning"], ("earliest", 0), None),
        (["earliest"], ("earliest", 0), None),
        (["start"], ("earliest", 0), None),
        (["end"], ("latest", 0), None),
        (["latest"], ("latest", 0), None),
        (["stored"], ("stored", 0), None),
        (["0"], ("offset", 0), None),
        (["42"], ("offset", 42), None),
        (["-10"], ("relative", 10), None),
        (["+3"], ("from_start", 3), None),
        (["5:9"], ("offset", 5), ("offset", 9)),
        (["-10:end"], ("relative", 10), ("latest", 0)),
        (["start:7"], ("earliest", 0), ("offset", 7)),
        (["5:"], ("offset", 5), None),
        ([":end"], None, ("latest", 0)),
        ([":9"], None, ("offset", 9)),
        (["s@1000", "e@2000"], ("time", 1000), ("time", 2000)),
        (["e@2000", "s@1000"], ("time", 1000), ("time", 2000)),
        (["s@1000"], ("time", 1000), None),
        (["@1700000000"], ("time", NOW), None),
        (["@1700000000000"], ("time", NOW), None),
        (["@now"], ("time", NOW), None),
        (["@-1h"], ("time", NOW - 3_600_000), None),
        (["@-1d:"], ("time", NOW - 86_400_000), None),
        (["@2024-01-15T10:00:"], ("time", LOCAL), None),
        (["@10:"], ("time", 10_000), None),
        (["@now-1h30m"], ("time", NOW - 5_400_000), None),
        (["@-500ms:now"], ("time", NOW - 500), ("time", NOW)),
        (["@-1.5h"], ("time", NOW - 5_400_000), None),
        (["@-2d:@-1d"], ("time", NOW - 172_800_000), ("time", NOW - 86_400_000)),
        (["@2024-01-15T10:00:00Z"], ("time", UTC), None),
        (["@2024-01-15T12:00:00+02:00"], ("time", UTC), None),
        (["@2024-01-15T10:00"], ("time", LOCAL), None),
        (["@2024-01-15T10:00:2024-01-15T11:00"], ("time", LOCAL), ("time", LOCAL + 3_600_000)),
        (["@2024-01-15T10:00:00Z:2024-01-15T11:00:00Z"], ("time", UTC), ("time", UTC + 3_600_000)),
        (["@2024-01-15T10:00:00Z:end"], ("time", UTC), ("latest", 0)),
        (["@10:20"], ("time", 10_000), ("time", 20_000)),
        (["5:@now"], ("offset", 5), ("time", NOW)),
        ([], None, None),
    ],
)
def test_every_form_of_the_grammar(texts: list[str], start: object, stop: object) -> None:
    found = parse_range(texts, NOW)
    assert (found.start and (found.start.kind, found.start.value)) == start
    assert (found.stop and (found.stop.kind, found.stop.value)) == stop


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1.5",
        "--1",
        "+",
        "-",
        ":",
        "1:x",
        "@",
        "@yesterday",
        "@-1y",
        "s@",
        "e@x",
        "1:stored",
        "٣",
        "1" * 25,
    ],
)
def test_what_is_no_offset_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="-o"):
        parse_range([text], NOW)


def test_saying_the_start_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="say only once"):
        parse_range(["1", "2"], NOW)


def test_a_date_without_a_zone_is_local_midnight() -> None:
    found = parse_range(["@2024-01-15"], NOW).start
    assert found is not None
    assert time.localtime(found.value / 1000)[:5] == (2024, 1, 15, 0, 0)


@given(st.text(alphabet="0123456789-+@:TZsehmdnow. ", max_size=24))
def test_any_text_is_a_range_or_a_usage_error(text: str) -> None:
    try:
        parse_range([text], NOW)
    except UsageError:
        return


@pytest.mark.parametrize("texts", [["5:2"], ["-1:-2"], ["+3:+1"], ["@2024-01-02:@2024-01-01"], ["s@2000", "e@1000"]])
def test_a_range_that_stops_before_it_starts_is_a_usage_error(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="it stops before it starts"):
        parse_range(texts, 0)


@pytest.mark.parametrize("text", ["2:5", "5:5", "-2:-1", "1:-1", "5:end", "end:5", "5:@now"])
def test_a_range_that_may_hold_records_is_none(text: str) -> None:
    assert not parse_range([text], 10**12).backwards


@pytest.mark.parametrize(
    ("word", "found"),
    [("0.5s", 500), ("1.25h", 4_500_000), ("1h0.5m", 3_630_000), (".5s", None), ("5.s", None), ("1.2.3s", None),
     ("0.5", None), ("٣s", None)],
)  # fmt: skip
def test_durations_may_have_a_fraction(word: str, found: int | None) -> None:
    assert duration(word) == found
