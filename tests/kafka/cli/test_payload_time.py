"""Payload times on a real Apache Kafka: transactions, markers, gaps and tombstones between the records; a group put
back, and a consumer that is not ours goes on there."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgpack
import pytest
from confluent_kafka import Consumer, Producer

from tests.kafka.cluster import Kafka
from tests.kafka.records.test_strange_logs import transaction
from tests.programs import kcli

BASE = 1_700_000_000
PARTITIONS, SIZE, JITTER = 3, 3000, 20


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    made = kcli("topics", "create", name, "-p", str(PARTITIONS), "-b", kafka.bootstrap)
    assert made.code == 0, made.err
    return name


def times() -> list[int]:
    """Payload times in ms, out of order by up to the jitter."""
    rng = random.Random(11)
    return [(BASE + n) * 1000 - rng.randint(0, JITTER * 1000) for n in range(SIZE)]


def test_a_range_of_payload_times_among_transactions_and_tombstones(kafka: Kafka, topic: str) -> None:
    made = times()
    plain = Producer({"bootstrap.servers": kafka.bootstrap, "compression.type": "zstd", "batch.size": 4000})
    for n, moment in enumerate(made):
        plain.produce(topic, msgpack.packb({"n": n, "at": moment}), partition=n % PARTITIONS)
        if n % 10 == 0:
            plain.produce(topic, None, key=b"gone", partition=n % PARTITIONS)
        if n % 1000 == 500:
            assert plain.flush(20) == 0
            for how in ("abort", "commit"):
                with transaction(kafka, topic, how) as producer:
                    value = msgpack.packb({"n": -1, "at": moment, "how": how})
                    for partition in range(PARTITIONS):
                        producer.produce(topic, value, partition=partition)
    assert plain.flush(20) == 0
    committed = [made[n] for n in range(SIZE) if n % 1000 == 500 for _ in range(PARTITIONS)]
    for start, end in ((490, 520), (0, 5), (2990, 9999), (1234, 1234.5)):
        first, last = (BASE + start) * 1000, (BASE + end) * 1000
        expected = sum(first <= moment < last for moment in made + committed)
        words = ("--time-field", "at", "--start", iso(BASE + start), "--end", iso(BASE + end), "-b", kafka.bootstrap)
        counted = kcli("count", topic, *words, "--jitter", f"{JITTER}s", "--isolation", "read_committed")
        assert (counted.code, int(counted.out)) == (0, expected), counted.err
        shown = kcli("consume", topic, *words, "--jitter", f"{JITTER}s", "--where", "value.n >= 0", "-f", "%o\\n")
        assert shown.code == 0, shown.err
        assert len(shown.out.split()) == sum(first <= moment < last for moment in made)


def test_a_group_put_back_is_where_another_consumer_goes_on(kafka: Kafka, topic: str) -> None:
    made = times()
    lines = b"".join(json.dumps({"event": {"at": moment}}).encode() + b"\n" for moment in made)
    assert kcli("produce", topic, "-p", "1", "-b", kafka.bootstrap, "-X", "batch.size=3000", stdin=lines).code == 0
    start = (BASE + 2000) * 1000
    done = kcli(
        "rollback", topic, "--create", "-t", topic, "--time-field", "event.at", "--start", iso(BASE + 2000),
        "--execute", "--no-undo", "-b", kafka.bootstrap, "--jitter", f"{JITTER}s",
    )  # fmt: skip
    assert done.code == 0, done.err
    expected = next(n for n, moment in enumerate(made) if moment >= start)
    theirs = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": topic, "auto.offset.reset": "error"})
    try:
        theirs.subscribe([topic])
        deadline = time.monotonic() + 30
        while (record := theirs.poll(1.0)) is None:
            assert time.monotonic() < deadline
        assert record.error() is None, record.error()
        assert (record.partition(), record.offset()) == (1, expected)
    finally:
        theirs.close()


def test_a_group_goes_back_by_timestamps_and_to_both_ends(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic, at = topic_name(), ("-b", kafka.bootstrap)
    assert kcli("topics", "create", topic, *at).code == 0
    for second in range(3):
        assert kcli("produce", topic, "--timestamp", iso(BASE + 10 * second), *at, stdin=b"v%d\n" % second).code == 0
    for start, expected in ((iso(BASE + 5), 1), ("latest", 3), ("earliest", 0), (iso(BASE + 20), 2)):
        done = kcli("rollback", topic, "--create", "-t", topic, "--start", start, "--execute", "--no-undo", *at)
        assert done.code == 0, done.err
        read = kcli("consume", topic, "-g", topic, "-e", *at)
        assert (read.code, read.out.split()) == (0, [b"v%d" % number for number in range(expected, 3)]), read.err
    for start, count in (("earliest", b"3\n"), ("latest", b"0\n")):
        assert kcli("count", topic, "--start", start, *at).out == count


def test_a_compacted_log_with_gaps(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic, at = topic_name(), ("-b", kafka.bootstrap)
    made = kcli(
        "topics", "create", topic, "-p", "1", *at, "--config", "cleanup.policy=compact",
        "--config", "segment.bytes=1048576", "--config", "segment.ms=100", "--config", "min.cleanable.dirty.ratio=0.01",
        "--config", "max.compaction.lag.ms=100", "--config", "delete.retention.ms=1",
    )  # fmt: skip
    assert made.code == 0, made.err
    # Keys come again after 50 records, but for every 97th: long gaps, then a dense end.
    lines = "".join(f"{n if n % 97 == 0 else f'k{n % 50}'}\tat={BASE + n}&n={n}\n" for n in range(2000))
    assert kcli("produce", topic, *at, "-K", "\t", "-X", "batch.size=2000", stdin=lines.encode()).code == 0
    time.sleep(0.15)
    assert kcli("produce", topic, *at, "-K", "\t", stdin=b"roll\tsegment\n").code == 0
    deadline = time.monotonic() + 60
    while int(kcli("count", topic, *at).out) > 100:
        assert time.monotonic() < deadline
        time.sleep(0.3)
    left = [int(line) for line in kcli("consume", topic, "-e", *at, "-f", "%o\\n").out.split()][:-1]
    for start, end in ((0, 500), (300, 1960), (980, 981), (1990, 3000)):
        words = ("--time-field", "at", "--start", str(BASE + start), "--end", str(BASE + end), "--jitter", "0")
        shown = kcli("consume", topic, *words, *at, "-f", "%o\\n", "--value-format", "url")
        assert shown.code == 0, shown.err
        assert [int(line) for line in shown.out.split()] == [n for n in left if start <= n < end]
