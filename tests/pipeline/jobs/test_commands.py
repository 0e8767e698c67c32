"""`kcli pipeline export`, `import` and `copy` as somebody types them, on the tests' Spark and a sandbox."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from kcli.cli.main import main
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.pipeline.topics import Topics


class Borrowed:
    """A Session that is there already, and stays."""

    spark = None

    def __init__(self, settings) -> None:
        self.settings = settings
        self.log = Borrowed.folder / "spark.log"

    def start(self):
        return self.spark

    def stop(self) -> None:
        """Others need it."""

    kill = stop


@pytest.fixture
def kcli(spark, topics, tmp_path, monkeypatch):
    """Run a command line in a folder of its own; its exit code."""
    monkeypatch.setattr("kcli.pipeline.session.session.Session", Borrowed)
    monkeypatch.setattr(Borrowed, "spark", spark)
    monkeypatch.setattr(Borrowed, "folder", tmp_path, raising=False)
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return lambda *words: main(["pipeline", *words])


def rows_in(folder, *columns):
    return sorted(tuple(row.values()) for row in pq.read_table(folder, columns=list(columns)).to_pylist())


ROWS = [
    (n % 2, 1_700_000_000_000 + n, b"k%d" % n, json.dumps({"n": n, "user": {"id": n % 3}}).encode(), ())
    for n in range(100)
]


def test_every_record_is_in_the_parquet_and_goes_back_as_it_was(kcli, topics, tmp_path, capfd):
    topic, back = topics.make(2), topics.make(2)
    topics.fill(topic, ROWS)
    topics.fill(topic, [(0, 1_700_000_001_000, None, b"with", (("a", b"1"), ("a", None)))])
    assert kcli("export", topic, "--file-format", "parquet", "out", "-J") == 0
    told = json.loads(capfd.readouterr().out)
    assert told["jobs"][0]["records"] == 101
    assert told["jobs"][0]["state"] == "done"
    whole = next(row for row in told["progress"] if row["topic"] is None)
    assert (whole["read"], whole["done"], whole["span"]) == (101, 101, 101)
    assert {row["partition"] for row in told["progress"]} == {None, 0, 1}
    assert len(rows_in(tmp_path / "out", "partition", "offset")) == 101
    assert kcli("import", "out", back, "--keep-partitions", "--keep-timestamps") == 0
    assert [
        (at, one.offset, one.timestamp, one.key, one.value, list(one.headers))
        for at, one in sorted_records(topics, back)
    ] == [
        (at, one.offset, one.timestamp, one.key, one.value, list(one.headers))
        for at, one in sorted_records(topics, topic)
    ]


def sorted_records(topics, topic):
    return sorted(topics.read(topic), key=lambda one: (one[0], one[1].offset))


def whole_records(topics, topic):
    found = sorted_records(topics, topic)
    return [(at, one.offset, one.timestamp, one.key, one.value, list(one.headers)) for at, one in found]


def test_sql_chooses_rows_and_columns_and_json_has_a_schema_by_itself(kcli, topics, tmp_path):
    topic = topics.make(2)
    topics.fill(topic, ROWS)
    line = ["export", topic, "--file-format", "csv", "out", "--files", "1", "--value-format", "json"]
    assert kcli(*line, "--select", "value.user.id AS who, value.n", "--where", "value.n >= 97") == 0
    (file,) = (tmp_path / "out").glob("*.csv")
    assert sorted(file.read_text().splitlines()) == ["0,99", "1,97", "2,98", "who,n"]


def test_a_range_of_offsets_and_folders_by_column(kcli, topics, tmp_path):
    topic = topics.make(2)
    topics.fill(topic, ROWS)
    assert kcli("export", topic, "my %20 out", "-o", "40:45", "--partition-by", "date,partition") == 0
    out = tmp_path / "my %20 out"
    assert {one.name for one in (out / "date=2023-11-14").iterdir()} == {"partition=0", "partition=1"}
    assert len(rows_in(out, "offset")) == 10


def test_a_folder_that_is_not_empty_is_left_alone_or_replaced_when_the_new_one_is_whole(kcli, topics, tmp_path, capfd):
    topic = topics.make(1)
    topics.values(topic, 3)
    assert kcli("export", topic, "out") == 0
    assert kcli("export", topic, "out") == 2
    assert "--append adds to it, --overwrite replaces it" in capfd.readouterr().err
    assert kcli("export", topic, "out", "--append") == 0
    assert len(rows_in(tmp_path / "out", "offset")) == 6
    assert kcli("export", topic, "out", "--overwrite", "--select", "nothing") == 2
    assert "--select nothing" in capfd.readouterr().err
    assert len(rows_in(tmp_path / "out", "offset")) == 6
    assert kcli("export", topic, "out", "--overwrite") == 0
    assert len(rows_in(tmp_path / "out", "offset")) == 3
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert kcli("export", topic, "mine", "--overwrite") == 2
    assert "letter.txt, so it is not an export" in capfd.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["mine", "out", "state"]


@pytest.mark.parametrize(
    ("form", "select", "other", "why"),
    [
        ("parquet", "offset AS n", "offset / 2 AS n", "n is bigint there and double here"),
        ("json", "offset AS n", "CAST(offset AS STRING) AS n", "n is number there and text here"),
        ("csv", "offset AS n, topic AS t", "topic AS t, offset AS n", "the columns n, t, in this order"),
    ],
    ids=["parquet", "json", "csv"],
)
def test_an_export_adds_to_files_with_the_same_columns_only(
    kcli: Callable[..., int], topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    form: str, select: str, other: str, why: str,
) -> None:  # fmt: skip
    topic = topics.make(1)
    topics.values(topic, 3)
    line = ["export", topic, "an [out] %20", "--file-format", form, "--partition-by", "partition", "--select"]
    out = tmp_path / "an [out] %20"
    assert kcli(*line, f"{select}, partition") == 0
    before = sorted(out.rglob("*"))
    assert kcli(*line, f"{other}, partition", "--append") == 2
    assert why in capfd.readouterr().err
    assert sorted(out.rglob("*")) == before
    assert kcli(*line, f"{select}, partition", "--append") == 0
    assert len(sorted(out.rglob("part-*.*"))) == 2


def test_once_goes_on_where_the_last_run_was(kcli, topics, spark, tmp_path, capfd):
    topic = topics.make(2)
    topics.values(topic, 500)
    line = [
        "export",
        topic,
        "--file-format",
        "parquet",
        "out",
        "--once",
        "--max-per-batch",
        "200",
        "--commit-group",
        "seen",
    ]
    assert kcli(*line, "--format", "ndjson") == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert (lines[-1]["records"], lines[-1]["lag"]) == (500, 0)
    assert {one["state"] for one in lines[:-1]} == {"running", "ended"}
    assert lines[-2]["read"] == 500
    topics.values(topic, 30, partition=1)
    assert kcli(*line, "-J") == 0
    assert json.loads(capfd.readouterr().out)["jobs"][0]["records"] == 30
    assert spark.read.parquet(str(tmp_path / "out")).count() == 530
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert kcli(*line) == 2
    assert "but the folder is empty" in capfd.readouterr().err


def test_another_schema_than_the_first_runs_is_refused_before_anything_is_written(kcli, topics, spark, tmp_path, capfd):
    topic = topics.make(1)
    topics.fill(topic, [(0, None, None, b'{"id":%d,"total":%d}' % (n, n), ()) for n in range(20)])
    line = ["export", topic, "out", "--once", "--value-format", "json", "--select", "value.*"]
    assert kcli(*line) == 0
    topics.fill(topic, [(0, None, None, b'{"id":%d}' % n, ()) for n in range(5)])
    assert kcli(*line) == 0, "a field that is in no new record is no other schema"
    topics.fill(topic, [(0, None, None, b'{"id":%d,"total":0.5}' % n, ()) for n in range(1000)])
    before = sorted(one.name for one in (tmp_path / "out").iterdir())
    capfd.readouterr()
    assert kcli(*line) == 1
    err = capfd.readouterr().err
    assert f"the field total is double in the newest records of {topic}, and was bigint in the first run" in err
    assert err.count("\n") == 1
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == before
    assert kcli(*line, "--value-schema", "id BIGINT, total BIGINT") == 1, "0.5 is not BIGINT"
    assert "bad value: field total: 0.5 is not BIGINT" in capfd.readouterr().err
    given = ["--value-schema", "id BIGINT, total BIGINT", "--on-bad", "null"]
    assert kcli(*line, *given, "-J") == 0
    (job,) = json.loads(capfd.readouterr().out)["jobs"]
    assert (job["records"], job["bad"]) == (1000, 1000)
    rows = spark.read.parquet(str(tmp_path / "out"))
    assert [rows.count(), rows.where("total IS NULL").count()] == [1025, 1005]


def test_bad_records_are_an_error_or_null_and_counted_and_times_have_statistics(kcli, topics, tmp_path, capfd):
    topic = topics.make(2)
    topics.fill(topic, ROWS)
    topics.fill(topic, [(1, 5, None, b"no json", ()), (1, 6, None, b'{"n": "x"}', ()), (1, 7, None, None, ())])
    line = ["export", topic, "--value-format", "json", "--value-schema", "n BIGINT"]
    assert kcli(*line, "out") == 1
    err = capfd.readouterr().err
    assert f"{topic}[1] offset 50: bad value: not a JSON object; --on-bad null makes it null" in err
    assert not (tmp_path / "out").exists()
    where = ["--where", "offset >= 0", "--where", "value.n IS NULL"]
    assert kcli(*line, "out", "--on-bad", "null", *where, "-J") == 0
    (job,) = json.loads(capfd.readouterr().out)["jobs"]
    assert (job["records"], job["bad"]) == (3, 2)
    (file,) = [one for one in (tmp_path / "out").glob("*.parquet") if pq.read_metadata(one).num_rows]
    (column,) = [
        one for at in range(9) if (one := pq.read_metadata(file).row_group(0).column(at)).path_in_schema == "timestamp"
    ]
    assert (column.physical_type, column.statistics.has_min_max) == ("INT64", True)
    assert kcli("export", topic, "strings", "--on-bad", "null") == 2
    assert "--on-bad requires --value-format or --key-format, other than binary" in capfd.readouterr().err


def test_ctrl_c_drains_a_continuous_export_and_the_exit_code_is_0(kcli, topics, spark, tmp_path, capfd):
    topic = topics.make(1)
    topics.values(topic, 200)
    written = threading.Event()

    def interrupt():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list((tmp_path / "out").glob("*.parquet")):
            time.sleep(0.1)
        written.set()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    code = kcli("export", topic, "out", "--continuous", "--trigger", "200ms")
    thread.join()
    assert written.is_set()
    assert code == 0
    assert "finishing the current batch" in capfd.readouterr().err
    assert spark.read.parquet(str(tmp_path / "out")).count() == 200
    (folder,) = (tmp_path / "share" / "kcli" / "pipelines").iterdir()
    offsets, commits = (
        {one.name for one in (folder / "checkpoint" / name).glob("[0-9]*")} for name in ("offsets", "commits")
    )
    assert offsets == commits  # nothing is half done
    assert not (folder / "checkpoint.stop").exists()


def test_ctrl_c_cancels_a_batch_and_nothing_is_left(kcli, topics, spark, tmp_path, monkeypatch, capfd):
    topic = topics.make(1)
    topics.values(topic, 50)
    spark.udf.register("slowly", lambda n: time.sleep(0.5) or n, "bigint")

    def interrupt():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(tmp_path.glob(".out.part-*")):
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    code = kcli("export", topic, "out", "--select", "slowly(offset) AS n")
    thread.join()
    assert code == 130
    assert "cancelling" in capfd.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["state"]


def test_a_copy_keeps_partitions_timestamps_and_bytes(kcli, topics, capfd):
    source, target = topics.make(2), topics.make(2)
    topics.fill(
        source, [*ROWS, (1, 1, b"\xff\xfe", b'\xff{"n": 98}', (("h", b"\x00"),)), (1, 1, None, b'{"n": 99}', ())]
    )
    line = ["--value-format", "json", "--value-schema", "n BIGINT"]
    line += ["--where", "value.n >= 98 OR value IS NULL OR value.n IS NULL"]
    assert kcli("copy", source, topics.make(2), *line) == 1
    assert f"{source}[1] offset 50: bad value: not JSON of the schema; --on-bad null" in capfd.readouterr().err
    assert kcli("copy", source, target, *line, "--on-bad", "null", "-J") == 0
    shown = capfd.readouterr()
    assert json.loads(shown.out)["jobs"][0]["bad"] == 1
    assert "1 record does not match the format" in shown.err
    found = [(at, one.timestamp, one.key, one.value, list(one.headers)) for at, one in sorted_records(topics, target)]
    assert found == [
        (0, 1_700_000_000_098, b"k98", ROWS[98][3], []),
        (1, 1_700_000_000_099, b"k99", ROWS[99][3], []),
        (1, 1, b"\xff\xfe", b'\xff{"n": 98}', [("h", b"\x00")]),
        (1, 1, None, b'{"n": 99}', []),
    ]
    small = topics.make(1)
    assert kcli("copy", source, small) == 2
    assert (
        f"{small} has no partition 1: its partitions are 0-0; --repartition assigns new ones" in capfd.readouterr().err
    )
    assert kcli("copy", source, small, "--repartition") == 0
    assert len(topics.read(small)) == 102


def test_an_exactly_once_copy_goes_on_where_it_was_without_a_checkpoint(kcli, topics, capfd):
    source, target = topics.make(2), topics.make(2)
    topics.fill(source, ROWS)
    line = ["copy", source, target, "--exactly-once", "--name", f"to-{target}"]
    assert kcli(*line) == 0
    topics.values(source, 7)
    assert kcli(*line, "-J") == 0
    assert json.loads(capfd.readouterr().out)["jobs"][0]["records"] == 7
    assert sorted(one.value for _, one in topics.read(target)) == sorted(one.value for _, one in topics.read(source))


def test_rows_of_other_files_become_records_by_column_or_whole(kcli, topics, tmp_path, capfd):
    topic = topics.make(1)
    (tmp_path / "users.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    assert kcli("import", "users.csv", topic) == 2
    assert "no column is chosen as the value; columns: id, name" in capfd.readouterr().err
    assert kcli("import", "users.csv", topic, "--key-column", "nom", "--value", "json") == 2
    assert "--key-column nom: unknown column; the columns are id, name" in capfd.readouterr().err
    assert kcli("import", "users.csv", topic, "--key-column", "id", "--value", "json", "--where", "id > 1") == 0
    assert kcli("import", "users.csv", topic, "--value-column", "name", "--where", "id = 1") == 0
    assert kcli("import", "users.csv", f"{topic}-new", "--value-column", "name") != 0
    assert kcli("import", "users.csv", f"{topic}-new", "--value-column", "name", "--create") == 0
    assert sorted(record.value for _, record in topics.read(f"{topic}-new")) == [b"Ann", b"Bob"]
    assert [(one.key, one.value) for _, one in topics.read(topic)] == [(b"2", b'{"id":2,"name":"Bob"}'), (None, b"Ann")]


def test_new_files_are_imported_once(kcli, topics, tmp_path):
    topic, inbox = topics.make(1), tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "a.json").write_text('{"key": "a", "value": "1"}\n')
    assert kcli("import", "inbox", topic, "--file-format", "json", "--once") == 0
    (inbox / "b.json").write_text('{"key": "b", "value": "2"}\n')
    assert kcli("import", "inbox", topic, "--file-format", "json", "--once") == 0
    assert [(one.key, one.value) for _, one in topics.read(topic)] == [(b"a", b"1"), (b"b", b"2")]


def test_a_failing_task_is_one_sentence_with_the_log_and_nothing_is_left(kcli, topics, tmp_path, capfd):
    topic = topics.make(1)
    topics.values(topic, 3)
    assert kcli("export", topic, "out", "--select", "raise_error('it broke') AS e") == 1
    err = capfd.readouterr().err
    assert "it broke" in err
    assert err.count("\n") == 1
    assert str(tmp_path / "spark.log") in err
    assert "Traceback" in (tmp_path / "spark.log").read_text()
    assert sorted(os.listdir(tmp_path)) == ["spark.log", "state"]


def test_a_dry_run_shows_ranges_and_starts_nothing(kcli, topics, tmp_path, capfd, monkeypatch):
    topic = topics.make(2)
    topics.values(topic, 1000)
    monkeypatch.setattr("kcli.pipeline.session.session.Session", None)
    assert kcli("export", topic, "out", "--dry-run", "-J", "-o", "100:") == 0
    out, err = capfd.readouterr()
    rows = json.loads(out)["ranges"]
    assert [(row["partition"], row["start"], row["end"], row["records"]) for row in rows] == [
        (0, 100, 1000, 900), (1, 0, 0, 0)
    ]  # fmt: skip
    assert rows[0]["bytes"] > 900
    assert rows[1]["bytes"] == 0
    assert "at most 900 records" in err
    assert not (tmp_path / "out").exists()


def test_a_start_by_time_ends_with_a_colon_as_help_shows_it(
    topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.make(1)
    now, day = time.time_ns() // 1_000_000, 86_400_000
    times = [now - 3 * day, now - 2 * day, now - day + 60_000, now]
    topics.fill(topic, [(0, at, None, b"v", ()) for at in times])
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    # up to a time all offsets are read, as later ones may be older; the filter is the timestamp
    for places, expected in ((["@-1d:"], (2, 4)), (["@-60h:@-1d"], (1, 4)), ([f"@{times[1]}:"], (1, 4))):
        assert main(["pipeline", "export", topic, str(tmp_path / "out"), "--dry-run", "-J", "-o", *places]) == 0
        (row,) = json.loads(capfd.readouterr().out)["ranges"]
        assert (row["start"], row["end"]) == expected, places


def test_a_start_behind_the_end_of_every_partition_is_told(kcli, topics, capfd):
    topic = topics.make(2)
    topics.values(topic, 10)
    assert kcli("export", topic, "out", "--dry-run", "-o", "10:") == 0
    capfd.readouterr()
    assert kcli("export", topic, "out", "--dry-run", "-o", "11:") == 1
    assert f"-o 11: {topic}[0], the longest of its partitions, ends at 10: there is nothing" in capfd.readouterr().err


def test_ranges_are_added_up_whatever_reads_them():
    from kcli.pipeline.progress import Report, Sum

    at = TopicPartition("t", 0)
    summed = Sum({at: (0, 100), TopicPartition("t", 1): (0, 300)})
    first = Report(stage=1, topic="t", source=0, rows=40, bytes=400, start=0, offset=50, end=100)
    summed.take([first], 0.0)
    again = Report(stage=1, attempt=1, topic="t", source=0, rows=8, start=0, offset=10, end=100)
    made = summed.take(
        [again, Report(stage=1, partition=1, topic="t", source=1, rows=90, start=0, offset=100, end=300)], 2.0
    )
    assert (made.parts[at].done, made.parts[at].total) == (50, 100)
    assert (made.whole.done, made.whole.total, made.whole.rows) == (150, 400, 130)
    assert made.whole.rate == pytest.approx(45)
    assert made.whole.eta == pytest.approx(5)
    done = Report(stage=1, topic="t", source=0, rows=80, start=0, offset=90, end=100, done=True)
    assert summed.take([done], 3.0).parts[at].eta == 0.0  # what is behind the last record is done as well
