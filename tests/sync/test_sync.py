"""SyncClient on the sandbox: producer, consumer, admin, each as a program without async uses it."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kcli
from kcli.admin.admin import Admin
from kcli.model import TopicPartition
from kcli.proto import core
from kcli.proto.batch import CorruptBatch, seal
from kcli.sync.admin import SyncAdmin

READ_COMMITTED = kcli.ConsumerSettings(isolation="read_committed")
LINES = [b"%d" % number for number in range(100)]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[kcli.SandboxThread]:
    with kcli.SandboxThread(topics={"rows": 3, "empty": 1}) as sandbox:
        with kcli.SyncClient(sandbox.bootstrap) as kafka, kafka.producer() as producer:
            producer.send_records("rows", [(number % 3, None, None, line, ()) for number, line in enumerate(LINES)])
        yield sandbox


@pytest.fixture(scope="module")
def bootstrap(sandbox: kcli.SandboxThread) -> str:
    return sandbox.bootstrap


@pytest.fixture
def kafka(bootstrap: str) -> Iterator[kcli.SyncClient]:
    with kcli.SyncClient(bootstrap) as client:
        yield client


def test_a_record_that_is_sent_comes_back(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="one", partitions=1)])
    with kafka.producer() as producer:
        stored = producer.send_and_wait("one", b"value", b"key", [("a", b"1")], 0, 1_700_000_000_000)
        later = producer.send("one", None)
        assert (stored.topic, stored.partition, stored.offset) == ("one", 0, 0)
        assert later.result(10).offset == 1
        assert producer.counts.acked == 2
    with kafka.consumer("one", stop_at_end=True) as consumer:
        first, second = consumer
    assert first[:7] == ("one", 0, 0, 1_700_000_000_000, b"key", b"value", [("a", b"1")])
    assert (second.key, second.value) == (None, None)


def test_an_error_of_a_record_is_raised_by_its_future(kafka: kcli.SyncClient) -> None:
    with kafka.producer(kcli.ProducerSettings(max_block=0.5)) as producer:
        with pytest.raises(kcli.KcliError, match="no-such"):
            producer.send_and_wait("no-such", b"v")
        (refused,) = producer.send_all("no-such", [(None, None, None, b"v", ())])
        assert isinstance(refused, kcli.KcliError)


def test_a_consumer_reads_all_partitions_to_their_ends(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", "empty", stop_at_end=True) as consumer:
        assert sorted((message.value for message in consumer), key=int) == LINES


def test_a_consumer_starts_where_it_is_told(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", start=kcli.Bound("relative", 2), stop_at_end=True) as consumer:
        assert len(list(consumer)) == 6
    with kafka.consumer("rows", start="latest", stop_at_end=True) as consumer:
        assert list(consumer) == []


def committed(kafka: kcli.SyncClient, group: str) -> int:
    offsets = kafka.admin.committed([group])[group]
    assert isinstance(offsets, dict)
    return sum(at.offset for at in offsets.values() if not isinstance(at, kcli.KcliError))


def test_leaving_in_the_middle_commits_what_was_iterated_over_and_nothing_more(kafka: kcli.SyncClient) -> None:
    seen = []
    with kafka.consumer("rows", group="middle") as consumer:
        for message in consumer:
            seen.append(message.value)
            if len(seen) == 40:
                break
    assert committed(kafka, "middle") == 40
    with kafka.consumer("rows", group="middle") as consumer:
        seen += [next(consumer).value for _ in range(60)]
    assert sorted(seen, key=int) == LINES
    assert committed(kafka, "middle") == 100


def test_an_exception_commits_nothing_of_the_last_fetch(kafka: kcli.SyncClient) -> None:
    class Broken(Exception):
        pass

    def read() -> None:
        with kafka.consumer("rows", group="broken") as consumer:
            next(consumer)
            raise Broken

    with pytest.raises(Broken):
        read()
    assert committed(kafka, "broken") == 0


def test_ctrl_c_in_the_wait_for_a_fetch_that_came_commits_nothing_of_it(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", group="interrupted") as consumer:
        run = consumer._thread.run

        def interrupted(work: Any) -> Any:
            run(work)
            raise KeyboardInterrupt

        consumer._thread.run = interrupted  # type: ignore[method-assign]
        try:
            with pytest.raises(KeyboardInterrupt):
                next(consumer)
        finally:
            consumer._thread.run = run  # type: ignore[method-assign]
    assert committed(kafka, "interrupted") == 0


def test_a_commit_is_past_the_marker_that_ends_a_partition(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="marked", partitions=2)])
    with kafka.producer(kcli.ProducerSettings(transactional_id="marks")) as producer, producer.transaction():
        producer.send_records("marked", [(number % 2, None, None, b"v", ()) for number in range(6)])
    with kafka.consumer("marked", group="marked", settings=READ_COMMITTED) as consumer:
        for _ in range(6):
            next(consumer)
        with kafka.producer() as producer:
            producer.send_and_wait("marked", b"later", partition=1)
        assert next(consumer).value == b"later"
        consumer.commit()
        there = consumer.committed([TopicPartition("marked", number) for number in range(2)])
    assert {at.partition: one and one.offset for at, one in there.items()} == {0: 4, 1: 5}


def test_a_partition_that_comes_back_is_not_committed_where_this_member_left_it(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="moves", partitions=2)])
    own = kcli.GroupSettings(group="moves", auto_commit=False, heartbeat_interval=0.1)
    with kafka.producer() as producer, kafka.consumer("moves", group=own) as first:
        producer.send_records("moves", [(number % 2, None, None, b"v", ()) for number in range(20)])
        for _ in range(20):
            next(first)
        with kafka.consumer("moves", group=own) as second:
            until(lambda: len(second.assignment) == len(first.assignment) == 1, lambda: (first.poll(0), second.poll(0)))
            (moved,) = second.assignment
            producer.send_records("moves", [(moved.partition, None, None, b"v", ())] * 5)
            until(lambda: second.position(moved) == 15, lambda: (first.poll(0), second.poll(0)))
            second.commit()
        until(lambda: len(first.assignment) == 2, lambda: first.poll(0))
        producer.send_and_wait("moves", b"v", partition=1 - moved.partition)
        next(first)
        first.commit()
        there = first.committed([moved])[moved]
    assert there is not None
    assert there.offset == 15


def until(holds: Callable[[], bool], step: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        step()
        time.sleep(0.01)


def test_threads_that_iterate_over_one_consumer_share_its_records(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="shared", partitions=4)])
    with kafka.producer() as producer:
        for start in range(0, 20_000, 100):
            producer.send_records("shared", [(n % 4, None, None, b"%d" % n, ()) for n in range(start, start + 100)])
            producer.flush()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with kafka.consumer("shared", stop_at_end=True) as consumer:
            seen: list[list[bytes | None]] = [[], []]
            threads = [
                threading.Thread(target=lambda own=own: own.extend(message.value for message in consumer))
                for own in seen
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    values = [int(value or 0) for own in seen for value in own]
    assert sorted(values) == list(range(20_000))


def test_a_thread_that_comes_late_to_the_next_batch_opens_no_other(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", stop_at_end=True) as consumer:
        first = next(consumer)
        consumer._go_on()
        assert len([first, *consumer]) == 100


def test_a_corrupt_batch_is_raised_again_and_not_committed(kafka: kcli.SyncClient, sandbox: kcli.SandboxThread) -> None:
    def batch(value: bytes) -> bytearray:
        builder = core.Builder()
        builder.append(1000, None, value)
        return bytearray(seal(builder.take(), 1, 1000, 1000).data)

    broken = batch(b"bad")
    broken[61] = 0x7F  # the length of its record
    kafka.admin.create_topics([kcli.NewTopic(topic="broken", partitions=1)])
    for data in (batch(b"good"), broken, batch(b"after")):
        sandbox.faults.logs.append("broken", 0, bytes(data))
    at = TopicPartition("broken", 0)
    with kafka.consumer("broken", group="corrupt") as consumer:
        assert next(consumer).value == b"good"
        for _ in range(2):
            with pytest.raises(CorruptBatch):
                next(consumer)
    with kafka.consumer("broken", group="corrupt") as consumer:
        there = consumer.committed([at])[at]
        assert there is not None
        assert there.offset == 1
        with pytest.raises(CorruptBatch):
            next(consumer)
        consumer.seek(at, 2)
        assert next(consumer).value == b"after"


def test_a_loop_that_goes_on_after_a_break_misses_nothing(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", stop_at_end=True) as consumer:
        first = [next(consumer) for _ in range(7)]
        assert len([*first, *consumer]) == 100


def test_a_commit_in_the_middle_is_of_what_was_iterated_over(kafka: kcli.SyncClient) -> None:
    own = kcli.GroupSettings(group="by hand", auto_commit=False)
    with kafka.consumer("rows", group=own) as consumer:
        for _ in range(25):
            next(consumer)
        consumer.commit()
        for _ in range(25):
            next(consumer)
    assert committed(kafka, "by hand") == 25


def test_a_commit_stores_the_given_offsets_with_epoch_and_metadata(kafka: kcli.SyncClient) -> None:
    zero, one, two = (TopicPartition("rows", number) for number in range(3))
    with kafka.consumer("rows", group=kcli.GroupSettings(group="given", auto_commit=False)) as consumer:
        next(consumer)  # by default the place after it would be committed
        consumer.commit({zero: kcli.OffsetAndMetadata(7, 0, "checked by bob"), one: 5, two: 0})
        assert consumer.committed([zero, one, two]) == {
            zero: kcli.OffsetAndMetadata(7, 0, "checked by bob"),
            one: kcli.OffsetAndMetadata(5),
            two: kcli.OffsetAndMetadata(0),  # the beginning is a commit, too
        }
    stored = kafka.admin.committed(["given"])["given"]
    assert isinstance(stored, dict)
    assert stored[zero] == kcli.OffsetAndMetadata(7, 0, "checked by bob")


def test_after_a_poll_a_commit_is_of_what_was_polled(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", group=kcli.GroupSettings(group="polled", auto_commit=False)) as consumer:
        polled = consumer.poll(10)
        consumer.commit()
        there = consumer.committed([TopicPartition(one.topic, one.partition) for one in polled])
    assert polled
    assert [offset and offset.offset for offset in there.values()] == [one.next_offset for one in polled]


def test_seek_goes_back_and_positions_are_told(kafka: kcli.SyncClient) -> None:
    at = TopicPartition("rows", 0)
    with kafka.consumer("rows", stop_at_end=True) as consumer:
        assert consumer.assignment == {TopicPartition("rows", number) for number in range(3)}
        before = [message for message in consumer if message.partition == 0]
        consumer.seek(at, 30)
        again = [message for message in consumer if message.partition == 0]
        assert again == before[30:]
        assert consumer.position(at) == 34


def test_seek_drops_what_was_fetched_of_that_partition_and_of_no_other(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("rows", stop_at_end=True) as consumer:
        first = next(consumer)
        consumer.seek(TopicPartition("rows", first.partition), 3)
        rest = list(consumer)
    own = [message.offset for message in rest if message.partition == first.partition]
    assert own == list(range(3, own[-1] + 1))
    assert len({message[:3] for message in [first, *rest]}) == 100 - 2
    assert len(rest) == 100 - 3


def test_an_error_of_a_partition_is_raised_in_its_place_and_costs_no_other_one_a_record(
    kafka: kcli.SyncClient,
) -> None:
    with kafka.consumer("rows", stop_at_end=True) as consumer:
        consumer._consumer._reader.cursors[TopicPartition("rows", 1)].error = kcli.KcliError("moved away")
        seen: list[object] = []
        with pytest.raises(kcli.KcliError, match="moved away"):
            seen.extend(iter(consumer.__next__, None))
        seen += consumer
    assert len(seen) == 100


def test_heartbeats_go_on_while_the_program_works(kafka: kcli.SyncClient) -> None:
    own = kcli.GroupSettings(group="busy", session_timeout=1.0, heartbeat_interval=0.2)
    with kafka.consumer("rows", group=own) as consumer:
        next(consumer)
        time.sleep(1.5)
        described = kafka.admin.describe_groups(["busy"])["busy"]
        assert not isinstance(described, kcli.KcliError)
        assert (described.state, len(described.members)) == ("Stable", 1)


def test_transactions(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="paid", partitions=1)])
    with kafka.producer(kcli.ProducerSettings(transactional_id="sync")) as producer:
        with producer.transaction():
            producer.send("paid", b"kept")

        def fail() -> None:
            with producer.transaction():
                producer.send("paid", b"dropped")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
    committed_only = kcli.ConsumerSettings(isolation="read_committed")
    with kafka.consumer("paid", stop_at_end=True, settings=committed_only) as consumer:
        assert [message.value for message in consumer] == [b"kept"]


@pytest.mark.parametrize("problem", [ZeroDivisionError, KeyboardInterrupt])
def test_a_block_that_raises_leaves_no_transaction_open(kafka: kcli.SyncClient, problem: type[BaseException]) -> None:
    topic = f"left-{problem.__name__}"
    kafka.admin.create_topics([kcli.NewTopic(topic=topic, partitions=1)])
    with kafka.producer(kcli.ProducerSettings(transactional_id=topic)) as producer:

        def fail() -> None:
            with producer.transaction():
                producer.send_and_wait(topic, b"dropped")
                raise problem

        with pytest.raises(problem):
            fail()
        # while the producer lives: an open transaction would hold readers back, and refuse the next one
        with kafka.consumer(topic, stop_at_end=True, settings=READ_COMMITTED) as consumer:
            assert list(consumer) == []
            assert consumer.position(TopicPartition(topic, 0)) == 2  # past the record and the marker
        with producer.transaction():
            producer.send(topic, b"kept")
        with kafka.consumer(topic, stop_at_end=True, settings=READ_COMMITTED) as consumer:
            assert [message.value for message in consumer] == [b"kept"]


def test_offsets_are_committed_with_the_transaction(kafka: kcli.SyncClient) -> None:
    at = TopicPartition("rows", 2)
    with (
        kafka.producer(kcli.ProducerSettings(transactional_id="offsets")) as producer,
        kafka.consumer("rows", group=kcli.GroupSettings(group="with", auto_commit=False)) as consumer,
    ):
        next(consumer)
        with producer.transaction():
            producer.send_offsets({at: kcli.OffsetAndMetadata(9, 0, "of a transaction")}, consumer.group_metadata())
        assert consumer.committed([at]) == {at: kcli.OffsetAndMetadata(9, 0, "of a transaction")}


def test_administration(kafka: kcli.SyncClient) -> None:
    admin = kafka.admin
    created = admin.create_topics([kcli.NewTopic(topic="made", partitions=2)])
    assert not isinstance(created["made"], kcli.KcliError)
    assert admin.create_partitions({"made": 3}) == {"made": True}
    at = TopicPartition("made", 0)
    with kafka.producer() as producer:
        producer.send_all("made", [(0, None, None, b"v", ())] * 5)
    assert admin.delete_records({at: 2}) == {at: 2}
    start = admin.list_offsets({at: -2})[at]
    assert not isinstance(start, kcli.KcliError)
    assert start.offset == 2
    topic = kcli.Resource("topic", "made")
    assert admin.alter_configs({topic: [kcli.Operation(name="retention.ms", value="1000")]}) == {topic: True}
    (config,) = admin.describe_configs([topic], ["retention.ms"])[topic]  # type: ignore[misc]
    assert config.value == "1000"
    assert admin.commit("made-group", {at: 3}) == {at: True}
    assert "made-group" in {row.group for row in admin.groups()}
    assert admin.delete_commits("made-group", [at]) == {at: True}
    assert admin.delete_topics(["made", "never"])["made"] is True
    assert admin.describe_cluster().brokers
    assert "never" in str(admin.topics(["never"])["never"])
    assert admin.describe_groups([]) == {}


def test_each_function_of_admin_is_there_without_async() -> None:
    there = {name: function for name, function in vars(Admin).items() if inspect.iscoroutinefunction(function)}
    plain = {name: function for name, function in vars(SyncAdmin).items() if not name.startswith("_")}
    assert there.keys() == plain.keys()
    for name, function in there.items():
        assert inspect.signature(function) == inspect.signature(plain[name]), name
        assert function.__doc__ == plain[name].__doc__, name


@pytest.mark.parametrize(
    ("topics", "selection", "says"),
    [
        ((), {"start": "latest"}, "need topics"),
        ((), {"stop_at_end": True}, "need topics"),
        (("rows",), {"start": "begin"}, "start 'begin': expected earliest or latest"),
        (("rows",), {"group": "g", "start": kcli.Bound("offset", 5)}, "starts at committed offsets"),
        (("rows",), {"group": "g", "stop_at_end": True}, "stop_at_end"),
    ],
)
def test_wrong_selections_are_refused(
    topics: tuple[str, ...], selection: dict[str, Any], says: str, kafka: kcli.SyncClient
) -> None:
    with pytest.raises(kcli.UsageError, match=says):
        kafka.consumer(*topics, **selection)


def test_a_client_is_used_inside_of_its_block(bootstrap: str) -> None:
    client = kcli.SyncClient(bootstrap)
    with pytest.raises(kcli.UsageError, match="with block"):
        client.producer()
    with client:
        pass
    with pytest.raises(kcli.UsageError, match="with block"):
        _ = client.admin
    assert not [thread for thread in threading.enumerate() if thread.name == "kcli-sync"]


def test_a_transaction_commits_positions_that_are_numbers(kafka: kcli.SyncClient) -> None:
    at = TopicPartition("rows", 1)
    with kafka.producer(kcli.ProducerSettings(transactional_id="numbers")) as producer:
        with producer.transaction():
            producer.send_offsets({at: 7}, kcli.GroupMetadata("by-number"))
    assert kafka.admin.committed(["by-number"])["by-number"] == {at: kcli.OffsetAndMetadata(7)}
