"""Java clients and kcli on the same topics, both ways."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import kcli

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "1", "-b", kafka.bootstrap).code == 0
    return name


def test_the_console_consumer_reads_what_kcli_wrote_in_every_codec(kafka: Kafka, topic: str) -> None:
    lines = []
    for codec in CODECS:
        some = [f"k{n}\tvalue {n} größe {codec}" for n in range(1000)]
        given = "".join(line + "\n" for line in some).encode()
        sent = kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", "-H", "h=1", "-z", codec, stdin=given)
        assert sent.code == 0, sent.err
        lines += some
    theirs = kafka.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--from-beginning", "--max-messages", str(len(lines)),
        "--timeout-ms", "20000", "--formatter-property", "print.key=true", "--formatter-property", "print.headers=true",
    )  # fmt: skip
    assert [line for line in theirs.splitlines() if "\tvalue" in line] == [f"h:1\t{line}" for line in lines]


@pytest.mark.parametrize("codec", CODECS)
def test_kcli_reads_what_the_java_producer_wrote(kafka: Kafka, topic: str, codec: str) -> None:
    config = kafka.root / f"{topic}.properties"
    config.write_text(f"compression.type={codec}\nbatch.size=4000\nlinger.ms=5\n")
    told = kafka.tool(
        "org.apache.kafka.tools.VerifiableProducer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--max-messages", "3000",
        "--command-config", str(config),
    )  # fmt: skip
    acked = [row for row in map(json.loads, told.splitlines()) if row.get("name") == "producer_send_success"]
    assert len(acked) == 3000, told[-2000:]
    read = kcli("consume", topic, "-b", kafka.bootstrap, "-e", "-f", "%o %s\\n")
    assert read.code == 0, read.err
    there = {int(offset): value for offset, value in map(str.split, read.out.decode().splitlines())}
    assert there == {row["offset"]: row["value"] for row in acked}


def test_the_verifiable_consumer_goes_on_where_kcli_committed(kafka: Kafka, topic: str) -> None:
    given = b"".join(b"%d\n" % n for n in range(500))
    assert kcli("produce", topic, "-b", kafka.bootstrap, stdin=given).code == 0
    group = f"g-{topic}"
    first = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-c", "200")
    assert first.out.count(b"\n") == 200, first.err
    told = kafka.tool(
        "org.apache.kafka.tools.VerifiableConsumer",
        "--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group-id", group, "--max-messages", "100",
        "--verbose", "--session-timeout", "6000",
    )  # fmt: skip
    rows = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    values = [int(row["value"]) for row in rows if row["name"] == "record_data"]
    assert values[:100] == list(range(200, 300)), told[-2000:]
    last = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "-e")
    assert [int(word) for word in last.out.split()] == list(range(200 + len(values), 500)), (len(values), last.err)
