"""Spark's own JVM connector is the oracle: the same options on the same topic of a real Apache Kafka give the same
rows, column by column, headers and nulls included; what one sink writes, the other would have written."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.pipeline import connector
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tests.kafka.cluster import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
RECORDS, PARTITIONS = 200_000, 3
START = int(time.time() * 1000) - 3_600_000  # young enough to be kept


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> SparkSession:
    assert connector.jars()
    return spark


@pytest.fixture(scope="module")
def mixed(kafka: Kafka) -> str:
    """A topic with everything that a record can be, by two producers, in every codec, with transactions."""
    topics = Topics(kafka.bootstrap, "oracle")
    topic = topics.make(PARTITIONS)
    die = random.Random(1)
    values = [die.randbytes(die.choice([0, 1, 30, 100, 300])) for _ in range(500)]
    codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
    step = RECORDS // 2 // len(codecs)
    for turn, codec in enumerate(codecs):
        rows = [
            (
                n % PARTITIONS,
                START + n,
                None if n % 3 else b"key-%d" % (n % 1000),
                values[n % 500] if n % 11 else None,
                (),
            )
            for n in range(turn * step, (turn + 1) * step)
        ]
        topics.fill(topic, rows, compression=codec)
    stranger(kafka.bootstrap, topic, values)
    return topic


def stranger(bootstrap: str, topic: str, values: Sequence[bytes]) -> None:
    """The other half, by librdkafka: headers of every kind, and transactions that are committed or not."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": "oracle", "compression.type": "lz4", "linger.ms": 20,
         "queue.buffering.max.messages": 200_000}
    )  # fmt: skip
    producer.init_transactions(30)
    kinds: list[Any] = [
        None, [("a", b"1")], [("a", None), ("a", b""), ("b", "ü".encode())], [("", b"\xff\x00")], [], None,
    ]  # fmt: skip
    each = RECORDS // 2 // 10
    for part in range(10):
        producer.begin_transaction()
        for n in range(each):
            producer.produce(
                topic, values[n % 500] if n % 13 else None, None if n % 2 else b"k%d" % n, n % PARTITIONS,
                headers=kinds[n % len(kinds)] if part < 2 else None,
            )  # fmt: skip
        if part in (3, 9):
            producer.flush(30)
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)


def frames(spark: SparkSession, bootstrap: str, topic: str, **options: str) -> list[DataFrame]:
    """[ours, theirs]."""
    given = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "includeHeaders": "true", **options}
    return [spark.read.format(form).options(**given).load() for form in ("kcli", "kafka")]


ROW = (
    "count(*) AS rows, count(key) AS keys, count(value) AS filled, count(headers) AS headed, min(offset) AS first, "
    "max(offset) AS last, sum(cast(xxhash64(key, key IS NULL, value, value IS NULL, topic, partition, offset, "
    "timestamp, timestampType, to_json(headers), headers IS NULL) AS DECIMAL(38))) AS hash"
)


def sums(frame: DataFrame) -> list[Any]:
    """A row for each partition, in which every column of every row has a say."""
    return [
        row.asDict()
        for row in frame.groupBy("partition")
        .agg(*[_expr(one) for one in ROW.split(", ", 6)])
        .orderBy("partition")
        .collect()
    ]


def _expr(text: str) -> Any:
    from pyspark.sql import functions as f

    return f.expr(text)


CASES: dict[str, dict[str, str]] = {
    "everything": {},
    "committed": {"kafka.isolation.level": "read_committed"},
    "by time": {"startingTimestamp": str(START + 20_001), "endingTimestamp": str(START + 70_003)},
    "by offsets": {"startingOffsets": "HERE", "endingOffsets": "THERE"},
    "cut in more tasks": {"minPartitions": "7"},
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_range_is_the_same_rows_as_by_the_jvm_connector(oracle, kafka: Kafka, mixed: str, case: str):
    here = json.dumps({mixed: {"0": -2, "1": 12_345, "2": 1}})
    there = json.dumps({mixed: {"0": 30_001, "1": -1, "2": 50_000}})
    options = {key: value.replace("THERE", there).replace("HERE", here) for key, value in CASES[case].items()}
    ours, theirs = frames(oracle, kafka.bootstrap, mixed, **options)
    assert ours.schema == theirs.schema
    found = sums(ours)
    assert found == sums(theirs)
    total = sum(row["rows"] for row in found)
    assert total == {"everything": RECORDS, "cut in more tasks": RECORDS, "committed": RECORDS - 20_000}.get(
        case, total
    )
    assert total > 40_000


def test_cells_are_the_same_one_by_one(oracle, kafka: Kafka, mixed: str):
    """Sums could hide something: here are rows, with all kinds of headers, as they are."""
    places = {"startingOffsets": json.dumps({mixed: {"0": 33_300, "1": 33_300, "2": 33_300}}),
              "endingOffsets": json.dumps({mixed: {"0": 34_300, "1": 34_300, "2": 34_300}})}  # fmt: skip
    ours, theirs = (
        frame.orderBy("partition", "offset").collect() for frame in frames(oracle, kafka.bootstrap, mixed, **places)
    )
    assert ours == theirs
    assert {row.timestampType for row in ours} == {0}
    assert any(row.headers and len(row.headers) == 3 for row in ours)


def test_time_of_appending_is_told_as_by_the_jvm_connector(oracle, kafka: Kafka):
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    made = NewTopic("oracle-appended", 1, config={"message.timestamp.type": "LogAppendTime"})
    admin.create_topics([made])["oracle-appended"].result(30)
    topics = Topics(kafka.bootstrap, "oracle-appended")
    topics.fill("oracle-appended", [(0, START, None, b"%d" % n, ()) for n in range(100)])
    ours, theirs = (frame.orderBy("offset").collect() for frame in frames(oracle, kafka.bootstrap, "oracle-appended"))
    assert ours == theirs
    assert {row.timestampType for row in ours} == {1}


def test_what_is_written_is_what_the_jvm_connector_would_have_written(oracle, kafka: Kafka, mixed: str):
    """Keys, values, headers, nulls, and by whose key which partition."""
    topics = Topics(kafka.bootstrap, "oracle-sink")
    places = {"startingOffsets": json.dumps({mixed: {"0": 30_000, "1": 30_000, "2": 30_000}})}
    rows = (
        frames(oracle, kafka.bootstrap, mixed, **places)[1].select("key", "value", "headers").where("key IS NOT NULL")
    )
    targets = {form: topics.make(5) for form in ("kcli", "kafka")}
    for form, target in targets.items():
        rows.write.format(form).option("kafka.bootstrap.servers", kafka.bootstrap).option("topic", target).mode(
            "append"
        ).save()
    columns = "count(*) AS rows", (
        "sum(cast(xxhash64(key, key IS NULL, value, value IS NULL, to_json(headers), headers IS NULL) AS DECIMAL(38)))"
        " AS hash"
    )  # fmt: skip
    found = [
        frames(oracle, kafka.bootstrap, target)[1]
        .groupBy("partition")
        .agg(*map(_expr, columns))
        .orderBy("partition")
        .collect()
        for target in targets.values()
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 5
