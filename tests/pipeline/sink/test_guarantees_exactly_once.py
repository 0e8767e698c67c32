"""The exactly-once sink: what is written is written once, whoever runs again, and what it refuses before it loses."""

from __future__ import annotations

import json

import pytest

from kcli.admin.groups.commits import committed_offsets
from kcli.asking.coordinators import Coordinators
from kcli.model import TopicPartition
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.errors import told
from kcli.pipeline.kept_client import Background
from kcli.pipeline.log import Log
from kcli.pipeline.offset_options import to_json
from kcli.pipeline.sink.exactly_once import Copying, provenance
from kcli.pipeline.sink.positions import Expired, begin, transactional_id
from kcli.producer.batches.ledger import Counts


def source(spark, topics, topic, **options):
    reader = spark.read.format("kcli").option("kafka.bootstrap.servers", topics.bootstrap).option("subscribe", topic)
    return reader.options(**options).load()


def copy(frame, topics, name, target):
    kept = frame.select("key", "value", "partition", "sourceTopic", "sourcePartition", "sourceOffset")
    sink = kept.write.format("kcli").mode("append").option("kafka.bootstrap.servers", topics.bootstrap)
    sink.option("topic", target).option("exactlyOnce", name).save()


def contents(topics, topic):
    return sorted((partition, int(record.value)) for partition, record in topics.read(topic))


def kept(topics, name):
    found = topics.run(lambda client: committed_offsets(Coordinators(client.cluster), [f"kcli-{name}"]))
    return {at: one.offset for at, one in found[f"kcli-{name}"].items()}


def test_a_copy_that_is_run_again_writes_only_what_is_new(spark, topics):
    topic, target = topics.make(2), topics.make(2)
    topics.values(topic, 100)
    topics.values(topic, 30, partition=1)
    copy(provenance(source(spark, topics, topic)), topics, "again", target)
    assert kept(topics, "again") == {TopicPartition(topic, 0): 100, TopicPartition(topic, 1): 30}
    copy(provenance(source(spark, topics, topic)), topics, "again", target)
    topics.values(topic, 5, start=100)
    copy(provenance(source(spark, topics, topic)).where("sourceOffset % 2 = 0"), topics, "again", target)
    assert contents(topics, target) == (
        [(0, n) for n in range(100)] + [(0, n) for n in (100, 102, 104)] + [(1, n) for n in range(30)]
    )
    assert kept(topics, "again")[TopicPartition(topic, 0)] == 105


def test_rows_that_were_mixed_are_refused_and_nothing_is_lost(spark, topics):
    topic, target = topics.make(2), topics.make(2)
    topics.values(topic, 1000)
    topics.values(topic, 1000, partition=1)
    for mixed in (
        provenance(source(spark, topics, topic)).repartition(2),
        provenance(source(spark, topics, topic)).orderBy("sourceOffset").coalesce(1),
        provenance(source(spark, topics, topic, maxRecordsPerPartition="500")),
    ):
        with pytest.raises(Exception, match="more than one task, or were out of order") as found:
            copy(mixed, topics, f"mixed-{id(mixed)}", target)
        assert "OutOfOrder" not in str(told(found.value))


def test_the_columns_that_say_where_a_row_is_from_are_a_must(spark, topics):
    topic, target = topics.make(), topics.make()
    topics.values(topic, 1)
    frame = source(spark, topics, topic).select("value")
    with pytest.raises(Exception, match="sourceTopic"):
        frame.write.format("kcli").mode("append").option("kafka.bootstrap.servers", topics.bootstrap).option(
            "topic", target
        ).option("exactlyOnce", "x").save()


def test_a_zombie_is_fenced_and_the_attempt_after_it_goes_on_where_it_committed(spark, topics):
    """A task of long ago, which holds an open transaction, is fenced by the next run and its records are not seen."""
    from kcli.model import GroupMetadata, OffsetAndMetadata
    from kcli.pipeline.kept_client import Background
    from kcli.producer.transactions.state import Fenced
    from kcli.settings import ProducerSettings

    topic, target = topics.make(), topics.make()
    topics.values(topic, 50)
    settings = ProducerSettings(transactional_id=transactional_id("z", TopicPartition(topic, 0)))
    at = TopicPartition(topic, 0)
    group = GroupMetadata("kcli-z")
    with Background(topics.settings) as kafka:
        zombie = kafka.client.producer(settings)
        kafka.run(zombie.start())
        kafka.run(zombie.begin())
        kafka.run(zombie.send_records(target, [(0, None, None, b"%d" % n, ()) for n in range(20)]))
        kafka.run(zombie.send_offsets({at: OffsetAndMetadata(offset=20)}, group))
        kafka.run(zombie.commit())
        kafka.run(zombie.begin())
        kafka.run(zombie.send_records(target, [(0, None, None, b"%d" % n, ()) for n in range(20, 40)]))
        kafka.run(zombie.flush())  # written, and not committed
        copy(provenance(source(spark, topics, topic)), topics, "z", target)
        with pytest.raises(Fenced):
            kafka.run(zombie.send_offsets({at: OffsetAndMetadata(offset=40)}, group))
        kafka.run(zombie.close(0))
    committed = source(spark, topics, target, **{"kafka.isolation.level": "read_committed"})
    assert sorted(int(row.value) for row in committed.collect()) == list(range(50))


def test_positions_are_where_a_new_start_begins_and_what_is_gone_is_told(topics):
    topic, target = topics.make(2), topics.make(2)
    topics.values(topic, 10)
    sealed = sealed_of({"kafka.bootstrap.servers": topics.bootstrap})
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    ends = {zero: 10, one: 0}
    with Log(sealed) as log:
        with pytest.raises(Expired, match="no longer has saved progress"):
            begin(log, "start", {zero: 4, one: 0}, ends, targets={topic: target}, resumed=True)
        first = begin(log, "start", {zero: 4, one: 0}, ends, targets={topic: target})
        assert first == {zero: 4, one: 0}
        assert begin(log, "start", {zero: 9, one: 0}, ends, targets={topic: target}, resumed=True) == first
        with pytest.raises(Expired, match="recreated"):
            begin(log, "start", {zero: 0, one: 0}, {zero: 3, one: 0}, targets={topic: target})
        # a source of another cluster: its topic is not here, so the target's stands for it, for one source only
        elsewhere = TopicPartition("elsewhere", 0)
        begin(log, "far", {elsewhere: 7}, {elsewhere: 9}, targets={"elsewhere": target})
        assert kept(topics, "far") == {TopicPartition(target, 0): 7}
        third = TopicPartition("third", 0)
        with pytest.raises(Expired, match="use another name"):
            begin(log, "far", {third: 0}, {third: 9}, targets={"third": target})


def test_positions_are_of_the_topic_that_was_copied_and_not_of_another_of_its_name(topics):
    topic, target = topics.make(1), topics.make(1)
    at, sealed = TopicPartition(topic, 0), sealed_of({"kafka.bootstrap.servers": topics.bootstrap})
    once, later = {"targets": {topic: target}, "ids": {topic: "A"}}, {"targets": {topic: target}, "ids": {topic: "B"}}
    with Log(sealed) as log, Background(sealed.client) as kafka:
        begin(log, "begun", {at: 0}, {at: 9}, **once)
        with pytest.raises(Expired, match=r"deleted and recreated \(topic id A then, B now\)"):
            begin(log, "begun", {at: 0}, {at: 9}, **later)
        copying = Copying(kafka, "wrote", at, "run/0", "A")
        copying.open(sealed, lambda outcome: None, target)
        copying.send([lambda producer: producer.send_records(target, [(0, None, None, b"x", ())])], 4)
        copying.finish()
        copying.close(Counts())
        assert begin(log, "wrote", {at: 0}, {at: 9}, **once) == {at: 5}
        with pytest.raises(Expired, match="copy it under another name"):
            begin(log, "wrote", {at: 0}, {at: 9}, **later)
        # what was written before ids were noted, and a cluster that tells none
        begin(log, "old", {at: 3}, {at: 9}, targets={topic: target})
        assert begin(log, "old", {at: 0}, {at: 9}, **later) == {at: 3}
        assert begin(log, "wrote", {at: 0}, {at: 9}, targets={topic: target}) == {at: 5}


@pytest.mark.parametrize("resumed", [True, None])
def test_one_that_goes_on_writes_no_position_from_which_rows_would_be_left_out(topics, resumed):
    """`-o end`, and killed before a new partition had a position: its rows are before the end, in the checkpoint."""
    topic, target = topics.make(2), topics.make(2)
    name = f"goes-on-{resumed}"
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with Log(sealed_of({"kafka.bootstrap.servers": topics.bootstrap})) as log:
        begin(log, name, {zero: 5}, {zero: 5}, targets={topic: target}, resumed=None)
        assert kept(topics, name) == {zero: 5}
        starts, ends = {zero: 9, one: 50}, {zero: 9, one: 50}
        found = begin(log, name, starts, ends, targets={topic: target}, resumed=resumed)
        assert found == {zero: 5, one: 50}
        assert kept(topics, name) == {zero: 5}
        begin(log, name, starts, ends, targets={topic: target})
        assert kept(topics, name) == {zero: 5, one: 50}, "a new one begins there"


def test_a_checkpoint_refuses_a_topic_that_was_made_anew_and_another_cluster(spark, topics, sandbox, request, tmp_path):
    from tests.pipeline.source.test_stream import available, stream
    from tests.pipeline.topics import Topics

    here = Topics(sandbox.bootstrap, request.node.name)
    topic = here.make(1)
    here.values(topic, 10)
    available(stream(spark, sandbox.bootstrap, topic), tmp_path / "c", [])
    begun = json.loads((tmp_path / "c" / "offsets" / "0").read_text().splitlines()[-1])
    assert begun[topic] == to_json({TopicPartition(topic, 0): 10})[topic]
    assert set(begun["@kcli"]["topics"]) == {topic}

    # the same name in another cluster
    topics.run(lambda client: create(client, topic))
    topics.values(topic, 20)
    with pytest.raises(Exception, match="the checkpoint belongs to cluster") as found:
        available(stream(spark, topics.bootstrap, topic), tmp_path / "c", [])
    assert str(told(found.value)).startswith("the checkpoint belongs to cluster")

    # the same name made anew, with more in it than before
    from tests.pipeline.source.test_stream import delete

    here.run(lambda client: delete(client, topic))
    here.run(lambda client: create(client, topic))
    here.values(topic, 20)
    with pytest.raises(Exception, match="deleted and recreated") as found:
        available(stream(spark, sandbox.bootstrap, topic), tmp_path / "c", [])
    assert str(told(found.value)).startswith(f"{topic} is not the topic that the checkpoint ")


async def create(client, topic):
    from kcli.admin.topics.topics import NewTopic, create_topics

    await create_topics(client.cluster, [NewTopic(topic=topic, partitions=1)])
