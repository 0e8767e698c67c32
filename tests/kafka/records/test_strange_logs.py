"""Logs as they are in the wild: transactions, gaps, cut beginnings, broker's time, records of every shape."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcat, kcli


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    return create(kafka, topic_name())


def create(kafka: Kafka, name: str, *config: str) -> str:
    made = kcli("topics", "create", name, "-p", "1", "-b", kafka.bootstrap, *config)
    assert made.code == 0, made.err
    return name


def read(kafka: Kafka, topic: str, *words: str) -> Result:
    shown = kcli("consume", topic, "-b", kafka.bootstrap, "-e", *words, timeout=20)
    assert shown.code == 0, shown.err
    return shown


def offsets(kafka: Kafka, topic: str) -> tuple[int, int, int]:
    """Start, stable and end offset."""
    shown = kcli("offsets", topic, "-b", kafka.bootstrap, "--format", "ndjson")
    row = json.loads(shown.out)
    return row["start"], row["stable"], row["end"]


@contextmanager
def transaction(kafka: Kafka, topic: str, how: str) -> Iterator[Producer]:
    """A transaction of confluent-kafka that ends as `how` says: commit or abort."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": f"{topic}-{how}-{time.time_ns()}"})
    producer.init_transactions(20)
    producer.begin_transaction()
    yield producer
    producer.flush(20)
    if how == "commit":
        producer.commit_transaction(20)
    else:
        producer.abort_transaction(20)


def put(producer: Producer, topic: str, *values: str) -> None:
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(20) == 0


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_E13_committed_and_aborted_transactions(kafka: Kafka, topic: str, codec: str) -> None:
    at = ("-b", kafka.bootstrap)
    assert kcli("produce", topic, *at, "--value", "plain", "-z", codec).code == 0
    with transaction(kafka, topic, "commit") as one:
        put(one, topic, "c1", "c2")
        with transaction(kafka, topic, "abort") as other:  # interleaved with the first
            put(other, topic, "a1", "a2", "a3")
            put(one, topic, "c3")
    assert kcli("produce", topic, *at, "--value", "after").code == 0
    with transaction(kafka, topic, "abort") as last:
        put(last, topic, "a4")
    committed = [b"plain", b"c1", b"c2", b"c3", b"after"]
    everything = [b"plain", b"c1", b"c2", b"a1", b"a2", b"a3", b"c3", b"after", b"a4"]
    assert read(kafka, topic, "--isolation", "read_committed").out.split() == committed
    assert read(kafka, topic, "--isolation", "read_uncommitted").out.split() == everything
    assert read(kafka, topic, "-X", "isolation.level=read_committed").out.split() == committed
    theirs = kcat("-C", "-b", kafka.bootstrap, "-t", topic, "-o", "beginning", "-e", "-q",
                  "-X", "isolation.level=read_committed")  # fmt: skip
    assert theirs.out.split() == committed
    assert kcli("count", topic, *at, "--isolation", "read_committed").out.split()[-1] == b"5"
    assert kcli("count", topic, *at, "--isolation", "read_uncommitted").out.split()[-1] == b"9"
    shown = kcli("tail", topic, *at, "-n", "3", "--no-follow", "--isolation", "read_committed")
    assert shown.out.split() == committed[-3:]
    group = f"g-{topic}"
    grouped = read(kafka, topic, "--isolation", "read_committed", "-g", group, "--from-beginning")
    assert grouped.out.split() == committed
    lag = kcli("lag", group, "--by", "partition", *at, "--format", "ndjson")
    assert json.loads(lag.out)["lag"] == 0, "the marker at the end is read too"


def test_R2_F34_an_open_transaction_ends_a_bounded_read_and_it_says_so(kafka: Kafka, topic: str) -> None:
    assert kcli("produce", topic, "-b", kafka.bootstrap, "--value", "before").code == 0
    with transaction(kafka, topic, "abort") as open_one:
        put(open_one, topic, "undecided")
        assert kcli("produce", topic, "-b", kafka.bootstrap, "--value", "behind it").code == 0
        assert offsets(kafka, topic) == (0, 1, 3)
        shown = read(kafka, topic, "--isolation", "read_committed")
        assert shown.out == b"before\n"
        assert "transaction" in shown.err, "three records are there and one was shown: it should say why"
        assert read(kafka, topic, "--isolation", "read_committed", "-q").err == ""
        assert read(kafka, topic, "--isolation", "read_uncommitted").out == b"before\nundecided\nbehind it\n"
    shown = read(kafka, topic, "--isolation", "read_committed")
    assert (shown.out, shown.err) == (b"before\nbehind it\n", "")


def test_E18_a_log_that_ends_in_markers_only(kafka: Kafka, topic: str) -> None:
    for how in ("commit", "abort", "abort"):
        with transaction(kafka, topic, how) as one:
            put(one, topic, f"{how}ed")
    for isolation, wanted in (("read_committed", b"commited\n"), ("read_uncommitted", b"commited\naborted\naborted\n")):
        for words in ([], ["-o", "1"], ["-o", "3"], ["-o", "-1"]):
            shown = read(kafka, topic, "--isolation", isolation, *words)
            if not words:
                assert shown.out == wanted
    assert read(kafka, topic, "--isolation", "read_committed", "-o", "1").out == b""


@pytest.mark.needs("kcat")
def test_E18_a_compacted_log_with_gaps_and_a_compacted_end(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(
        kafka, topic_name(), "--config", "cleanup.policy=compact", "--config", "segment.bytes=1048576",
        "--config", "segment.ms=100", "--config", "min.cleanable.dirty.ratio=0.01",
        "--config", "max.compaction.lag.ms=100", "--config", "delete.retention.ms=1",
    )  # fmt: skip
    at = ("-b", kafka.bootstrap)
    lines = b"".join(b"k%d\tv%d\n" % (n % 10, n) for n in range(1000))
    assert kcli("produce", topic, *at, "-K", "\t", "-X", "batch.size=2000", stdin=lines).code == 0
    time.sleep(0.15)
    assert kcli("produce", topic, *at, "-K", "\t", stdin=b"roll\tsegment\n").code == 0
    deadline = time.monotonic() + 60
    while kcli("count", topic, *at).out.split()[-1] != b"11":
        assert time.monotonic() < deadline, kcli("count", topic, *at)
        time.sleep(0.3)
    shown = read(kafka, topic, "-f", "%o %k %s\\n").out.decode().splitlines()
    assert shown == [f"{n} k{n % 10} v{n}" for n in range(990, 1000)] + ["1000 roll segment"]
    theirs = kcat("-C", "-b", kafka.bootstrap, "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%o %k %s\n")
    assert theirs.out.decode().splitlines() == shown
    assert read(kafka, topic, "-o", "0:995", "-f", "%o\\n").out.split() == [b"%d" % n for n in range(990, 995)]
    assert read(kafka, topic, "-o", "0:500").out == b"", "nothing is left there; nothing hangs"
    assert kcli("tail", topic, *at, "-n", "3", "--no-follow").out.split() == [b"v998", b"v999", b"segment"]


def test_F28_a_log_whose_beginning_was_deleted(kafka: Kafka, topic: str) -> None:
    lines = b"".join(b"%d\n" % n for n in range(1000))
    assert kcli("produce", topic, "-b", kafka.bootstrap, "-X", "batch.size=1000", stdin=lines).code == 0
    plan = {"partitions": [{"topic": topic, "partition": 0, "offset": 777}], "version": 1}
    file = kafka.root / f"{topic}.json"
    file.write_text(json.dumps(plan))
    done = kafka.tool(
        "org.apache.kafka.tools.DeleteRecordsCommand",
        "--bootstrap-server", kafka.bootstrap, "--offset-json-file", str(file),
    )  # fmt: skip
    assert "low_watermark: 777" in done, done
    assert offsets(kafka, topic) == (777, 1000, 1000)
    rest = [b"%d" % n for n in range(777, 1000)]
    assert read(kafka, topic).out.split() == rest
    assert read(kafka, topic, "-o", "5").out.split() == rest, "from the nearest there is"
    assert read(kafka, topic, "-o", "+3").out.split() == rest[3:]
    assert read(kafka, topic, "-o", "0:780").out.split() == rest[:3]
    assert kcli("count", topic, "-b", kafka.bootstrap).out.split()[-1] == b"223"


def test_E4_LogAppendTime_is_the_brokers_time(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka, topic_name(), "--config", "message.timestamp.type=LogAppendTime")
    before = int(time.time() * 1000)
    at = ("-b", kafka.bootstrap)
    assert kcli("produce", topic, *at, "--timestamp", "1000000000", "--value", "x", "-z", "gzip").code == 0
    shown = json.loads(read(kafka, topic, "-J").out)
    assert shown["timestamp_type"] == "append"
    assert before <= shown["timestamp"] <= int(time.time() * 1000)
    assert read(kafka, topic, "-f", "%T").out.decode() == str(shown["timestamp"])
    found = kcli("offsets", topic, *at, "--at", str(before - 1), "--format", "ndjson")
    assert (json.loads(found.out)["at_offset"], json.loads(found.out)["at_timestamp"]) == (0, shown["timestamp"])


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_of_every_shape(kafka: Kafka, topic: str, codec: str) -> None:
    big = os.urandom(450_000).hex()
    rows: list[dict[str, Any]] = [
        {"key": None, "value": None}, {"key": "", "value": ""}, {"key": "k", "value": "1"},
        {"key": "tomb", "value": None}, {"key": None, "value": ""},
        {"key": "h", "value": "v", "headers": [["a", "1"], ["b", None], ["a", ""], ["a", "1"], ["größe", "ü"]]},
        {"key": {"base64": "AP8="}, "value": {"base64": "//79AA=="}}, {"key": "big", "value": big},
    ]  # fmt: skip
    given = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    sent = kcli("produce", topic, "-b", kafka.bootstrap, "--input", "json", "-z", codec, stdin=given)
    assert sent.code == 0, sent.err
    back = [json.loads(line) for line in read(kafka, topic, "--envelope").out.splitlines()]
    assert [{"key": row["key"], "value": row["value"]} for row in back] == [
        {"key": row["key"], "value": row["value"]} for row in rows
    ]
    assert back[5]["headers"] == rows[5]["headers"]
    theirs = kcat("-C", "-b", kafka.bootstrap, "-t", topic, "-o", "beginning", "-e", "-q", "-f", "%K %S %h\n")
    shapes = theirs.out.decode().splitlines()
    assert [row.split(" ")[:2] for row in shapes] == [
        ["-1", "-1"], ["0", "0"], ["1", "1"], ["4", "-1"], ["-1", "0"], ["1", "1"], ["2", "4"], ["3", "900000"],
    ]  # fmt: skip
    assert shapes[5].split(" ")[2] == "a=1,b=NULL,a=,a=1,größe=ü"


def test_a_record_larger_than_the_topic_takes_is_named(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka, topic_name(), "--config", "max.message.bytes=10000")
    lines = b"small\n" + b"x" * 20_000 + b"\nsmall too\n"
    sent = kcli("produce", topic, "-b", kafka.bootstrap, stdin=lines)
    assert sent.code == 1
    assert "MESSAGE_TOO_LARGE" in sent.err
    assert "3 records read: 2 acknowledged, 1 failed, 0 unknown, 0 not sent" in sent.err
    assert sorted(read(kafka, topic).out.split()) == [b"small", b"small", b"too"]
