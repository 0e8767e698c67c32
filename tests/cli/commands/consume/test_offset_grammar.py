"""One offset grammar everywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC as UTC_ZONE
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.errors import UsageError
from kcli.grammar.offsets import duration, parse_range, read_time

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
        (["0:50"], ("offset", 0), ("offset", 50)),
        (["0:05"], ("offset", 0), ("offset", 5)),
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
        (["@100:200"], ("time", 100_000), ("time", 200_000)),
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
        "@tomorrow",
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
    with pytest.raises(UsageError, match="the start and the stop can be given only once"):
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
    with pytest.raises(UsageError, match="the stop is before the start"):
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


def at(*moment: int) -> int:
    """A local time, in ms."""
    return int(datetime(*moment).timestamp() * 1000)  # type: ignore[arg-type]


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NOON = datetime(2024, 1, 15, 11, tzinfo=UTC_ZONE)
SPRING = datetime(2024, 3, 31, 12, tzinfo=UTC_ZONE)  # the day has 23 hours in Berlin
AUTUMN = datetime(2024, 10, 28, 0, 30, tzinfo=UTC_ZONE)  # the day before has 25


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "word", "expected"),
    [
        (NOON, "today", "2024-01-14T23:00:00"),
        (NOON, "yesterday", "2024-01-13T23:00:00"),
        (NOON, "07:30", "2024-01-15T06:30:00"),
        (NOON, "7:30:15", "2024-01-15T06:30:15"),
        (NOON, "23:00", "2024-01-15T22:00:00"),
        (NOON, "yesterday 22:00", "2024-01-14T21:00:00"),
        (SPRING, "today", "2024-03-30T23:00:00"),
        (SPRING, "yesterday", "2024-03-29T23:00:00"),
        (SPRING, "02:30", "2024-03-31T01:30:00"),  # skipped by the clocks: an hour later
        (SPRING, "07:30", "2024-03-31T05:30:00"),
        (AUTUMN, "today", "2024-10-27T23:00:00"),
        (AUTUMN, "yesterday", "2024-10-26T22:00:00"),
        (AUTUMN, "yesterday 02:30", "2024-10-27T00:30:00"),  # twice on that day: the first
    ],
)
def test_days_and_times_of_day_are_local_and_of_the_calendar(now: datetime, word: str, expected: str) -> None:
    moment = read_time(word, int(now.timestamp() * 1000))
    assert moment is not None
    assert datetime.fromtimestamp(moment / 1000, UTC_ZONE).isoformat() == f"{expected}+00:00"


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("text", "start", "stop"),
    [
        ("@yesterday:today", (2024, 1, 14), (2024, 1, 15)),
        ("@07:30:08:00", (2024, 1, 15, 7, 30), (2024, 1, 15, 8, 0)),
        ("@07:30:08", (2024, 1, 15, 7, 30, 8), None),
        ("@07:30:08:08:15", (2024, 1, 15, 7, 30, 8), (2024, 1, 15, 8, 15)),
        ("@07:30:", (2024, 1, 15, 7, 30), None),
        ("@07:30:@08:00", (2024, 1, 15, 7, 30), (2024, 1, 15, 8, 0)),
        ("@yesterday 22:00:07:30", (2024, 1, 14, 22), (2024, 1, 15, 7, 30)),
    ],
)
def test_ranges_of_times_of_day(text: str, start: tuple[int, ...], stop: tuple[int, ...] | None) -> None:
    found = parse_range([text], int(NOON.timestamp() * 1000))
    assert found.start is not None
    assert found.start.value == at(*start)
    assert (found.stop and found.stop.value) == (stop and at(*stop))


@pytest.mark.parametrize("word", ["24:00", "7:3", "07:60", "today 25:00", "tomorrow", "yesterday22:00", "7", "::"])
def test_what_is_no_time_of_day(word: str) -> None:
    assert read_time(word, NOW) in (None, 7000)


@pytest.mark.parametrize("text", ["07:30", "today", "yesterday", "yesterday 22:00"])
def test_a_time_without_its_sign_is_refused_with_the_line_that_has_it(text: str) -> None:
    with pytest.raises(UsageError, match=f"with an @: '@{text}'"):
        parse_range([text], 1_705_300_000_000)


def test_a_start_for_each_partition() -> None:
    found = parse_range(["0=5,1=-10,2=@-1h", "3=end", ":end"], NOW)
    assert found.start is None
    assert found.stop == ("latest", 0)
    assert found.starts == {0: ("offset", 5), 1: ("relative", 10), 2: ("time", NOW - 3_600_000), 3: ("latest", 0)}
    assert found.start_of(0) == ("offset", 5)
    assert found.start_of(9) is None


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["0=5,0=6"], "the start of partition 0 is given twice"),
        (["0=5", "0=6"], "the start of partition 0 is given twice"),
        (["0=5:9"], "'0=5:9': a partition can only have a start; give one stop for all with :M"),
        (["0=5,x=1"], "'x=1' is not a partition with its start; expected 0=5,1=end,2=@-1h"),
        (["0="], "'0=' is not a partition"),
        (["0=x"], "expected beginning"),
    ],
)
def test_a_start_of_a_partition_that_makes_no_sense_is_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_range(texts, NOW)
    assert sentence in str(refused.value)
