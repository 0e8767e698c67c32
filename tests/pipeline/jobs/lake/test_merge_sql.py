"""`merge` of `pipeline sql` and `run`: rows of SQL replace and delete rows of a table by their key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.pipeline.jobs.lake.merging.latest import Merge, latest, marked
from tests.pipeline.jobs.lake.events import EVENTS, event, row, tombstone
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, table_of
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
EXAMPLE = Path(__file__).parents[4] / "examples" / "pipelines" / "mirror.yaml"


def test_a_file_merges_change_events_that_sql_changed(
    kcli: Kcli, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE", "lake")
    topic = topics.make(1)
    example = EXAMPLE.read_text().replace("shop.public.orders", topic)
    example = example.replace("value.*,", "value.*, upper(value.name) AS loud,")
    topics.fill(topic, [*EVENTS, event("c", None, row(4, "dan", -1.0))])
    (tmp_path / "mirror.yaml").write_text(f"{example}    delete-when: total < 0\n")
    assert kcli("run", "mirror.yaml", "-q") == 0
    topics.fill(topic, [tombstone(2), event("c", None, row(3, "cyd", 4.0)), event("u", None, row(3, "cyd", 5.0))])
    assert kcli("run", "mirror.yaml", "-q") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    wanted = [(1, "ann", 7.5, "ANN"), (3, "cyd", 5.0, "CYD")]
    assert by_pyiceberg(table, "id", "name", "total", "loud") == wanted
    assert by_duckdb(table, "SELECT id, name, total, loud FROM rows ORDER BY 1") == wanted
    assert len(table.schema().fields) == 4


def test_sums_of_a_stream_replace_those_of_the_batch_before(kcli: Kcli, topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    sql = f"SELECT value AS word, count(*) AS many FROM `{topic}` GROUP BY 1"
    line = ["sql", sql, "--file-format", "delta", "--out", "sums", "--merge", "word", "--once", "-q"]
    for words in (b"a a b", b"b c"):
        topics.fill(topic, [(0, None, None, word, ()) for word in words.split()])
        assert kcli(*line) == 0
    rows = deltalake.DeltaTable(tmp_path / "sums").to_pyarrow_table().to_pylist()
    assert sorted(tuple(one.values()) for one in rows) == [("a", 2), ("b", 2), ("c", 1)]


def test_rows_that_do_not_say_which_is_later_are_refused(spark: SparkSession) -> None:
    from kcli.pipeline.errors import told

    def rows(merge: Merge, sql: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(one) for one in latest(marked(spark.sql(sql), merge), merge).collect())

    two = "SELECT * FROM VALUES (1L, 5), (1L, 7), (2L, -1) AS t(id, n)"
    assert rows(Merge(keys=("id",), order_by="n", delete_when="n < 0"), two) == [(1, 7, False), (2, -1, True)]
    for sql, why in (
        (
            two,
            "merge by id: the key 1 has several rows in a batch, and kcli cannot tell which is the latest",
        ),
        ("SELECT CAST(NULL AS BIGINT) AS id", "SQL: the key id is null there, so it identifies no row"),
    ):
        with pytest.raises(Exception) as problem:
            rows(Merge(keys=("id",)), sql)
        assert str(told(problem.value)).startswith(why)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--merge", "id"], "--merge requires --file-format delta or iceberg"),
        (
            ["--merge", "id", "--file-format", "parquet", "--out", "o"],
            "--merge requires --file-format delta or iceberg",
        ),
        (["--order-by", "n", "--file-format", "delta", "--out", "o"], "--order-by requires --merge COLUMN"),
        (["--merge", "id", "--append", "--file-format", "delta", "--out", "o"], "--append and --merge cannot"),
    ],
    ids=["print", "parquet", "alone", "append"],
)
def test_what_sql_cannot_merge_is_refused(
    words: list[str], why: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)
    assert main(["pipeline", "sql", "SELECT 1 AS id", "-b", "localhost:1", *words]) == 2
    assert why in capfd.readouterr().err
