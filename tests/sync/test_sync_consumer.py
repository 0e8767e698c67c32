"""A SyncConsumer does what people know from other clients: it assigns, subscribes with callbacks, pauses, ends, and
tells; and a SyncProducer calls back and has transactions by hand."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

import kcli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.sandbox.thread import SandboxThread

AT = [kcli.TopicPartition("rows", number) for number in range(3)]


@pytest.fixture
def kafka(sandbox: SandboxThread) -> Iterator[kcli.SyncClient]:
    """Three partitions with ten records each."""
    with kcli.SyncClient(sandbox.bootstrap) as client:
        client.admin.create_topics([kcli.NewTopic(topic="rows", partitions=3)])
        with client.producer() as producer:
            producer.send_all("rows", [(n % 3, None, None, b"%d" % n, ()) for n in range(30)])
        yield client


def values(consumer: kcli.SyncConsumer) -> list[int]:
    return sorted(int(message.value or b"") for message in consumer)


def test_partitions_are_assigned_and_end_where_they_should(kafka: kcli.SyncClient) -> None:
    with kafka.consumer() as consumer:
        consumer.assign({AT[0]: 8})
        consumer.stop_at({AT[0]: 10, AT[1]: 2})
        consumer.incremental_assign({AT[1]: 0, AT[0]: 0})
        assert consumer.assignment == {AT[0], AT[1]}
        assert (consumer.finished, values(consumer), consumer.finished) == (False, [1, 4, 24, 27], True)
        assert consumer.position(AT[0]) == 10


def test_a_partition_that_is_paused_gives_nothing(kafka: kcli.SyncClient) -> None:
    with kafka.consumer() as consumer:
        consumer.assign(dict.fromkeys(AT, 0))
        consumer.stop_at(dict.fromkeys(AT, 10))
        first = next(consumer)
        held = kcli.TopicPartition(first.topic, first.partition)
        consumer.pause(held)
        assert consumer.paused == {held}
        others = list(islice(consumer, 20))
        assert {message.partition for message in others} == {0, 1, 2} - {held.partition}
        assert consumer.poll(0.2) == []
        consumer.resume(held)
        assert consumer.paused == set()
        assert len(values(consumer)) == 9


@pytest.mark.timeout(60)
def test_callbacks_of_a_pattern_may_use_the_consumer(kafka: kcli.SyncClient) -> None:
    seen: list[tuple[str, int, bool]] = []
    own = threading.get_ident()

    with kafka.consumer(group="g") as consumer:

        def came(partitions: set[kcli.TopicPartition]) -> None:
            committed = consumer.committed(partitions)  # a callback of another thread than the client's may wait for it
            seen.append(("came", len(committed), threading.get_ident() != own))
            consumer.seek(AT[2], 9)

        def went(partitions: set[kcli.TopicPartition]) -> None:
            seen.append(("went", len(partitions), threading.get_ident() != own))

        consumer.subscribe("row.*", on_assigned=came, on_revoked=went)
        got = sorted(int(message.value or b"") for message in islice(consumer, 21))
        assert got == sorted([n for n in range(30) if n % 3 != 2] + [29])
        assert seen == [("came", 3, True)]
    assert seen == [("came", 3, True), ("went", 3, True)]


def test_notices_are_told(kafka: kcli.SyncClient) -> None:
    told: list[str] = []
    with kafka.consumer() as consumer:
        consumer.on_notice = told.append
        assert consumer.on_notice is not None
        consumer.assign({AT[0]: 500})
        assert consumer.poll(5), "out of range: it starts again at the beginning"
    assert "500" in told[0]


def test_a_record_is_reported_once_with_where_it_is_or_why_not(kafka: kcli.SyncClient) -> None:
    told: list[Any] = []
    settings = kcli.ProducerSettings(linger=20)
    with kafka.producer(settings) as producer:
        producer.send("rows", b"x", partition=1, on_delivery=lambda *both: told.append(both))
        producer.flush()
        producer.send("rows", b"y", partition=1, on_delivery=lambda *both: told.append(both))
        assert producer.abort_buffered() == 1
    (stored, none), (nowhere, error) = told
    assert (stored.partition, stored.offset, none, nowhere) == (1, 10, None, None)
    assert isinstance(error, kcli.Aborted)


def test_transactions_by_hand(kafka: kcli.SyncClient) -> None:
    committed = kcli.ConsumerSettings(isolation="read_committed")
    with kafka.producer(kcli.ProducerSettings(transactional_id="t")) as producer:
        producer.begin()
        producer.send("rows", b"100", partition=0)
        producer.commit()
        producer.begin()
        producer.send("rows", b"200", partition=0)
        producer.abort()
    with kafka.consumer("rows", stop_at_end=True, settings=committed) as consumer:
        assert values(consumer) == [*range(30), 100]


def test_the_lag_of_a_group_is_one_call(kafka: kcli.SyncClient) -> None:
    kafka.admin.commit("g", dict.fromkeys(AT, 4)).check()
    lag = kafka.lag("g")
    assert (lag.lag, lag.at_least, set(lag.partitions)) == (18, False, set(AT))
    assert sum(one.lag or 0 for one in lag.partitions.values()) == 18
    with pytest.raises(kcli.KcliError, match="nobody"):
        kafka.lag("nobody")


def test_a_message_says_whose_time_it_has_and_the_epoch_of_its_leader(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics(
        [kcli.NewTopic(topic="stamped", partitions=1, configs={"message.timestamp.type": "LogAppendTime"})]
    ).check()
    with kafka.producer() as producer:
        producer.send_and_wait("stamped", b"x", timestamp=5)
    with kafka.consumer("rows", "stamped", stop_at_end=True) as consumer:
        found = {(message.topic, message.timestamp_type, message.leader_epoch >= 0) for message in consumer}
    assert found == {("rows", "create", True), ("stamped", "append", True)}
