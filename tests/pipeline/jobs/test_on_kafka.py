"""Every command that moves records, once from the command line on a real Apache Kafka: 80,000 records, by kcli's own
connector and, where it can, by Spark's. What comes out is read by somebody else: pyarrow, librdkafka."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, TopicPartition

from kcli.cli.main import main
from kcli.pipeline.options import COLUMNS
from tests.pipeline import connector
from tests.pipeline.jobs.test_commands import Borrowed
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from tests.kafka.cluster import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
RECORDS, PARTITIONS = 80_000, 2
START = int(time.time() * 1000) - 3_600_000  # young enough to be kept
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture(scope="module")
def topics(kafka: Kafka) -> Topics:
    return Topics(kafka.bootstrap, "commands")


@pytest.fixture(scope="module")
def orders(topics: Topics) -> str:
    """Keys, nulls, headers, times, every codec."""
    topic = topics.make(PARTITIONS)
    step = RECORDS // len(CODECS)
    for turn, codec in enumerate(CODECS):
        rows = [row(n) for n in range(turn * step, (turn + 1) * step)]
        topics.fill(topic, rows, compression=codec)
    return topic


def row(n: int) -> Any:
    value = b'{"n": %d, "user": {"id": %d}}' % (n, n % 7) if n % 101 else None
    return n % PARTITIONS, START + n, b"k%d" % (n % 1000) if n % 3 else None, value, ((("h", b"1"),) if n < 999 else ())


@pytest.fixture
def kcli(spark, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a command line in a folder of its own; its exit code."""
    monkeypatch.setattr("kcli.pipeline.session.session.Session", Borrowed)
    monkeypatch.setattr(Borrowed, "spark", spark)
    monkeypatch.setattr(Borrowed, "folder", tmp_path, raising=False)
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return lambda *words: main(["pipeline", *words])


def table_of(folder: Path) -> pa.Table:
    return pq.read_table(folder).sort_by([("partition", "ascending"), ("offset", "ascending")])


def strangers(topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    """Every committed record as librdkafka sees it, in order by partition."""
    consumer = Consumer(
        {"bootstrap.servers": topics.bootstrap, "group.id": "x", "enable.partition.eof": True,
         "enable.auto.commit": False, "isolation.level": "read_committed"}
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, one, 0) for one in range(PARTITIONS)])
    found: list[list[tuple[Any, ...]]] = [[] for _ in range(PARTITIONS)]
    over = 0
    while over < PARTITIONS:
        batch = consumer.consume(5000, 10.0)
        assert batch, "librdkafka waited in vain"
        for one in batch:
            if one.error() is not None:
                over += 1
            else:
                found[one.partition()].append((one.timestamp()[1], one.key(), one.value(), one.headers()))
    consumer.close()
    return [(number, *one) for number, part in enumerate(found) for one in part]


def jvm() -> tuple[str, ...]:
    """Skips where Spark's own connector is not there; the tests' session has its jars."""
    if not connector.jars():
        pytest.skip("no Maven that would fetch Spark's own connector")
    return "--connector", "jvm", "--conf", "spark.jars=spark-sql-kafka of the session"


def test_export_by_both_connectors_is_the_same_and_import_brings_it_back(kcli, topics, orders, tmp_path):
    assert kcli("export", orders, "--file-format", "parquet", "ours") == 0
    ours = table_of(tmp_path / "ours")
    assert ours.num_rows == RECORDS
    assert ours.column_names == [*COLUMNS, "headers"]
    assert kcli("export", orders, "--file-format", "parquet", "theirs", *jvm()) == 0
    theirs = table_of(tmp_path / "theirs")
    assert theirs.schema == ours.schema
    assert theirs.equals(ours)
    back = topics.make(PARTITIONS)
    assert kcli("import", "ours", back, "--keep-partitions", "--keep-timestamps") == 0
    assert strangers(topics, back) == strangers(topics, orders)


def test_copy_by_both_connectors_and_exactly_once(kcli, topics, orders, capfd):
    wanted = strangers(topics, orders)
    target = topics.make(PARTITIONS)
    assert kcli("copy", orders, target) == 0
    assert strangers(topics, target) == wanted
    target = topics.make(PARTITIONS)
    assert kcli("copy", orders, target, *jvm()) == 0
    assert [(one[0], *one[2:]) for one in strangers(topics, target)] == [(one[0], *one[2:]) for one in wanted]
    target = topics.make(PARTITIONS)
    line = ("copy", orders, target, "--exactly-once", "--name", f"to-{target}", "-J")
    capfd.readouterr()
    assert kcli(*line) == 0
    assert json.loads(capfd.readouterr().out)["jobs"][0]["records"] == RECORDS
    assert kcli(*line) == 0
    assert json.loads(capfd.readouterr().out)["jobs"][0]["records"] == 0
    assert strangers(topics, target) == wanted


def test_sql_prints_and_writes_and_a_file_runs(kcli, topics, orders, tmp_path, capfd):
    text = f"SELECT value.user.id AS who, count(*) AS n FROM `{orders}` GROUP BY 1 ORDER BY 1"
    assert kcli("sql", text, "--value-format", "json", "--format", "ndjson") == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    wanted = {None: sum(n % 101 == 0 for n in range(RECORDS))}
    wanted |= {who: sum(n % 7 == who and n % 101 > 0 for n in range(RECORDS)) for who in range(7)}
    assert {one["who"]: one["n"] for one in rows} == wanted
    into = topics.make(PARTITIONS)
    some = f"SELECT key, value FROM `{orders}` WHERE offset < 1000 AND value IS NOT NULL"
    assert kcli("sql", some, "--into", into) == 0
    assert kcli("sql", some, "--into", into, *jvm()) == 0
    assert len(strangers(topics, into)) == 2 * sum(n % 101 > 0 for n in range(2000))
    (tmp_path / "lake.yaml").write_text(
        f"name: lake\nmode: once\nsource:\n  topic: {orders}\nsteps:\n"
        f"  - sql: SELECT partition, offset FROM `{orders}`\nsink:\n  files: lake\n  format: parquet\n"
    )
    assert kcli("run", "lake.yaml") == 0
    found = pq.read_table(tmp_path / "lake", columns=["partition", "offset"])
    assert found.num_rows == RECORDS == len(set(zip(*found.to_pydict().values(), strict=True)))


def test_profile_counts_and_replay_sends_again(kcli, topics, orders, capfd, tmp_path):
    assert kcli("profile", orders, "-J", "--html", "page.html") == 0
    told = json.loads(capfd.readouterr().out)
    assert sum(one["records"] for one in told["partitions"]) == RECORDS
    assert (tmp_path / "page.html").read_text().count("<svg") > 2
    target = topics.make(PARTITIONS)
    window = ("--start", str(START + 1000), "--end", str(START + 21_000))
    assert kcli("replay", orders, target, "--speed", "max", *window, "-J") == 0
    assert json.loads(capfd.readouterr().out)["replays"][0]["acked"] == 20_000
    again = strangers(topics, target)
    assert sorted(again) == sorted(
        (one[0], one[1], one[2], one[3], None if not one[4] else list(one[4])) for one in map(row, range(1000, 21_000))
    )
