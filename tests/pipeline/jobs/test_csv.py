"""CSV as RFC 4180 has it: what is exported is read as what it was, by Python, by DuckDB, and by `pipeline import`."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kcli.pipeline.jobs.files.csv import line_end
from kcli.pipeline.jobs.files.export import Export, FileForm
from kcli.pipeline.jobs.files.importing import load
from tests.pipeline.jobs.test_commands import kcli as kcli

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
duckdb = pytest.importorskip("duckdb", reason="pip install --group dev")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

MARKS = ['"', '""', ",", "\r", "\n", "\r\n", "\\", '\\"', " ", "\t", "#", "'", "a", "é", "𝄞", "\ufeff", "\x01", "\xa0"]
ODD = [
    "", " ", '"', '""', ",", "\r", "\n", "\r\n", "\\", '\\"', '"\\', "a\n", "\na", "a\r", "\ra", "a\r\n", " a", "a ",
    "\ta\t", 'a,"b"\nc\r\n', "null", "NULL", "007", "1.0", "1e5", "true", "2026-11-30", "#x", "'a'", "\\N", "\\n",
    "x\\",     "\x00", "a\x00b", "\ufeffa", "\u2028", "=1+1",
]  # fmt: skip
TEXTS = st.none() | st.sampled_from(ODD) | st.lists(st.sampled_from(MARKS), max_size=6).map("".join)
ROWS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=300)


def ours(spark: SparkSession, folder: Path) -> list[tuple[Any, ...]]:
    """As `pipeline import` reads it."""
    frame = load(spark, "csv", [str(folder)], {}, streaming=False, texts=("key", "value"))
    return sorted(map(tuple, frame.collect()))


def pythons(folder: Path) -> list[tuple[Any, ...]]:
    """By Python's reader, which makes a null of nothing, and of an empty text too."""
    found: list[tuple[Any, ...]] = []
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file, strict=True)
            assert head == ["n", "key", "value"]
            found += [(int(n), *rest) for n, *rest in rows]
    return sorted(found)


def ducks(folder: Path) -> list[tuple[Any, ...]]:
    columns = "{'n': 'BIGINT', 'key': 'VARCHAR', 'value': 'VARCHAR'}"
    options = "header=true, quote='\"', escape='\"', delim=',', allow_quoted_nulls=false, auto_detect=false"
    found = duckdb.sql(f"SELECT * FROM read_csv('{folder}/*.csv', columns={columns}, {options}, parallel=false)")
    return sorted(found.fetchall())


@given(rows=ROWS)
@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each runs three jobs of Spark's
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_texts_are_read_as_they_were_by_everybody(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("csv") / "out"
    given = [(n, *row) for n, row in enumerate([*rows, *((one, one) for one in ODD), (None, None)])]
    frame = spark.createDataFrame(given, "n BIGINT, key STRING, value STRING").coalesce(1)
    Export(frame, FileForm(form="csv")).write(str(folder), "error")
    assert ours(spark, folder) == given
    assert pythons(folder) == [(n, key or "", value or "") for n, key, value in given]
    known = [row for row in given if not any("\x00" in (cell or "") for cell in row[1:])]
    assert [row for row in ducks(folder) if row[0] in {n for n, *_ in known}] == known


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_others_are_read_whatever_their_lines_end_with(
    spark: SparkSession, tmp_path: Path, end: str, packed: bool
) -> None:
    rows = [(n, f"k{n}", text) for n, text in enumerate(["a", 'b"', "c,", "", " d ", "x\\", "two\nlines", "e"])]
    path = tmp_path / ("in.csv.gz" if packed else "in.csv")
    file: Any
    with gzip.open(path, "wt", newline="") if packed else path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([("n", "key", "value"), *rows])
    assert line_end([path]) == end
    frame = load(spark, "csv", [str(path)], {}, streaming=False, texts=("value",))
    assert sorted(map(tuple, frame.collect())) == rows


def test_records_come_back_from_csv_as_they_were(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic, back = topics.make(1), topics.make(1)
    values = [b'a,"b"\nc\r\n', b"", None, b"007", b" x ", b"\\", *(one.encode() for one in ODD)]
    topics.fill(topic, [(0, 1_700_000_000_000 + n, b"k", value, ()) for n, value in enumerate(values)])
    assert kcli("export", topic, "out", "--file-format", "csv") == 0
    assert kcli("import", "out", back, "--keep-partitions", "--keep-timestamps") == 0
    assert [record.value for _, record in topics.read(back)] == values
    assert [record.timestamp for _, record in topics.read(back)] == [
        record.timestamp for _, record in topics.read(topic)
    ]


def test_nothing_and_an_empty_text_are_two_things_on_the_terminal(
    kcli: Kcli, topics: Topics, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make(1)
    topics.fill(topic, [(0, None, None, value, ()) for value in (b"", None, b'a"b\n', b"x")])
    assert kcli("sql", f"SELECT value FROM `{topic}` ORDER BY offset", "--format", "csv") == 0
    assert capfd.readouterr().out == 'value\n""\n\n"a""b\n"\nx\n'


LATIN = "é".encode("latin-1")


@pytest.mark.parametrize("form", ["csv", "json"])
def test_bytes_that_are_no_text_never_become_other_characters(
    kcli: Kcli, topics: Topics, spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    topic = topics.make(1)
    topics.fill(topic, [(0, None, b"k", value, ()) for value in (b"a", LATIN, b"c")])
    line = ["export", topic, "out", "--file-format", form, "--select", "offset, key, value"]
    assert kcli(*line) == 1
    assert f"{topic}[0] offset 1: bad value: not UTF-8: byte 0xe9 at 0; --on-bad null makes it null" in (
        capfd.readouterr().err
    )
    assert not (tmp_path / "out").exists()
    assert kcli(*line, "--on-bad", "null", "--overwrite") == 0
    assert (
        "1 record does not match the format of its key or value, which was replaced by null" in capfd.readouterr().err
    )
    assert cells(form, tmp_path) == ["a", None, "c"]
    assert kcli(*line, "--on-bad", "quarantine", "--overwrite") == 0
    assert cells(form, tmp_path) == ["a", "c"]
    kept = duckdb.sql(f"SELECT value, reason FROM read_parquet('{tmp_path}/out.quarantine/*.parquet')").fetchall()
    assert kept == [(LATIN, "value: not UTF-8: byte 0xe9 at 0")]
    assert kcli(*line, "--value-format", "binary", "--overwrite") == 0
    assert cells(form, tmp_path) == ["YQ==", "6Q==", "Yw=="]


def cells(form: str, tmp_path: Path) -> list[str | None]:
    read = "read_csv" if form == "csv" else "read_json"
    found = duckdb.sql(f"SELECT value FROM {read}('{tmp_path}/out/*.{form}') ORDER BY \"offset\"").fetchall()
    return [value for (value,) in found]
