"""--on-bad quarantine: bad records are in a folder, whole, and the files have all others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kcli.pipeline.source.quarantine import Kept
from kcli.pipeline.source.ranges import Range
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

GOOD = [(n % 2, 1000 + n, b'{"k":%d}' % n, b'{"id":%d}' % n, ()) for n in range(40)]
BAD = [
    (0, 7, b'{"k":1}', b"no json", ()),
    (1, 8, None, b'{"id":"x"}', (("h", b"1"),)),
    (1, 9, b"\xff", b'{"id":5}', ()),
    (1, 10, b"[", b"\xfe\x00", ()),
]
KEPT = [
    (0, 20, 7, b'{"k":1}', b"no json", "value: not a JSON object"),
    (1, 20, 8, None, b'{"id":"x"}', 'value: field id: "x" is not BIGINT'),
    (1, 21, 9, b"\xff", b'{"id":5}', "key: not UTF-8: byte 0xff at 0"),
    (1, 22, 10, b"[", b"\xfe\x00", "key: not a JSON object; value: not UTF-8: byte 0xfe at 0"),
]
"""Partition, offset, timestamp, key, value and reason of the bad ones."""
FORMATS = ("--value-format", "json", "--value-schema", "id BIGINT", "--key-format", "json", "--key-schema", "k BIGINT")
LINE = (*FORMATS, "--on-bad", "quarantine")


@pytest.fixture
def topic(topics: Topics) -> str:
    made = topics.make(2)
    topics.fill(made, GOOD)
    topics.fill(made, BAD)
    return made


def kept(folder: Path) -> list[tuple[Any, ...]]:
    """What a folder of bad records has."""
    rows = pq.read_table(folder).to_pylist()
    return sorted(
        (row["partition"], row["offset"], round(row["timestamp"].timestamp() * 1000), row["key"], row["value"],
         row["reason"])
        for row in rows
    )  # fmt: skip


def sent(topics: Topics, bad: str, topic: str) -> list[tuple[Any, ...]]:
    """What a topic of bad records has, which are of `topic`."""
    found = []
    for _, record in topics.read(bad):
        about = {name: text.decode() for name, text in record.headers}
        assert about["kcli.topic"] == topic
        place = (int(about[f"kcli.{name}"]) for name in ("partition", "offset", "timestamp"))
        found.append((*place, record.key, record.value, about["kcli.reason"]))
    return sorted(found)


def ids(folder: Path) -> list[int]:
    return sorted(row["value"]["id"] for row in pq.read_table(folder, columns=["value"]).to_pylist())


def test_a_batch_has_the_good_records_in_its_files_and_the_bad_ones_whole_beside_them(
    kcli: Kcli, topics: Topics, topic: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["export", topic, "out", *LINE]
    assert kcli(*line, "--select", "raise_error(CAST(value.id AS STRING)) AS x") == 1
    assert not [path.name for path in tmp_path.iterdir() if "out" in path.name]
    assert kcli(*line, "-J") == 0
    shown = capfd.readouterr()
    (job,) = json.loads(shown.out)["jobs"]
    assert (job["records"], job["bad"]) == (40, 4)
    said = (
        "4 records do not match the format of their key or value, and are kept in out.quarantine (--on-bad quarantine)"
    )
    assert said in shown.err
    assert ids(tmp_path / "out") == list(range(40))
    assert kept(tmp_path / "out.quarantine") == KEPT
    assert kcli(*line) == 2
    assert kcli("export", topic, "other", *LINE, "--quarantine", "out.quarantine") == 2
    assert "out.quarantine is not empty" in capfd.readouterr().err
    assert not (tmp_path / "other").exists()
    assert kcli(*line, "--overwrite", "-p", "0") == 0
    assert kept(tmp_path / "out.quarantine") == KEPT[:1]
    assert kcli(*line, "--append", "-p", "1") == 0
    assert (ids(tmp_path / "out"), kept(tmp_path / "out.quarantine")) == (list(range(40)), KEPT)
    back = topics.make(2)
    assert kcli("import", "out.quarantine", back, "--keep-partitions") == 0
    assert sorted((one.key or b"", one.value) for _, one in topics.read(back)) == sorted(
        (row[3] or b"", row[4]) for row in KEPT
    )


def test_a_stream_keeps_each_bad_record_once_though_its_batch_is_done_again(
    kcli: Kcli, topics: Topics, topic: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["export", topic, "out", *LINE, "--once", "--name", "lake", "--max-per-batch", "15", "--quarantine", "bad"]
    assert kcli(*line, "-J") == 0
    (job,) = json.loads(capfd.readouterr().out)["jobs"]
    assert (job["records"], job["bad"]) == (40, 4)
    assert kept(tmp_path / "bad") == KEPT
    topics.fill(topic, [(0, 11, None, b"{", ())])
    assert kcli(*line) == 0
    wanted = sorted([*KEPT, (0, 21, 11, None, b"{", "value: not a JSON object")])
    commits = tmp_path / "share" / "kcli" / "pipelines" / "lake" / "checkpoint" / "commits"
    last = max(int(one.name) for one in commits.glob("[0-9]*"))
    for name in (str(last), f".{last}.crc"):  # as a crash leaves it between the files and the checkpoint
        (commits / name).unlink()
    assert kcli(*line) == 0
    assert kept(tmp_path / "bad") == wanted
    assert ids(tmp_path / "out") == list(range(40))


def test_sql_leaves_bad_records_out_and_counts_them(
    kcli: Kcli, topic: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sql = f"SELECT count(*) AS n, sum(value.id) AS total, max(key.k) AS k FROM `{topic}`"
    assert kcli("sql", sql, *LINE, "--quarantine", "bad", "--format", "ndjson") == 0
    shown = capfd.readouterr()
    assert json.loads(shown.out) == {"n": 40, "total": 780, "k": 39}
    assert "4 records do not match" in shown.err
    assert kept(tmp_path / "bad") == KEPT
    assert kcli("sql", sql, *LINE) == 2
    assert "--on-bad quarantine needs" in capfd.readouterr().err


def test_a_file_of_a_pipeline_says_it_too(kcli: Kcli, topic: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        f"source:\n  topic: {topic}\n  value-format: json\n  value-schema: id BIGINT\n  on-bad: quarantine\n"
        f"steps:\n  - sql: SELECT value FROM `{topic}`\nsink:\n  files: lake\n"
    )
    assert kcli("run", "p.yaml") == 0
    assert ids(tmp_path / "lake") == sorted([5, *range(40)])
    assert [row[:2] for row in kept(tmp_path / "lake.quarantine")] == [(0, 20), (1, 20), (1, 22)]


def test_nothing_bad_leaves_no_folder(kcli: Kcli, topics: Topics, spark: SparkSession, tmp_path: Path) -> None:
    topic = topics.make(2)
    topics.fill(topic, GOOD)
    assert kcli("export", topic, "out", *LINE) == 0
    assert not (tmp_path / "out.quarantine").exists()
    assert spark.read.parquet(str(tmp_path / "out")).count() == 40


def test_a_topic_has_the_bad_records_when_the_files_have_the_others(
    kcli: Kcli, topics: Topics, topic: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = topics.make(2)
    line = [*LINE, "--quarantine", f"topic:{bad}"]
    assert kcli("export", topic, "out", *line) == 0
    said = capfd.readouterr().err
    assert f"4 records do not match the format of their key or value, and are kept in topic:{bad}" in said
    assert ids(tmp_path / "out") == list(range(40))

    assert sent(topics, bad, topic) == KEPT
    assert kcli("export", topic, "other", *LINE, "--quarantine", f"topic:{topic}") == 2
    assert f"--quarantine topic:{topic}: that topic is the" in capfd.readouterr().err
    assert kcli("sql", f"SELECT * FROM `{topic}`", *LINE, "--quarantine", "topic:missing-one") == 1
    assert "missing-one" in capfd.readouterr().err
    assert not (tmp_path / "other").exists()


def test_bad_records_that_the_topic_refuses_end_the_job(topics: Topics, topic: str, spark: SparkSession) -> None:
    small = topics.make(1, **{"max.message.bytes": "100"})
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "onBad": "null"}
    given |= {"valueFormat": "json", "valueSchema": "id BIGINT"}
    with pytest.raises(Exception, match=r"bad records of .* are not in quarantine: .*MESSAGE_TOO_LARGE"):
        spark.read.format("kcli").options(**given, quarantine=f"topic:{small}").load().collect()
    with pytest.raises(Exception, match="that topic is the"):
        spark.read.format("kcli").options(**given, quarantine=f"topic:{topic}").load().collect()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--quarantine", "bad"), "--quarantine requires --on-bad quarantine"),
        ((*LINE, "--connector", "jvm"), "Spark's own connector keeps no bad records"),
        ((*LINE, "--remote", "sc://127.0.0.1:1"), "--on-bad quarantine requires --master"),
        ((*LINE, "--quarantine", "s3a://b/bad"), "a folder that all tasks can reach"),
        ((*LINE, "--quarantine", "out/bad"), "choose a folder outside the files in out"),
        (("--on-bad", "quarantine"), "--on-bad requires --value-format or --key-format, other than binary"),
    ],
    ids=["alone", "jvm", "connect", "elsewhere", "inside", "no-format"],
)
def test_what_cannot_be_is_refused(
    kcli: Kcli, topic: str, capfd: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    assert kcli("export", topic, "out", *more) == 2
    assert said in capfd.readouterr().err


def test_a_range_that_is_read_again_is_one_file_with_what_was_read_last(tmp_path: Path) -> None:
    one = Range("t", 3, 5, 90)
    offsets, times = pa.array([5, 6], pa.int64()), pa.array([1, 2], pa.timestamp("us", "UTC"))
    cells = pa.array([b"a", None], pa.binary())
    for reasons in ({0: "value: x", 1: "key: y"}, {1: "key: y"}):
        task = Kept(str(tmp_path / "bad"), one)
        task.add(offsets, times, cells, cells, reasons)
        task.settle()
        task.undo()
        rows = pq.read_table(tmp_path / "bad").to_pylist()
        assert [row["reason"] for row in rows] == [reasons[row] for row in sorted(reasons)]
    task = Kept(str(tmp_path / "bad"), one)
    task.add(offsets, times, cells, cells, {0: "value: z"})
    task.undo()
    (file,) = (tmp_path / "bad").iterdir()
    assert pq.read_table(file).to_pylist()[0]["offset"] == 6
    Kept(str(tmp_path / "bad"), one).settle()
    assert not list((tmp_path / "bad").iterdir()), "nothing of the range is bad now"
