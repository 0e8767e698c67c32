"""Stream reads: every record once over restarts, in micro-batches as large as the options say."""

from __future__ import annotations

import json
import queue
import time

import pytest

from kcli.admin.groups.commits import committed_offsets
from kcli.asking.coordinators import Coordinators
from kcli.model import TopicPartition
from kcli.pipeline.errors import told


def stream(spark, bootstrap, topic, **options):
    reader = spark.readStream.format("kcli").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
    for name, value in {"startingOffsets": "earliest", **options}.items():
        reader = reader.option(name.replace("__", "."), value)
    return reader.load()


def available(frame, folder, seen):
    """Run a query to what is there now; its progress, batch by batch."""

    def take(batch, number):
        seen.append(
            (number, sorted((row.partition, row.offset) for row in batch.select("partition", "offset").collect()))
        )

    query = (
        frame.writeStream.foreachBatch(take)
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)
    return query


def sizes(seen):
    return [len(rows) for _, rows in seen]


def test_available_now_reads_what_is_there_in_limited_batches_and_goes_on_after_a_restart(spark, topics, tmp_path):
    topic = topics.make(2)
    topics.values(topic, 1000)
    topics.values(topic, 250, partition=1)
    seen = []
    query = available(stream(spark, topics.bootstrap, topic, maxOffsetsPerTrigger="500"), tmp_path, seen)
    assert sizes(seen) == [500, 500, 250]
    assert {p for p, _ in seen[0][1]} == {0, 1}  # each by its backlog
    assert json.loads(query.lastProgress["sources"][0]["endOffset"])[topic] == {"0": 1000, "1": 250}
    topics.values(topic, 30, partition=1)
    available(stream(spark, topics.bootstrap, topic, maxOffsetsPerTrigger="500"), tmp_path, seen)
    assert sizes(seen[3:]) == [30]
    available(stream(spark, topics.bootstrap, topic), tmp_path, seen)
    assert sizes(seen[4:]) == []
    every = [row for _, rows in seen for row in rows]
    assert sorted(every) == [(0, n) for n in range(1000)] + [(1, n) for n in range(280)]
    first = (tmp_path / "offsets" / "0").read_text().splitlines()[-1]
    assert set(json.loads(first)) == {topic, "@kcli"}


def test_a_limit_of_bytes_is_about_bytes(spark, topics, tmp_path):
    topic = topics.make(1)
    topics.fill(topic, [(0, None, None, b"x" * 1000, ())] * 1000, batch_size=20_000)
    seen = []
    available(stream(spark, topics.bootstrap, topic, maxBytesPerTrigger="300k"), tmp_path, seen)
    assert sum(sizes(seen)) == 1000
    assert 3 <= len(seen) <= 5


def test_compacted_holes_and_markers_end_a_batch_like_records(spark, sandbox, request, tmp_path):
    from tests.pipeline.topics import Topics

    topics = Topics(sandbox.bootstrap, request.node.name)
    topic = topics.make(1)
    for start in range(0, 100, 10):
        topics.values(topic, 10, start=start)
    sandbox.faults.logs.compact(topic, 0, lambda offset: offset % 10 == 9 or offset < 5)
    sandbox.faults.logs.end_with_marker(topic, 0)
    seen = []
    available(stream(spark, sandbox.bootstrap, topic, maxOffsetsPerTrigger="30"), tmp_path, seen)
    assert sum(sizes(seen)) == 15
    assert seen[-1][0] == 3


def test_a_group_shows_where_the_stream_is(spark, topics, tmp_path):
    topic = topics.make(1)
    topics.values(topic, 100)
    seen = []
    available(stream(spark, topics.bootstrap, topic, maxOffsetsPerTrigger="40", commitGroup="pipe"), tmp_path, seen)
    at = TopicPartition(topic, 0)
    found = topics.run(lambda client: committed_offsets(Coordinators(client.cluster), {"pipe": [at]}))
    assert found["pipe"][at].offset == 80  # of all but the last batch; the driver adds that one


def test_new_partitions_are_read_from_their_beginning(spark, topics, tmp_path):
    topic = topics.make(1)
    topics.values(topic, 10)
    seen = []
    available(stream(spark, topics.bootstrap, topic), tmp_path, seen)

    async def more(client):
        from kcli.proto.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic

        broker = await client.cluster.controller()
        await broker.ask(
            CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name=topic, count=2, assignments=None)], timeout_ms=5000
            )
        )

    topics.run(more)
    topics.values(topic, 7, partition=1)
    available(stream(spark, topics.bootstrap, topic), tmp_path, seen)
    assert seen[1][1] == [(1, n) for n in range(7)]


def test_a_stop_file_drains_the_query(spark, topics, tmp_path):
    topic, stop = topics.make(1), tmp_path / "stop"
    topics.values(topic, 100)
    frame = stream(spark, topics.bootstrap, topic, maxOffsetsPerTrigger="10", stopFile=str(stop))
    query = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c")).start()
    try:
        deadline = time.monotonic() + 30
        while query.lastProgress is None and time.monotonic() < deadline:
            time.sleep(0.02)
        stop.touch()
        while (query.status["isTriggerActive"] or query.status["isDataAvailable"]) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        query.stop()
    done = sorted(int(path.name) for path in (tmp_path / "c" / "commits").iterdir() if path.name.isdigit())
    begun = sorted(int(path.name) for path in (tmp_path / "c" / "offsets").iterdir() if path.name.isdigit())
    assert done == begun


def test_a_stream_waits_for_the_least_it_is_to_take(spark, topics, tmp_path):
    topic = topics.make(1)
    topics.values(topic, 10)
    frame = stream(spark, topics.bootstrap, topic, minOffsetsPerTrigger="50", maxTriggerDelay="1h")
    counts: queue.Queue[int] = queue.Queue()
    query = frame.writeStream.foreachBatch(lambda batch, _: counts.put(batch.count())).option(
        "checkpointLocation", str(tmp_path)
    ).start()  # fmt: skip
    try:
        assert counts.get(timeout=60) == 10, "the first batch does not wait: nothing says how old its records are"
        topics.values(topic, 20)
        with pytest.raises(queue.Empty):
            counts.get(timeout=2.0)
        topics.values(topic, 60)
        assert counts.get(timeout=60) >= 50
    finally:
        query.stop()


def test_a_topic_that_is_made_anew_under_a_query_is_an_error(spark, sandbox, request, tmp_path):
    from tests.pipeline.topics import Topics

    topics = Topics(sandbox.bootstrap, request.node.name)
    topic = topics.make(2)
    topics.values(topic, 50)
    available(stream(spark, sandbox.bootstrap, topic), tmp_path, [])
    topics.run(lambda client: delete(client, topic))
    with pytest.raises(Exception) as found:
        available(stream(spark, sandbox.bootstrap, topic), tmp_path, [])
    assert topic in str(told(found.value))


async def delete(client, topic):
    from kcli.admin.topics.topics import delete_topics, wait_for_topics

    await delete_topics(client.cluster, [topic])
    await wait_for_topics(client.cluster, [topic], gone=True)
