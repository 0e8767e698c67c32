"""`kcli pipeline sql`, `profile` and `run` from the command line to the exit code, in one Spark session for all; the
example pipelines as they stand."""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics
from kcli.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., tuple[int, str, str]]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "pipelines"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def kcli(
    spark,
    spark_log,
    topics: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Kcli:
    """Run a line; (exit code, stdout, stderr)."""

    class Shared:
        def __init__(self, settings):
            self.log = spark_log

        def start(self):
            return spark

        def stop(self):
            for view in spark.catalog.listTables():
                spark.catalog.dropTempView(f"`{view.name}`")

        kill = stop

    monkeypatch.setattr("kcli.pipeline.session.session.Session", Shared)
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(*words):
        capsys.readouterr()
        code = main(["pipeline", *words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def orders(topics: Topics, topic: str, numbers: Iterable[int]) -> None:
    rows = [
        (
            n % 2,
            1_700_000_000_000 + n * 1000,
            b"u%d" % (n % 3),
            b'{"id":%d,"user":"u%d","total":%d}' % (n, n % 3, n * 10),
            (),
        )
        for n in numbers
    ]
    topics.fill(topic, rows)


def named(topics: Topics, name: str, partitions: int = 2) -> str:
    """A topic of this name, empty: another example may have made one."""
    topics.run(lambda client: delete_topics(client.cluster, [name]))
    topics.run(lambda client: create_topics(client.cluster, [NewTopic(topic=name, partitions=partitions)]))
    return name


def lines(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_topic_is_a_table_and_conditions_of_one_reading_are_not_those_of_another(topics: Topics, kcli: Kcli) -> None:
    topic = topics.make(2)
    orders(topics, topic, range(20))
    code, out, _ = kcli(
        "sql", f"SELECT partition, count(*) AS n FROM `{topic}` GROUP BY 1 ORDER BY 1; "
        f"SELECT count(*) AS n FROM `{topic}` WHERE partition = 1; "
        f"SELECT offset FROM `{topic}` WHERE partition = 0 AND offset = 1 "
        f"UNION ALL SELECT offset FROM `{topic}` WHERE partition = 1 AND offset >= 8 ORDER BY 1",
        "--format", "ndjson",
    )  # fmt: skip
    assert code == 0
    assert lines(out) == [
        {"partition": 0, "n": 10}, {"partition": 1, "n": 10}, {"n": 10}, {"offset": 1}, {"offset": 8}, {"offset": 9},
    ]  # fmt: skip


@pytest.mark.timeout(240)
def test_bad_records_that_are_null_in_sql_are_counted(topics: Topics, kcli: Kcli) -> None:
    topic = topics.make(2)
    orders(topics, topic, range(10))
    topics.fill(topic, [(0, None, None, b"no json", ())])
    line = ["sql", f"SELECT count(value.id) AS n FROM `{topic}`", "--value-format", "json", "--format", "ndjson"]
    code, _, err = kcli(*line)
    assert (code, "bad value: not a JSON object" in err) == (1, True)
    code, out, err = kcli(*line, "--on-bad", "null")
    assert (code, json.loads(out)) == (0, {"n": 10})
    assert "1 record does not match the format of its key or value" in err
    other = topics.make(1)
    topics.fill(other, [(0, None, None, b'{"id":3}', ()), (0, None, None, b"[]", ())])
    sql = f"SELECT value.id FROM `{topic}` WHERE value.id > 7 UNION ALL SELECT value.id FROM `{other}`"
    line = ["sql", sql, "--value-format", "json", "--on-bad", "null", "--once", "-o", "beginning"]
    into = topics.make(1)
    code, out, _ = kcli(*line, "--into", into, "-J")
    assert (code, json.loads(out)["jobs"][0]["bad"]) == (0, 2)
    assert sorted(json.loads(one.value).get("id", 0) for _, one in topics.read(into)) == [0, 3, 8, 9]


def test_json_has_typed_columns_and_a_topic_beside_it_stays_text(topics: Topics, kcli: Kcli) -> None:
    topic, other = topics.make(2), topics.make(1)
    orders(topics, topic, range(6))
    topics.fill(other, [(0, None, b"u1", b"plain, text", [("h", b"x")])])
    code, out, _ = kcli(
        "sql", f"SELECT a.value.user, sum(a.value.total) AS total, first(b.value) AS note FROM `{topic}` a "
        f"LEFT JOIN `{other}` b USING (key) GROUP BY 1 ORDER BY 1", "--value-format", "json", "--format", "csv",
    )  # fmt: skip
    assert code == 0
    assert out == 'user,total,note\nu0,30,\nu1,50,"plain, text"\nu2,70,\n'
    code, out, _ = kcli("sql", f"SELECT headers[0].key AS h FROM `{other}`", "--format", "plain")
    assert (code, out) == (0, "h\n")


def test_a_table_says_what_it_left_out_and_a_definition_prints_nothing(topics: Topics, kcli: Kcli) -> None:
    topic = topics.make(1)
    topics.values(topic, 30)
    sql = f"CREATE OR REPLACE TEMP VIEW v AS SELECT value FROM `{topic}` WHERE offset < 25; SELECT value AS v FROM v"
    code, out, said = kcli("sql", sql, "--top", "2")
    assert (code, out.splitlines()) == (0, ["V", "0", "1"])
    code, out, said = kcli("sql", f"SELECT offset FROM `{topic}` CROSS JOIN range(50)")
    assert (code, len(out.splitlines())) == (0, 1001)
    assert "--top N shows more" in said


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT nothing FROM `{topic}`", "`offset`"),
        ("SELECT 1 FROM {topic}", "in backticks"),
        ("SELEC 1", "SELEC"),
        ("SELECT 1; SELECT x", "statement 2"),
        (";", "no statement"),
    ],
)
def test_sql_that_is_none_is_told_in_a_sentence(topics: Topics, kcli: Kcli, sql, said) -> None:
    topic = topics.make(1)
    code, _, err = kcli("sql", sql.format(topic=topic), "--format", "ndjson")
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


def test_rows_go_into_a_topic_as_text_or_json(topics: Topics, kcli: Kcli) -> None:
    topic, into = topics.make(2), topics.make(1)
    orders(topics, topic, range(6))
    sql = f"SELECT value.user AS key, count(*) AS n FROM `{topic}` GROUP BY 1"
    code, out, _ = kcli("sql", sql, "--value-format", "json", "--into", into, "-J")
    assert code == 0
    assert json.loads(out)["jobs"][0]["records"] == 3
    assert sorted((one.key, one.value) for _, one in topics.read(into)) == [
        (b"u0", b'{"n":2}'), (b"u1", b'{"n":2}'), (b"u2", b'{"n":2}'),
    ]  # fmt: skip
    assert kcli("sql", f"SELECT * FROM `{topic}`", "--into", topic)[0] == 2
    assert kcli("sql", f"SELECT * FROM `{topic}`", "--into", "not-there")[0] != 0


def test_files_of_sql_are_whole_or_not_there(topics: Topics, kcli: Kcli, spark, tmp_path: Path) -> None:
    topic, out = topics.make(2), tmp_path / "out"
    orders(topics, topic, range(6))
    assert kcli("sql", f"SELECT offset, value FROM `{topic}`", "--file-format", "parquet", "--out", str(out))[0] == 0
    assert spark.read.parquet(str(out)).count() == 6
    code, _, said = kcli("sql", f"SELECT * FROM `{topic}`", "--file-format", "parquet", "--out", str(out))
    assert (code, "--append adds" in said) == (2, True)
    bad = tmp_path / "bad"
    sql = f"SELECT raise_error('no') AS x FROM `{topic}`"
    assert kcli("sql", sql, "--file-format", "parquet", "--out", str(bad))[0] == 1
    assert not bad.exists()


def test_a_stream_prints_until_its_stop_file_is_there(topics: Topics, kcli: Kcli, tmp_path: Path) -> None:
    topic = topics.make(2)
    orders(topics, topic, range(4))
    metrics, stop = tmp_path / "metrics.ndjson", tmp_path / "stop"

    def end():
        until = time.monotonic() + 60
        while time.monotonic() < until and not (metrics.exists() and metrics.read_text()):
            time.sleep(0.05)
        stop.touch()

    thread = threading.Thread(target=end)
    thread.start()
    sql = f"SELECT key, count(*) AS n FROM `{topic}` GROUP BY 1"
    code, out, _ = kcli(
        "sql", sql, "--continuous", "--name", "counts", "-o", "beginning", "--format", "ndjson", "--trigger", "200ms",
        "--metrics", str(metrics), "--stop-file", str(stop),
    )  # fmt: skip
    thread.join()
    assert code == 0
    assert sorted((one["key"], one["n"]) for one in lines(out)) == [("u0", 2), ("u1", 1), ("u2", 1)]
    assert not stop.exists(), "it asked one run"
    assert sum(json.loads(line)["rows"] for line in metrics.read_text().splitlines()) == 4
    code, out, _ = kcli("checkpoint", "counts", "--format", "ndjson")
    assert [one["offset"] for one in lines(out)] == [2, 2]


def test_example_big_orders_goes_on_where_it_was(topics: Topics, kcli: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    named(topics, "orders")
    named(topics, "big-orders", 1)
    orders(topics, "orders", range(20))
    file = str(EXAMPLES / "big-orders.yaml")
    assert kcli("run", file)[0] == 0
    assert len(topics.read("big-orders")) == 10
    orders(topics, "orders", range(20, 24))
    monkeypatch.setenv("LEAST", "220")
    code, _, err = kcli("run", file)
    assert code == 0, err
    found = [json.loads(one.value) for _, one in topics.read("big-orders")]
    assert sorted(one["id"] for one in found) == [*range(10, 20), 22, 23]
    # and the same topic for another example, so that it is filled once
    named(topics, "users", 1)
    topics.fill(
        "users",
        [(0, None, b"u%d" % n, b'{"name":"u%d","country":"%s"}' % (n, b"AT" if n else b"DE"), ()) for n in range(3)],
    )
    monkeypatch.setenv("FORMAT", "ndjson")
    code, out, _ = kcli("run", str(EXAMPLES / "revenue.yaml"))
    assert (code, lines(out)[0]) == (0, {"country": "AT", "orders": 16, "revenue": 1920.0})


def test_example_lake_writes_days_and_shows_its_group(
    topics: Topics, kcli: Kcli, spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(topics, "orders")
    orders(topics, "orders", range(24))
    monkeypatch.setenv("OUT", str(tmp_path / "lake"))
    code, _, err = kcli("run", str(EXAMPLES / "lake.yaml"), "--once")
    assert code == 0, err
    read = spark.read.parquet(str(tmp_path / "lake"))
    assert read.count() == len(topics.read("orders"))
    assert {str(row["day"]) for row in read.select("day").distinct().collect()} == {"2023-11-14"}
    assert kcli("finalize", str(tmp_path / "lake"), "--dry-run")[0] == 0
    code, out, _ = kcli("checkpoint", "lake", "--format", "ndjson")
    assert (code, [one["offset"] for one in lines(out)]) == (0, [12, 12])


def test_a_profile_counts_what_is_there(topics: Topics, kcli: Kcli, tmp_path: Path) -> None:
    topic = topics.make(3)
    rows = [
        (n % 2, 1_700_000_000_000 + n * 100, b"hot" if n % 4 else b"k%d" % n, b'{"id":%d}' % n, ()) for n in range(400)
    ]
    topics.fill(topic, [*rows, (0, 1_700_000_040_000, None, None, ())])
    page = tmp_path / "p.html"
    code, out, _ = kcli("profile", topic, "--html", str(page), "-J", "--top", "2")
    assert code == 0
    found = json.loads(out)
    (summary,) = found["topic"]
    assert (summary["records"], summary["null_keys"], summary["null_values"], summary["gaps"]) == (401, 1, 1, 0)
    assert (summary["seconds"], summary["json_share"], summary["sampled"]) == (40.0, 1.0, 400)
    assert summary["skew"] == pytest.approx(201 / (401 / 3), abs=0.01)
    assert [one["records"] for one in found["partitions"]] == [201, 200, 0]
    assert found["keys"][0] == {"key": "hot", "records": 300, "share": 0.74813, "partition": None}
    assert len(found["keys"]) == 2
    assert sum(one["records"] for one in found["rate"]) == 401
    (field,) = found["fields"]
    assert (field["field"], field["types"], field["min"], field["max"]) == ("id", "integer", 0, 399)
    assert {one["part"]: one["max"] for one in found["sizes"]} == {"key": 4, "value": 10}
    assert "<svg" in page.read_text()
    empty = topics.make(1)
    code, out, _ = kcli("profile", empty, "-J")
    assert (code, json.loads(out)["topic"][0]["records"]) == (0, 0)


def test_a_range_of_time_is_exact_where_timestamps_are_out_of_order(
    topics: Topics, kcli: Kcli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a filter in Python has it: in SQL, in files and in a copy, by kcli's source and by Spark's own."""
    monkeypatch.chdir(tmp_path)
    dice = random.Random(51)
    topic, start = topics.make(2), 1_700_000_000_000
    times = [dice.randrange(100) for _ in range(200)]
    topics.fill(topic, [(n % 2, start + second * 1000, None, b"%d" % n, ()) for n, second in enumerate(times)])
    wanted = sorted(n for n, second in enumerate(times) if 20 <= second < 60)
    between = ("--start", str(start + 20_000), "--end", str(start + 60_000))
    for connector in ("kcli", "jvm"):
        by = [*between, "--connector", connector]
        code, out, err = kcli("sql", f"SELECT CAST(value AS STRING) AS n FROM `{topic}`", *by, "--format", "ndjson")
        assert (code, sorted(int(row["n"]) for row in lines(out))) == (0, wanted), err
        assert kcli("export", topic, connector, "--file-format", "json", "--value-format", "string", *by)[0] == 0
        files = tmp_path.joinpath(connector).rglob("part-*.json")
        rows = [row for file in files for row in lines(file.read_text())]
        assert sorted(int(row["value"]) for row in rows) == wanted
        into = topics.make(2)
        assert kcli("copy", topic, into, *by)[0] == 0
        code, out, _ = kcli("sql", f"SELECT CAST(value AS STRING) AS n FROM `{into}`", "--format", "ndjson")
        assert sorted(int(row["n"]) for row in lines(out)) == wanted
    code, out, _ = kcli("profile", topic, *between, "-J")
    assert sum(row["records"] for row in json.loads(out)["partitions"]) == len(wanted)
    count = ("sql", f"SELECT count(*) AS n FROM `{topic}`", "--format", "ndjson")
    code, out, _ = kcli(*count, "-o", f"0=5,1=@{start + 60_000}")
    assert json.loads(out)["n"] == 95 + sum(second >= 60 for second in times[1::2])
