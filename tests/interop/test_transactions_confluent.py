"""Transactions of confluent-kafka and kcat (librdkafka) on the sandbox, read back by kcat."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

pytestmark = pytest.mark.needs("kcat")


def kcat(bootstrap: str, *arguments: str, data: bytes = b"") -> bytes:
    command = ["kcat", "-b", bootstrap, "-q", *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=True, timeout=30).stdout


def committed(bootstrap: str, topic: str) -> list[bytes]:
    return kcat(bootstrap, "-C", "-t", topic, "-e", "-p", "0", "-X", "isolation.level=read_committed").split()


def uncommitted(bootstrap: str, topic: str) -> list[bytes]:
    return kcat(bootstrap, "-C", "-t", topic, "-e", "-p", "0", "-X", "isolation.level=read_uncommitted").split()


def producer(bootstrap: str, name: str, **options: Any) -> Producer:
    made = Producer({"bootstrap.servers": bootstrap, "transactional.id": name, "linger.ms": 0, **options})
    made.init_transactions(15)
    return made


def consumer(bootstrap: str, group: str) -> Consumer:
    return Consumer({
        "bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest",
        "enable.auto.commit": False, "session.timeout.ms": 6000, "isolation.level": "read_committed",
    })  # fmt: skip


def poll(one: Consumer, count: int) -> list[bytes]:
    found: list[bytes] = []
    deadline = time.monotonic() + 15
    while len(found) < count and time.monotonic() < deadline:
        found += [m.value() or b"" for m in one.consume(count - len(found), 0.2) if m.error() is None]
    return found


def test_confluent_commits_and_aborts_and_kcat_reads_what_was_committed(bootstrap: str, topic: str) -> None:
    one = producer(bootstrap, f"tx-{topic}")
    for value, commit in ((b"a", True), (b"b", False), (b"c", True), (b"d", False)):
        one.begin_transaction()
        for n in range(3):
            one.produce(topic, value + b"%d" % n, partition=0)
        if commit:
            one.commit_transaction(15)
        else:
            assert one.flush(15) == 0
            one.abort_transaction(15)
    assert committed(bootstrap, topic) == [b"a0", b"a1", b"a2", b"c0", b"c1", b"c2"]
    assert len(uncommitted(bootstrap, topic)) == 12


def test_confluent_sees_nothing_of_an_open_transaction_until_it_commits(bootstrap: str, topic: str) -> None:
    one = producer(bootstrap, f"tx-{topic}")
    one.begin_transaction()
    one.produce(topic, b"open", partition=0)
    assert one.flush(15) == 0
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", data=b"plain\n")
    assert committed(bootstrap, topic) == []
    assert uncommitted(bootstrap, topic) == [b"open", b"plain"]
    one.commit_transaction(15)
    assert committed(bootstrap, topic) == [b"open", b"plain"]


def test_confluent_consumes_transforms_and_produces_exactly_once(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", data=b"1\n2\n3\n4\n")
    one, group = producer(bootstrap, f"tx-{topic}"), f"g-{topic}"

    def round_(commit: bool) -> list[bytes]:
        reader = consumer(bootstrap, group)
        reader.subscribe([topic])
        values = poll(reader, 2)
        one.begin_transaction()
        for value in values:
            one.produce(f"{topic}-out", b"x" + value, partition=0)
        one.send_offsets_to_transaction(reader.position(reader.assignment()), reader.consumer_group_metadata(), 15)
        if commit:
            one.commit_transaction(15)
        else:
            one.abort_transaction(15)
        reader.close()
        return values

    assert round_(commit=False) == [b"1", b"2"]
    assert round_(commit=True) == [b"1", b"2"]
    assert round_(commit=True) == [b"3", b"4"]
    assert committed(bootstrap, f"{topic}-out") == [b"x1", b"x2", b"x3", b"x4"]
    reader = consumer(bootstrap, group)
    [position] = reader.committed([TopicPartition(topic, 0)], 15)
    assert position.offset == 4
    reader.close()


def test_D41_confluent_is_fenced_by_its_successor(bootstrap: str, topic: str) -> None:
    old = producer(bootstrap, f"tx-{topic}")
    old.begin_transaction()
    old.produce(topic, b"old", partition=0)
    assert old.flush(15) == 0
    new = producer(bootstrap, f"tx-{topic}")
    with pytest.raises(KafkaException) as fenced:
        old.commit_transaction(15)
    assert fenced.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)
    assert fenced.value.args[0].fatal()
    new.begin_transaction()
    new.produce(topic, b"new", partition=0)
    new.commit_transaction(15)
    assert committed(bootstrap, topic) == [b"new"]


def test_kcat_produces_in_a_transaction(bootstrap: str, topic: str) -> None:
    lines = b"".join(b"line-%d\n" % n for n in range(1000))
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-X", f"transactional.id=tx-{topic}", data=lines)
    assert committed(bootstrap, topic) == lines.split()


def test_E48_confluent_static_members_come_back_without_a_rebalance(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(15)
    rebalances: list[str] = []

    def member(name: str) -> Consumer:
        one = Consumer({
            "bootstrap.servers": bootstrap, "group.id": f"g-{topic}", "group.instance.id": name,
            "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 100,
        })  # fmt: skip
        one.subscribe([topic], on_assign=lambda *_: rebalances.append(name))
        return one

    first, second = member("a"), member("b")
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and not (len(first.assignment()) == len(second.assignment()) == 1):
        first.poll(0.05)
        second.poll(0.05)
    before = rebalances.count("b")
    first.close()
    again = member("a")
    count = rebalances.count("a")
    while time.monotonic() < deadline and rebalances.count("a") == count:
        again.poll(0.05)
        second.poll(0.05)
    assert rebalances.count("b") == before
    usurper = member("a")
    while time.monotonic() < deadline and rebalances.count("a") == count + 1:
        usurper.poll(0.05)
    fenced = None
    while time.monotonic() < deadline and fenced is None:
        try:
            message = again.poll(0.05)
        except KafkaException as raised:
            fenced = raised.args[0].code()
            break
        error = None if message is None else message.error()
        if error is not None:
            fenced = error.code()
    assert fenced in (KafkaError._FATAL, KafkaError.FENCED_INSTANCE_ID)
    assert rebalances.count("b") == before
    for one in (again, second, usurper):
        one.close()
