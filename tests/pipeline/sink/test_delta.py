"""Delta tables: what others read of an export, how an import reads them, and a stream's batches once each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.pipeline.jobs.test_commands import kcli as kcli
from tests.pipeline.jobs.test_commands import whole_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.pipeline.topics import Topics

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")

ROWS = [(n % 2, 1_700_000_000_000 + n * 40_000_000, b"k%d" % (n % 3), b"%d" % n, ()) for n in range(20)]


def rows_of(path: Path, *columns: str) -> list[tuple[Any, ...]]:
    table = deltalake.DeltaTable(path)
    found = table.to_pyarrow_table(columns=list(columns)).to_pylist()
    return sorted(tuple(row.values()) for row in found)


@pytest.fixture
def topic(topics):
    made = topics.make(2)
    topics.fill(made, ROWS)
    return made


def test_an_export_is_a_delta_table_for_anybody_and_comes_back(kcli, topics, topic, tmp_path):
    assert kcli("export", topic, "--file-format", "delta", "lake") == 0
    table = deltalake.DeltaTable(tmp_path / "lake")
    assert table.version() == 0
    assert rows_of(tmp_path / "lake", "partition", "offset") == [
        (n % 2, n // 2) for n in sorted(range(20), key=lambda n: (n % 2, n))
    ]
    columns = table.to_pyarrow_table()
    assert columns.schema.field("timestamp").type == pa.timestamp("us", "UTC")
    assert sorted(stamp.timestamp() * 1000 for stamp in columns["timestamp"].to_pylist()) == [row[1] for row in ROWS]
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert sum(one["num_records"] for one in actions) == 20
    assert max(one["max.offset"] for one in actions) == 9
    back = topics.make(2)
    assert kcli("import", "lake", back, "--keep-partitions", "--keep-timestamps") == 0
    assert whole_records(topics, back) == whole_records(topics, topic)


def test_sql_writes_delta_tables_too(
    kcli: Callable[..., int], topics: Topics, topic: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["sql", f"SELECT partition, offset FROM `{topic}`", "--file-format", "delta", "--out", "lake"]
    assert kcli(*line) == 0
    wanted = [(n % 2, n // 2) for n in sorted(range(20), key=lambda n: (n % 2, n))]
    assert rows_of(tmp_path / "lake", "partition", "offset") == wanted
    assert kcli(*line) == 2
    assert "--append adds to it, --overwrite replaces it" in capfd.readouterr().err
    assert kcli(*line, "--append") == 0
    assert deltalake.DeltaTable(tmp_path / "lake").version() == 1


def test_versions_folders_by_column_and_what_does_not_fit(kcli, topics, topic, tmp_path, capfd):
    line = [
        "export",
        topic,
        "--file-format",
        "delta",
        "lake",
        "--select",
        "CAST(key AS STRING) || ': a/b' AS k, offset",
    ]
    assert kcli(*line, "--partition-by", "k,date") == 0
    wanted = sorted((f"k{n % 3}: a/b", n // 2) for n in range(20))
    assert rows_of(tmp_path / "lake", "k", "offset") == wanted
    assert kcli(*line, "--partition-by", "k,date") == 2
    assert "--append adds to it, --overwrite replaces it" in capfd.readouterr().err
    assert kcli(*line, "--partition-by", "k,date", "--append") == 0
    assert rows_of(tmp_path / "lake", "k", "offset") == sorted(wanted * 2)
    assert kcli(*line, "--append") == 2
    assert "date is date there and missing here" in capfd.readouterr().err
    assert kcli(*line, "--partition-by", "date", "--append") == 2
    assert "is partitioned by k, date: partition by the same columns (--partition-by)" in capfd.readouterr().err
    back = topics.make(1)
    assert kcli("import", "lake", back, "--key-column", "k", "--value-column", "offset", "--where", "offset = 9") == 0
    assert sorted((one.key, one.value) for _, one in topics.read(back)) == sorted(
        2 * [(b"k0: a/b", b"9"), (b"k1: a/b", b"9")]
    )
    assert kcli(*line, "--partition-by", "k,date", "--overwrite", "-o", "8:") == 0
    table = deltalake.DeltaTable(tmp_path / "lake")
    assert (table.version(), rows_of(tmp_path / "lake", "offset")) == (2, [(8,), (8,), (9,), (9,)])
    table.load_as_version(0)
    assert table.to_pyarrow_table().num_rows == 20
    assert not list((tmp_path / "lake").glob(".kcli-*"))


def test_a_batch_that_is_done_again_is_in_the_table_once(kcli, topics, topic, tmp_path):
    line = [
        "export",
        topic,
        "--file-format",
        "delta",
        "lake",
        "--once",
        "--name",
        "lake",
        "--select",
        "partition, offset",
    ]
    assert kcli(*line) == 0
    topics.fill(topic, ROWS)
    assert kcli(*line) == 0
    wanted = sorted((one, offset) for one in range(2) for offset in range(20))
    assert rows_of(tmp_path / "lake", "partition", "offset") == wanted
    commits = tmp_path / "share" / "kcli" / "pipelines" / "lake" / "checkpoint" / "commits"
    last = max(int(one.name) for one in commits.glob("[0-9]*"))
    for name in (
        str(last),
        f".{last}.crc",
    ):  # as a crash leaves it after the table's commit and before the checkpoint's
        (commits / name).unlink()
    assert kcli(*line) == 0
    assert rows_of(tmp_path / "lake", "partition", "offset") == wanted
    topics.fill(topic, ROWS[:2])
    assert kcli(*line) == 0
    assert len(rows_of(tmp_path / "lake", "partition", "offset")) == 42
    history = deltalake.DeltaTable(tmp_path / "lake").history()
    assert len(history) == 3


def test_rows_that_a_constraint_refuses_end_a_stream_and_its_first_batch_runs_again(
    kcli: Callable[..., int], topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place, topic = tmp_path / "lake", topics.make(1)
    topics.fill(topic, [(0, None, None, value, ()) for value in (b"1", b"-5", b"3")])
    deltalake.write_deltalake(place, pa.table({"id": pa.array([7], pa.int64())}))
    deltalake.DeltaTable(place).alter.add_constraint({"positive": "id > 0"})
    line = ["export", topic, "lake", "--file-format", "delta", "--once", "--name", "lake", "--append", "-q"]
    line += ["--select", "CAST(CAST(value AS STRING) AS BIGINT) AS id"]
    for _ in range(2):
        assert kcli(*line) == 1
        said = capfd.readouterr().err
        assert "a row violates a constraint of the table (id > 0), such as id -5; nothing was committed" in said
    assert rows_of(place, "id") == [(7,)]
    deltalake.DeltaTable(place).alter.drop_constraint("positive")
    assert kcli(*line) == 0
    assert rows_of(place, "id") == [(-5,), (1,), (3,), (7,)]


def test_a_stream_whose_first_batch_fails_before_there_is_a_table_runs_again(
    kcli: Callable[..., int], topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    topic = topics.make(1)
    topics.values(topic, 5)
    line = ["export", topic, "lake", "--file-format", "delta", "--once", "--name", "lake", "--select", "offset", "-q"]
    with monkeypatch.context() as patch:
        patch.setattr(deltalake, "write_deltalake", full)
        assert kcli(*line) == 1
        assert kcli(*line[:5], "--select", "offset", "-q") == 1
    assert kcli(*line) == 0
    assert rows_of(tmp_path / "lake", "offset") == [(n,) for n in range(5)]


def test_without_the_package_it_says_what_to_install(kcli, topic, tmp_path, monkeypatch, capfd):
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    assert kcli("export", topic, "--file-format", "delta", "lake") == 2
    assert 'pip install "kcli-kafka[delta]"' in capfd.readouterr().err
    assert not (tmp_path / "lake").exists()


def test_a_table_that_is_more_than_its_files_is_refused(kcli, topics, tmp_path, capfd):
    log = tmp_path / "lake" / "_delta_log"
    log.mkdir(parents=True)
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
    schema = {"type": "struct", "fields": [{"name": "value", "type": "string", "nullable": True, "metadata": {}}]}
    about = {
        "id": "5a",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(schema),
        "partitionColumns": [],
        "configuration": {},
    }
    (log / "00000000000000000000.json").write_text(
        f"{json.dumps({'protocol': protocol})}\n{json.dumps({'metaData': about})}\n"
    )
    assert kcli("import", "lake", topics.make(1)) == 2
    assert "uses deletionVectors, which only Delta's own jars can read" in capfd.readouterr().err
