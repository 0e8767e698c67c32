"""Batch reads: what Spark gets is what is in the log, and the end is exact whatever stands before it."""

from __future__ import annotations

import json

import pytest

from kcli.asking.ask import ask_leader
from kcli.model import TopicPartition
from kcli.pipeline.errors import told
from kcli.proto.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from tests.pipeline.topics import Topics


def read(spark, bootstrap, topic, **options):
    reader = spark.read.format("kcli").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    for name, value in options.items():
        reader = reader.option(name.replace("__", "."), value)
    return reader.load()


def offsets(topic, **places):
    return json.dumps({topic: {name.strip("p"): offset for name, offset in places.items()}})


def fails(frame):
    """The sentence a query ends with, and its exit code."""
    with pytest.raises(Exception) as found:
        frame().collect()
    error = told(found.value)
    return str(error), error.exit_code


def test_a_topic_is_found_unregistered_with_the_columns_of_sparks_own_source(spark, topics):
    topic = topics.make(2)
    topics.fill(
        topic,
        [
            (0, 1_700_000_000_123, b"k", b"v", [("a", b"1"), ("a", None), ("ü", b"")]),
            (0, 1_700_000_000_124, None, b"", ()),
            (1, 1_700_000_000_125, b"", None, ()),
        ],
    )
    frame = read(spark, topics.bootstrap, topic, includeHeaders="true")
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
        "timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    rows = frame.selectExpr("*", "unix_millis(timestamp) AS ms").orderBy("partition", "offset").collect()
    assert [(r.key, r.value, r.topic, r.partition, r.offset, r.ms, r.timestampType) for r in rows] == [
        (b"k", b"v", topic, 0, 0, 1_700_000_000_123, 0),
        (None, b"", topic, 0, 1, 1_700_000_000_124, 0),
        (b"", None, topic, 1, 0, 1_700_000_000_125, 0),
    ]
    assert [None if r.headers is None else [tuple(h) for h in r.headers] for r in rows] == [
        [("a", b"1"), ("a", None), ("ü", b"")],
        None,
        None,
    ]


def test_a_topic_is_a_view_in_sql(spark, topics):
    topic = topics.make(2)
    topics.values(topic, 100)
    topics.values(topic, 50, partition=1)
    spark.sql(
        f"CREATE OR REPLACE TEMP VIEW numbers USING kcli OPTIONS (`kafka.bootstrap.servers` '{topics.bootstrap}', "
        f"subscribe '{topic}', valueFormat 'string')"
    )
    found = spark.sql("SELECT partition, count(*) n, max(CAST(value AS INT)) m FROM numbers GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in found.collect()] == [(0, 100, 99), (1, 50, 49)]


def test_a_range_of_offsets_is_read_exactly_and_cut_into_tasks(spark, topics):
    topic = topics.make(2)
    topics.values(topic, 1000)
    topics.values(topic, 1000, partition=1)
    frame = read(
        spark, topics.bootstrap, topic, columns="partition,offset", maxRecordsPerPartition="70",
        startingOffsets=offsets(topic, p0=100, p1=-2), endingOffsets=offsets(topic, p0=350, p1=-1),
    )  # fmt: skip
    assert frame.columns == ["partition", "offset"]
    assert frame.rdd.getNumPartitions() == 4 + 15
    rows = sorted(tuple(row) for row in frame.collect())
    assert rows == [(0, n) for n in range(100, 350)] + [(1, n) for n in range(1000)]


def test_assign_and_patterns_choose_what_is_read(spark, topics):
    one, two = topics.make(2), topics.make(1)
    topics.values(one, 5)
    topics.values(one, 7, partition=1)
    topics.values(two, 3)
    reader = spark.read.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap)
    assert reader.option("assign", json.dumps({one: [1]})).load().count() == 7
    reader = spark.read.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap)
    assert reader.option("subscribePattern", f"{one[:-2]}-[0-9]").load().count() == 15


def test_times_say_where_to_begin_and_end(spark, topics):
    topic = topics.make(1)
    topics.fill(topic, [(0, 1_000_000 + n, None, b"%d" % n, ()) for n in range(100)])
    frame = read(spark, topics.bootstrap, topic, startingTimestamp="1000020", endingTimestamp="1000030")
    assert sorted(row.offset for row in frame.collect()) == list(range(20, 30))
    sentence, code = fails(lambda: read(spark, topics.bootstrap, topic, startingTimestamp="2000000"))
    assert "has no record at or after 2000000" in sentence
    assert code == 2


def test_compacted_and_emptied_logs_end_where_their_offsets_end(spark, sandbox, request):
    """Holes, batches without records, markers behind the last record: the position decides, never a count."""
    topics = Topics(sandbox.bootstrap, request.node.name)
    topic = topics.make(1)
    for start in range(0, 100, 10):
        topics.values(topic, 10, start=start)
    sandbox.faults.logs.compact(topic, 0, lambda offset: offset % 3 == 0)
    sandbox.faults.logs.empty_batch(topic, 0, 5)
    sandbox.faults.logs.end_with_marker(topic, 0)
    frame = read(spark, topics.bootstrap, topic, valueFormat="string", kafka__isolation__level="read_committed")
    assert [row.value for row in frame.orderBy("offset").collect()] == [str(n) for n in range(0, 100, 3)]
    part = read(
        spark, topics.bootstrap, topic, startingOffsets=offsets(topic, p0=97), endingOffsets=offsets(topic, p0=104)
    )
    assert [row.offset for row in part.collect()] == [99]


def test_read_committed_leaves_out_what_was_aborted(spark, topics):
    topic = topics.make(1)
    topics.values(topic, 3)

    async def transactions(client):
        from kcli.settings import ProducerSettings

        async with client.producer(ProducerSettings(transactional_id=f"{topic}-t")) as producer:
            for commit in (True, False, True):
                await producer.begin()
                await producer.send_records(topic, [(0, None, None, b"yes" if commit else b"no", ())] * 4)
                await producer.flush()  # what is aborted before it was sent is never there
                await (producer.commit() if commit else producer.abort())

    topics.run(transactions)
    committed = read(spark, topics.bootstrap, topic, valueFormat="string", kafka__isolation__level="read_committed")
    assert [row.value for row in committed.orderBy("offset").collect()] == ["0", "1", "2", *["yes"] * 8]
    assert read(spark, topics.bootstrap, topic).count() == 15


def delete_before(topics, topic, offset, partition=0):
    request = DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name=topic, partitions=[DeleteRecordsPartition(partition_index=partition, offset=offset)]
            )
        ],
        timeout_ms=5000,
    )
    topics.run(lambda client: ask_leader(client.cluster, TopicPartition(topic, partition), request))


def test_data_loss_is_records_below_the_start_of_the_log_and_nothing_else(spark, topics):
    topic = topics.make(1)
    topics.values(topic, 100)
    delete_before(topics, topic, 40)
    wanted = {"startingOffsets": offsets(topic, p0=30), "endingOffsets": offsets(topic, p0=60)}
    sentence, code = fails(lambda: read(spark, topics.bootstrap, topic, **wanted))
    assert sentence == (
        f"{topic}[0]: offsets 30 to 40 no longer exist; the log starts at 40; failOnDataLoss=false continues from there"
    )
    assert code == 1
    left = read(spark, topics.bootstrap, topic, failOnDataLoss="false", **wanted)
    assert sorted(row.offset for row in left.collect()) == list(range(40, 60))
    gone = {"startingOffsets": offsets(topic, p0=10), "endingOffsets": offsets(topic, p0=20)}
    assert read(spark, topics.bootstrap, topic, failOnDataLoss="false", **gone).count() == 0


def test_a_start_behind_the_end_of_the_log_is_an_error_unless_loss_is_allowed(spark, topics):
    topic = topics.make(2)
    topics.values(topic, 5)
    wanted = {"startingOffsets": offsets(topic, p0=9, p1=0)}
    sentence, code = fails(lambda: read(spark, topics.bootstrap, topic, **wanted))
    assert f"{topic}[0] ends at 5, before offset 9; failOnDataLoss=false reads nothing there" in sentence
    assert code == 1
    assert read(spark, topics.bootstrap, topic, failOnDataLoss="false", **wanted).count() == 0
    assert read(spark, topics.bootstrap, topic, startingOffsets=offsets(topic, p0=5, p1=0)).count() == 0


def test_a_log_that_ends_before_the_range_is_no_data_loss_but_another_log(spark, sandbox, request):
    topics = Topics(sandbox.bootstrap, request.node.name)
    topic = topics.make(1)
    topics.values(topic, 100)
    frame = read(
        spark, topics.bootstrap, topic, failOnDataLoss="false",
        startingOffsets=offsets(topic, p0=50), endingOffsets=offsets(topic, p0=90),
    )  # fmt: skip
    sandbox.faults.logs.recreate(topic)
    topics.values(topic, 5)
    sentence, _ = fails(lambda: frame)
    assert "ends at 5, but offsets up to 90 were requested: the topic was deleted and recreated" in sentence


def test_json_becomes_typed_columns_and_an_error_or_null_where_it_does_not_fit(spark, topics):
    topic = topics.make(1)
    good = [b'{"id": %d, "user": {"name": "n%d"}, "tags": ["a"], "more": 1}' % (n, n) for n in range(50)]
    rows = [
        *good,
        b"not json",
        None,
        b'{"id": "text", "user": 3}',
        b'{\n"id": 7}',
        b"[1]",
        b'{"id": 8, "user": {"name": 9}}',
    ]
    topics.fill(topic, [(0, None, b"\xc3\xa9", row, ()) for row in rows])
    wanted = {
        "keyFormat": "string", "valueFormat": "json", "columns": "key,value,valueError,offset",
        "valueSchema": "id BIGINT, user STRUCT<name: STRING>, tags ARRAY<STRING>",
    }  # fmt: skip
    sentence, code = fails(lambda: read(spark, topics.bootstrap, topic, **wanted))
    assert sentence.startswith(f"{topic}[0] offset 50: bad value: not a JSON object; onBad=null")
    assert code == 1
    frame = read(spark, topics.bootstrap, topic, onBad="null", **wanted)
    found = frame.selectExpr("key", "value IS NULL AS none", "value.id", "value.user.name", "value.tags").orderBy(
        "offset"
    )
    rows = [tuple(row) for row in found.collect()]
    assert rows[:50] == [("é", False, n, f"n{n}", ["a"]) for n in range(50)]
    assert [row[1:] for row in rows[50:]] == [
        (False, None, None, None),
        (True, None, None, None),
        (False, None, None, None),
        (False, 7, None, None),
        (False, None, None, None),
        (False, 8, "9", None),
    ]
    bad = frame.where("valueError IS NOT NULL").orderBy("offset").collect()
    assert [(row.offset, row.valueError) for row in bad] == [
        (50, "not a JSON object"),
        (52, 'field id: "text" is not BIGINT'),
        (54, "not a JSON object"),
    ]
    quick = read(
        spark, topics.bootstrap, topic, valueFormat="json", valueSchema="id BIGINT, no INT", columns="value",
        endingOffsets=offsets(topic, p0=50),
    )  # fmt: skip
    assert quick.selectExpr("sum(value.id)", "count(value.no)").collect()[0][:] == (1225, 0)


def test_filters_on_place_and_time_narrow_what_is_read(spark, topics, spark_log):
    topic = topics.make(4)
    for partition in range(4):
        topics.fill(topic, [(partition, 1_000_000 + n, None, b"x", ()) for n in range(500)])
    names = "topic,partition,offset,timestamp"

    def fresh():
        """A frame for each query: Spark keeps what a frame's first query pushed down, whatever the next one asks."""
        return read(spark, topics.bootstrap, topic, pushdown="true", columns=names)

    some = fresh().where("partition IN (1, 2) AND offset >= 100 AND offset < 110 AND topic IS NOT NULL")
    assert sorted((row.partition, row.offset) for row in some.collect()) == [
        (p, n) for p in (1, 2) for n in range(100, 110)
    ]
    assert "20 offsets left" in spark_log.read_text()
    late = fresh().where("timestamp >= timestamp_millis(1000490) AND partition = 3")
    assert sorted(row.offset for row in late.collect()) == list(range(490, 500))
    assert "; 10 offsets left" in spark_log.read_text()
    assert fresh().where("partition = 0 OR offset = 1").count() == 503


def test_a_frame_reads_the_range_that_its_first_query_saw(spark, topics):
    topic = topics.make(1)
    topics.values(topic, 10)
    frame = read(spark, topics.bootstrap, topic)
    assert frame.count() == 10
    topics.values(topic, 10)
    assert frame.count() == 10
    assert read(spark, topics.bootstrap, topic).count() == 20


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"startingOffset": "earliest"}, "unknown option startingoffset; did you mean startingOffsets"),
        ({"startingOffsets": "latest"}, "option startingOffsets latest: a batch would be empty"),
        ({"endingOffsets": "earliest"}, "option endingOffsets: a batch cannot end at earliest (-2)"),
        ({"assign": '{"a":[0]}'}, "exactly one of the options subscribe, subscribePattern and assign"),
        (
            {"kafka__auto__offset__reset": "latest"},
            "option kafka.auto.offset.reset is not supported: use startingOffsets",
        ),
        ({"kafka__fetch__min__byte": "1"}, "unknown property fetch.min.byte"),
        ({"columns": "key,vlaue"}, "unknown column vlaue; did you mean value"),
        ({"valueFormat": "json"}, "option valueFormat json requires valueSchema"),
        ({"startingOffsets": '{"other":{"0":1}}'}, "must name every partition exactly once"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(spark, topics, options, sentence):
    topic = topics.make(1)
    found, code = fails(lambda: read(spark, topics.bootstrap, topic, **options))
    assert sentence in found
    assert "\n" not in found
    assert code == 2


def test_a_topic_that_is_not_there_and_a_cluster_that_is_not_there_say_so(spark, topics):
    sentence, code = fails(lambda: read(spark, topics.bootstrap, "no/such"))
    assert "no/such" in sentence
    assert code == 1
    sentence, code = fails(lambda: read(spark, "127.0.0.1:1", "t", kafka__default__api__timeout__ms="300"))
    assert "127.0.0.1" in sentence
    assert code in (4, 5)


def test_a_schema_of_ones_own_has_columns_that_there_are(spark, topics):
    topic = topics.make(1)
    topics.values(topic, 3)
    reader = spark.read.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap)
    rows = reader.schema("offset BIGINT, value BINARY").load(topic).collect()
    assert [tuple(row) for row in rows] == [(0, b"0"), (1, b"1"), (2, b"2")]
    assert "there is no price" in fails(lambda: reader.schema("price INT").load(topic))[0]
    assert "column offset is BIGINT, not INT" in fails(lambda: reader.schema("offset INT").load(topic))[0]
