"""Iceberg tables of an export: what others read, adding and replacing, following a topic, each batch once."""

from __future__ import annotations

import json
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

from kcli.pipeline.jobs.lake.table import COMMIT, Commit
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, strays, table_of
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

ROWS = [
    (n % 2, 1_700_000_000_000 + n * 40_000_000, b"k%d" % (n % 3), b'{"id":%d}' % n, (("h", b"x"),)) for n in range(20)
]
INTO = ("--file-format", "iceberg", "--warehouse", "lake")


def filled(topics: Topics) -> str:
    topic = topics.make(2)
    topics.fill(topic, ROWS)
    return topic


def test_an_export_is_a_table_for_anybody(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = filled(topics)
    assert kcli("export", topic, "raw.orders", *INTO, "-J") == 0
    outcome = json.loads(capfd.readouterr().out)["jobs"][0]
    table = table_of(tmp_path / "lake", "raw.orders")
    wanted = sorted((n % 2, n // 2) for n in range(20))
    assert by_pyiceberg(table, "partition", "offset") == wanted
    assert by_duckdb(table, 'SELECT partition, "offset" FROM rows ORDER BY ALL') == wanted
    stamps = by_duckdb(table, "SELECT epoch_ms(timestamp) FROM rows ORDER BY 1")
    assert [stamp for (stamp,) in stamps] == [row[1] for row in ROWS]
    assert by_duckdb(table, "SELECT DISTINCT headers[1].key, headers[1].value FROM rows") == [("h", b"x")]
    assert outcome["records"] == 20
    assert outcome["bytes"] == sum(task.file.file_size_in_bytes for task in table.scan().plan_files())
    files = table.inspect.files().to_pylist()
    assert sum(one["record_count"] for one in files) == 20
    metrics = [one["readable_metrics"] for one in files]
    assert max(one["offset"]["upper_bound"] for one in metrics) == 9
    assert min(one["timestamp"]["lower_bound"].timestamp() for one in metrics) == 1_700_000_000
    assert not strays(tmp_path / "lake", table)


def test_a_table_that_is_there_is_added_to_or_replaced_in_one_commit(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = filled(topics)
    line = ["export", topic, "raw.orders", *INTO, "--select", "partition, offset"]
    assert kcli(*line) == 0
    assert kcli(*line) == 2
    assert "the table raw.orders exists: --append adds to it, --overwrite replaces it" in capfd.readouterr().err
    assert kcli(*line, "--append") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert len(by_pyiceberg(table, "offset")) == 40
    assert kcli(*line[:-1], "partition, CAST(offset AS STRING) AS offset", "--append") == 2
    assert "raw.orders has other columns: offset is bigint there and string here" in capfd.readouterr().err
    assert kcli(*line, "--overwrite", "-o", "8:") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert by_pyiceberg(table, "partition", "offset") == [(0, 8), (0, 9), (1, 8), (1, 9)]
    snapshot = table.history()[1].snapshot_id
    assert table.scan(snapshot_id=snapshot).to_arrow().num_rows == 40, "what was is still there"
    assert kcli("export", topic, "orders", *INTO) == 2
    assert "must be NAMESPACE.TABLE" in capfd.readouterr().err
    assert kcli("export", topic, "raw.orders", "--file-format", "iceberg") == 2
    assert "; give the place of the table with --warehouse DIR or --catalog URL|NAME" in capfd.readouterr().err


def test_a_stream_adds_what_came_and_a_batch_done_again_is_there_once(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = filled(topics)
    line = ["export", topic, "raw.orders", *INTO, "--once", "--name", "lake", "--select", "partition, offset"]
    assert kcli(*line) == 0
    topics.fill(topic, ROWS)
    assert kcli(*line) == 0
    wanted = sorted((one, offset) for one in range(2) for offset in range(20))
    assert by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "partition", "offset") == wanted
    commits = tmp_path / "share" / "kcli" / "pipelines" / "lake" / "checkpoint" / "commits"
    last = max(int(one.name) for one in commits.glob("[0-9]*"))
    for name in (str(last), f".{last}.crc"):  # as a crash leaves it after the table's commit
        (commits / name).unlink()
    assert kcli(*line) == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert by_pyiceberg(table, "partition", "offset") == wanted
    assert len(table.history()) == 2
    (summary,) = [one.summary for one in table.snapshots()[-1:]]
    assert summary is not None
    commit = Commit.of(summary.additional_properties[COMMIT])
    assert commit is not None
    assert [commit.epoch, sorted(commit.end.values()), sorted(commit.start.values())] == [1, [20, 20], [10, 10]]
    other = ["other" if word == "lake" and before == "--name" else word for before, word in pairwise(["", *line])]
    assert kcli(*other) == 2
    assert "exists, but" in capfd.readouterr().err
    assert kcli(*other, "--append") == 0
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "offset")) == 80
    assert kcli(*other) == 0
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "offset")) == 80
    assert not strays(tmp_path / "lake", table_of(tmp_path / "lake", "raw.orders"))


def test_partitions_are_hidden_where_a_column_has_the_time(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = filled(topics)
    line = ["export", topic, "raw.orders", *INTO, "--select", "CAST(key AS STRING) AS k, offset, timestamp"]
    assert kcli(*line, "--partition-by", "day(timestamp), k") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert [(field.name, str(field.transform)) for field in table.spec().fields] == [
        ("timestamp_day", "day"), ("k", "identity"),
    ]  # fmt: skip
    assert table.schema().column_names == ["k", "offset", "timestamp"]
    days = by_duckdb(table, "SELECT DISTINCT CAST(timestamp AS DATE) FROM rows ORDER BY 1")
    assert days[0] == (date(2023, 11, 14),)
    found = list(table.scan(row_filter="timestamp < '2023-11-15T00:00:00+00:00'").plan_files())
    assert {task.file.partition[0] for task in found} == {(date(2023, 11, 14) - date(1970, 1, 1)).days}
    assert kcli(*line, "--append") == 0, "the table knows its partition"
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "k")) == 40
    assert kcli(*line, "--append", "--partition-by", "k") == 2
    assert (
        "partitioned by day(timestamp), k: partition by the same columns, or omit the partitioning (--partition-by)"
        in capfd.readouterr().err
    )


def test_sql_writes_tables_too_and_follows(kcli: Kcli, topics: Topics, tmp_path: Path) -> None:
    topic = filled(topics)
    line = ["sql", f"SELECT partition, offset FROM `{topic}`", *INTO, "--out", "raw.orders", "--once", "--name", "s"]
    assert kcli(*line) == 0
    topics.fill(topic, ROWS)
    assert kcli(*line) == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert len(by_pyiceberg(table, "partition", "offset")) == len(set(by_pyiceberg(table, "partition", "offset"))) == 40


def test_a_file_for_run_has_a_table_for_a_sink(kcli: Kcli, topics: Topics, tmp_path: Path) -> None:
    topic = filled(topics)
    (tmp_path / "orders.yaml").write_text(
        f"name: orders\nmode: once\nsource:\n  topic: {topic}\n"
        f"steps:\n  - sql: SELECT partition, offset, timestamp FROM `{topic}`\n"
        "sink:\n  table: raw.orders\n  warehouse: lake\n  partition-by: day(timestamp)\n  file-size: 1MiB\n"
    )
    assert kcli("run", "orders.yaml") == 0
    topics.fill(topic, ROWS)
    assert kcli("run", "orders.yaml") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    wanted = sorted((one, offset) for one in range(2) for offset in range(20))
    assert by_pyiceberg(table, "partition", "offset") == wanted
    assert [str(field.transform) for field in table.spec().fields] == ["day"]


def test_without_pyiceberg_it_says_what_to_install(
    kcli: Kcli, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyiceberg", None)
    assert kcli("export", topics.make(1), "raw.orders", *INTO) == 2
    assert 'pip install "kcli-kafka[iceberg]"' in capfd.readouterr().err
    assert not (tmp_path / "lake").exists()
