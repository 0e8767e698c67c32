"""--partition-by: columns as they are, and units of an event's own time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kcli.errors import UsageError
from kcli.pipeline.jobs.files.export import partitioning_of
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.pipeline.topics import Topics


@pytest.mark.parametrize(
    ("text", "names", "made"),
    [
        (None, (), ()),
        ("a, b,", ("a", "b"), ()),
        ("day(timestamp)", ("timestamp_day",), (("timestamp_day", "to_date(timestamp)"),)),
        ("r,HOUR( value.`at` )", ("r", "at_hour"), (("at_hour", "date_format(value.`at`, 'yyyy-MM-dd-HH')"),)),
        (
            "month(timestamp_millis(value.ms))",
            ("ms_month",),
            (("ms_month", "date_format(timestamp_millis(value.ms), 'yyyy-MM')"),),
        ),
    ],
)
def test_columns_and_units(text: str | None, names: tuple[str, ...], made: tuple[tuple[str, str], ...]) -> None:
    found = partitioning_of(text)
    assert (found.names, found.made) == (names, made)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("week(timestamp)", "expected a column, or year, month, day, hour of one"),
        ("day()", "expected a column, or year, month, day, hour of one"),
        ("day(a),day(a)", "a_day is given twice"),
        ("a,a", "a is given twice"),
    ],
)
def test_what_makes_no_folders_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        partitioning_of(text)


def test_files_lie_by_the_day_of_the_events_and_not_of_the_records(
    kcli: Callable[..., int], topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One that came late lies with its own day; one without a time in the folder of null."""
    topic = topics.make(1)
    times = ["2026-11-21T23:59:59Z", "2026-11-22T00:00:00Z", "2026-11-21T10:00:00+12:00", None]
    values = [json.dumps({"n": n, "at": at}).encode() for n, at in enumerate(times)]
    topics.fill(topic, [(0, 1_790_000_000_000, None, value, ()) for value in values])
    line = ["export", topic, "out", "--value-format", "json", "--value-schema", "n BIGINT, at TIMESTAMP", "--select"]
    assert kcli(*line, "value.n", "--partition-by", "day(value.at)") == 0
    folders = {path.parent.name for path in (tmp_path / "out").rglob("*.parquet")}
    null = "at_day=__HIVE_DEFAULT_PARTITION__"
    assert folders == {"at_day=2026-11-20", "at_day=2026-11-21", "at_day=2026-11-22", null}
    assert kcli(*line, "value.n", "--partition-by", "day(value.missing)", "--append") == 2
    sql = ["sql", f"SELECT offset, timestamp FROM `{topic}`", "--file-format", "parquet", "--out", "hours"]
    capfd.readouterr()
    assert kcli(*sql, "--partition-by", "hour(timestamp)") == 0
    assert {path.parent.name for path in (tmp_path / "hours").rglob("*.parquet")} == {"timestamp_hour=2026-09-21-14"}
