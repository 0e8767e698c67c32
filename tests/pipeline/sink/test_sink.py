"""Writes: every row is in the log when the write is over, where its columns say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli.pipeline.errors import told
from kcli.proto.core import partition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.topics import Topics


def write(frame, bootstrap, **options):
    writer = frame.write.format("kcli").mode("append").option("kafka.bootstrap.servers", bootstrap)
    for name, value in options.items():
        writer = writer.option(name.replace("__", "."), value)
    writer.save()


def test_keys_values_and_nulls_arrive_where_java_would_put_them(spark, topics):
    topic = topics.make(3)
    frame = spark.range(5000).selectExpr(
        "IF(id % 5 = 0, NULL, CAST(id AS STRING)) AS key",
        "IF(id % 7 = 0, NULL, CAST(concat('v', id) AS BINARY)) AS value",
    )
    write(frame, topics.bootstrap, topic=topic, kafka__compression__type="lz4")
    found = topics.read(topic)
    wanted = sorted((str(n).encode() if n % 5 else b"", b"v%d" % n if n % 7 else b"") for n in range(5000))
    assert sorted((record.key or b"", record.value or b"") for _, record in found) == wanted
    keyed = [(partition, record) for partition, record in found if record.key is not None]
    assert len(keyed) == 4000
    assert all(partition == partition_of(record.key, 3) for partition, record in keyed)
    assert sum(record.value is None for _, record in found) == 715


def test_a_write_without_a_mode_is_refused_as_the_docs_say(spark: SparkSession, topics: Topics) -> None:
    """Spark asks a Python data source for a mode that it cannot have: its own connector takes append by itself."""
    frame = spark.sql("SELECT 'x' AS value")
    writer = frame.write.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap).option("topic", "t")
    said = 'The data source "kcli" cannot be written in the "ErrorIfExists" mode.'
    with pytest.raises(Exception, match=said):
        writer.save()
    assert said in (Path(__file__).parents[3] / "docs" / "format-kafka.md").read_text()


def test_partitions_headers_and_times_of_rows_are_kept(spark, topics):
    topic = topics.make(3)
    rows = [
        ("a", "1", 2, [("h", bytearray(b"x")), ("n", None)], 1_600_000_000_001),
        ("b", "2", None, None, 1_600_000_000_002),
        ("c", "3", 0, [], 1_600_000_000_003),
    ]
    frame = spark.createDataFrame(
        rows, "key STRING, value STRING, partition INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>, ms BIGINT"
    ).selectExpr("key", "value", "partition", "headers", "timestamp_millis(ms) AS timestamp")
    write(frame.coalesce(1), topics.bootstrap, topic=topic, keepTimestamp="true")
    found = {record.key: (partition, record) for partition, record in topics.read(topic)}
    assert (found[b"a"][0], found[b"b"][0], found[b"c"][0]) == (2, partition_of(b"b", 3), 0)
    assert list(found[b"a"][1].headers) == [("h", b"x"), ("n", None)]
    assert [found[key][1].timestamp for key in (b"a", b"b", b"c")] == [1_600_000_000_001 + n for n in range(3)]
    plain = frame.drop("headers")
    other = topics.make(3)
    write(plain.coalesce(1), topics.bootstrap, topic=other, keepTimestamp="true")
    found = {record.key: (partition, record.timestamp) for partition, record in topics.read(other)}
    assert found == {
        b"a": (2, 1_600_000_000_001),
        b"b": (partition_of(b"b", 3), 1_600_000_000_002),
        b"c": (0, 1_600_000_000_003),
    }


def test_rows_say_their_topic(spark, topics):
    one, two = topics.make(1), topics.make(1)
    frame = spark.range(100).selectExpr(f"IF(id % 2 = 0, '{one}', '{two}') AS topic", "CAST(id AS STRING) AS value")
    write(frame, topics.bootstrap)
    assert sorted(int(record.value) for _, record in topics.read(one)) == list(range(0, 100, 2))
    assert sorted(int(record.value) for _, record in topics.read(two)) == list(range(1, 100, 2))


def test_a_copy_keeps_the_order_of_each_partition(spark, topics):
    source, target = topics.make(2), topics.make(2)
    for partition in (0, 1):
        topics.fill(source, [(partition, 1_000_000 + n, b"k%d" % n, b"%d" % n, ()) for n in range(3000)])
    frame = spark.read.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap).load(source)
    write(frame.drop("topic"), topics.bootstrap, topic=target, keepTimestamp="true")
    rows = topics.read(target)
    for wanted in (0, 1):
        some = [record for partition, record in rows if partition == wanted]
        assert [int(record.value) for record in some] == list(range(3000))
        assert [record.timestamp for record in some] == [1_000_000 + n for n in range(3000)]


def test_a_stream_goes_into_a_topic_and_on_after_a_restart(spark, topics, tmp_path):
    source, target = topics.make(2), topics.make(1)

    def run():
        reader = spark.readStream.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap)
        frame = reader.option("startingOffsets", "earliest").load(source).select("value")
        query = (
            frame.writeStream.format("kcli")
            .option("kafka.bootstrap.servers", topics.bootstrap)
            .option("topic", target)
            .option("checkpointLocation", str(tmp_path))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(60)

    topics.values(source, 200)
    run()
    topics.values(source, 100, partition=1, start=200)
    run()
    assert sorted(int(record.value) for _, record in topics.read(target)) == list(range(300))


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        (["1 AS price"], {"topic": "t"}, "column value is missing; columns: price"),
        (["'x' AS value"], {}, "set the option topic, or add a column topic"),
        (["1 AS value"], {"topic": "t"}, "column value must be binary or string, not int"),
        (["'x' AS value"], {"topic": "t", "keepTimestamp": "true"}, "keepTimestamp requires a column timestamp"),
        (["'x' AS value"], {"topic": "t", "kafka__transactional__id": "x"}, "option kafka.transactional.id is not"),
        (["'x' AS value"], {"topic": "t", "topik": "x"}, "unknown option topik; did you mean topic"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(spark, topics, columns, options, sentence):
    with pytest.raises(Exception) as found:
        write(spark.range(1).selectExpr(*columns), topics.bootstrap, **options)
    error = told(found.value)
    assert sentence in str(error)
    assert error.exit_code == 2


def test_rows_that_a_topic_refuses_fail_the_write_with_the_count(spark, topics):
    topic = topics.make(1)
    frame = spark.range(3).coalesce(1).selectExpr("IF(id = 1, repeat('x', 3000000), 'small') AS value")
    with pytest.raises(Exception) as found:
        write(frame, topics.bootstrap, topic=topic)
    assert f"{topic}[0]" in str(told(found.value))
    assert "of 3 rows 2 are written, 1 are not, 0 may be" in str(told(found.value))
    with pytest.raises(Exception) as found:
        write(spark.sql("SELECT 'x' AS value, 9 AS partition"), topics.bootstrap, topic=topic)
    assert "has no partition 9" in str(told(found.value))


def test_a_topic_cannot_be_overwritten(spark, topics):
    frame = spark.sql("SELECT 'x' AS value")
    with pytest.raises(Exception) as found:
        frame.write.format("kcli").mode("overwrite").option("kafka.bootstrap.servers", topics.bootstrap).save("t")
    assert "use mode append" in str(told(found.value))
