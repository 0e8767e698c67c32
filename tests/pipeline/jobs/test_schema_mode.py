"""A topic whose records drift: whole numbers, then cents, then another field. What --schema-mode makes of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")

WHOLE = [b'{"id":%d,"total":%d,"user":{"id":%d}}' % (n, n, n) for n in range(20)]
CENTS = [b'{"id":%d,"total":%d.5,"user":{"id":%d}}' % (n, n, n) for n in range(20, 40)]
MORE = [b'{"id":%d,"total":%d,"note":"n","user":{"id":%d,"vip":true}}' % (n, n, n) for n in range(40, 50)]
LINE = ("--once", "--name", "lake", "--value-format", "json", "--select", "value.*", "-q")


@pytest.fixture
def fill(topics: Topics) -> Callable[[list[bytes]], str]:
    """Add values to the test's topic; its name."""
    topic = topics.make(1)

    def add(values: list[bytes]) -> str:
        topics.fill(topic, [(0, None, None, value, ()) for value in values])
        return topic

    return add


def files(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.is_file())


def kept(tmp_path: Path, word: str = "schema") -> dict[str, str]:
    return dict(json.loads((tmp_path / f"share/kcli/pipelines/lake/checkpoint.{word}.json").read_text()))


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_fail_ends_with_1_before_anything_is_written(
    kcli: Kcli, fill: Callable[[list[bytes]], str], tmp_path: Path, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    line = ["export", fill(WHOLE), "out", "--file-format", form, *LINE]
    assert kcli(*line) == 0
    fill([b'{"id":1,"total":null,"user":null,"note":null}'] * 1000)
    assert kcli(*line) == 0, "nulls are of no type"
    before = files(tmp_path / "out")
    for drift, said in ((CENTS, "the field total is double"), (MORE, "the field note is string")):
        fill(drift * 50)  # the newest records are all of one kind
        assert kcli(*line, "--schema-mode", "fail") == kcli(*line) == 1
        err = capfd.readouterr().err
        assert said in err
        assert "nothing was written; --schema-mode pinned uses the first run's schema" in err
        assert files(tmp_path / "out") == before


def test_whole_numbers_in_a_column_of_cents_are_no_other_schema(
    kcli: Kcli, fill: Callable[[list[bytes]], str], spark: SparkSession, tmp_path: Path
) -> None:
    line = ["export", fill(CENTS), "out", *LINE]
    assert kcli(*line) == 0
    fill(WHOLE)
    assert kcli(*line) == 0
    assert spark.read.parquet(str(tmp_path / "out")).agg({"total": "sum"}).collect()[0][0] == 790.0


@pytest.mark.parametrize("form", ["parquet", "delta"])
def test_pinned_reads_by_the_first_schema_and_counts_what_it_does_not_read(
    kcli: Kcli, fill: Callable[[list[bytes]], str], spark: SparkSession, tmp_path: Path,
    capfd: pytest.CaptureFixture[str], form: str,
) -> None:  # fmt: skip
    topic = fill(WHOLE)
    line = ["export", topic, "out", "--file-format", form, *LINE[:-1], "--schema-mode", "pinned"]
    assert kcli(*line) == 0
    schema = kept(tmp_path)
    fill(MORE)
    capfd.readouterr()
    assert kcli(*line) == 0
    assert (
        f"{topic}: not read, because the first run's schema does not have it (--schema-mode pinned): "
        "note (string, 10 times), user.vip (boolean, 10 times), in the 30 newest records"
    ) in capfd.readouterr().err
    fill(CENTS)
    assert kcli(*line) == 1, "0.5 is not BIGINT: a bad record, which --on-bad decides about"
    err = capfd.readouterr().err
    assert "type changed in the newest records: total (double, bigint here); --on-bad sets" in err
    assert "bad value: field total: 20.5 is not BIGINT" in err
    assert kcli(*line, "--on-bad", "null") == 0
    assert kept(tmp_path) == schema
    rows = rows_of(spark, tmp_path / "out", form)
    assert [len(rows), sum(row["total"] is None for row in rows)] == [50, 20]
    assert set(rows[0]) == {"id", "total", "user"}


def rows_of(spark: SparkSession, folder: Path, form: str) -> list[dict[str, Any]]:
    """The rows as another reader has them: plain Spark of parquet, deltalake of Delta."""
    if form == "delta":
        return list(deltalake.DeltaTable(folder).to_pyarrow_table().to_pylist())
    read = spark.read.option("mergeSchema", "true").parquet(str(folder))
    return [row.asDict(recursive=True) for row in read.collect()]


def test_evolve_adds_columns_to_a_folder_and_refuses_what_would_make_it_unreadable(
    kcli: Kcli, fill: Callable[[list[bytes]], str], spark: SparkSession, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    topic = fill(WHOLE)
    line = ["export", topic, "out", *LINE[:-1], "--schema-mode", "evolve"]
    assert kcli(*line) == 0
    fill(MORE)
    capfd.readouterr()
    assert kcli(*line) == 0
    assert f"{topic}: note (string) is added; user.vip (boolean) is added (--schema-mode evolve)" in (
        capfd.readouterr().err
    )
    rows = sorted(rows_of(spark, tmp_path / "out", "parquet"), key=lambda row: str(row["note"]))
    assert [row["note"] for row in rows] == [None] * 20 + ["n"] * 10
    assert rows[-1]["user"] == {"id": rows[-1]["id"], "vip": True}
    before, schema = files(tmp_path / "out"), kept(tmp_path)
    fill(CENTS)
    assert kcli(*line) == 1
    assert "the column total is double, but earlier runs wrote bigint" in (capfd.readouterr().err)
    assert (files(tmp_path / "out"), kept(tmp_path)) == (before, schema)
    assert kcli(*line[:-1], "pinned", "--on-bad", "null") == 0
    assert len(rows_of(spark, tmp_path / "out", "parquet")) == 50


def test_evolve_adds_columns_to_a_delta_table_and_widens_them(
    kcli: Kcli, fill: Callable[[list[bytes]], str], spark: SparkSession, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    topic = fill(WHOLE)
    line = ["export", topic, "out", "--file-format", "delta", *LINE[:-1], "--schema-mode", "evolve"]
    assert kcli(*line) == 0
    fill(MORE)
    assert kcli(*line) == 0
    fill(CENTS)
    capfd.readouterr()
    assert kcli(*line) == 0
    assert f"{topic}: total becomes double, it was bigint (--schema-mode evolve)" in capfd.readouterr().err
    fill(WHOLE)
    assert kcli(*line) == 0
    rows = rows_of(spark, tmp_path / "out", "delta")
    assert sum(row["total"] for row in rows) == 2 * 190 + sum(n + 0.5 for n in range(20, 40)) + 445
    assert [sum(row["note"] == "n" for row in rows), len(rows)] == [10, 70]
    assert sum(row["user"] == {"id": row["id"], "vip": True} for row in rows) == 10
    table = deltalake.DeltaTable(tmp_path / "out")
    types = {field.name: field.type for field in table.schema().fields}
    assert str(types["total"].type) == "double"
    table.load_as_version(0)
    assert table.to_pyarrow_table().schema.field("total").type == "int64", "what was is still there"
    fill([b'{"id":"x"}'] * 1000)
    assert kcli(*line) == 1
    assert (
        "--schema-mode evolve adds columns and widens numbers, but cannot turn bigint into string"
        in capfd.readouterr().err
    )


def test_a_mode_is_for_files_of_values_with_a_schema(
    kcli: Kcli, topics: Topics, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make(1)
    mode = ["--schema-mode", "evolve"]
    msgpack = ["--value-format", "msgpack", "--value-schema", "id BIGINT"]
    assert kcli("export", topic, "out", *msgpack, *mode) == 2
    assert "--schema-mode evolve requires --value-format json" in capfd.readouterr().err
    assert kcli("export", topic, "out", "--once", *mode) == 2
    assert "--schema-mode requires --value-format json" in capfd.readouterr().err
    sql = ["sql", f"SELECT value FROM `{topic}`", "--once", "--value-format", "json", "--into", topics.make(1)]
    assert kcli(*sql, *mode) == 2
    assert "--schema-mode requires --file-format" in capfd.readouterr().err
