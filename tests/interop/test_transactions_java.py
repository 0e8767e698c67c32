"""Apache Kafka's own producer on the sandbox, by protocol v2 (KIP-890), and its command for transactions (KIP-664)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.kafka.tools import run_tool

pytestmark = [pytest.mark.kafka, pytest.mark.needs("java", "mvn")]


def tool(name: str, *arguments: str) -> str:
    return run_tool(f"org.apache.kafka.tools.{name}", *arguments)


def test_D37_the_java_producer_commits_by_protocol_v2_and_its_transactions_are_described(
    bootstrap: str, topic: str, tmp_path: Path
) -> None:
    name = f"tx-{topic}"
    tool(
        "ProducerPerformance", "--topic", topic, "--num-records", "1500", "--record-size", "100", "--throughput",
        "3000", "--bootstrap-server", bootstrap, "--transactional-id", name, "--transaction-duration-ms", "50",
    )  # fmt: skip
    described = tool("TransactionsCommand", "--bootstrap-server", bootstrap, "describe", "--transactional-id", name)
    row = described.splitlines()[1].split()
    assert (row[1], row[4]) == (name, "CompleteCommit")
    assert int(row[3]) >= 2  # the epoch: one more at the end of each transaction
    producers = tool(
        "TransactionsCommand", "--bootstrap-server", bootstrap, "describe-producers", "--topic", topic,
        "--partition", "0",
    )  # fmt: skip
    assert re.search(rf"^{row[2]}\s+{row[3]}\s+0\s+-1\s+\d+\s+None", producers, re.MULTILINE), producers
    assert len(read(bootstrap, topic, 1500)) == 1500


def read(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "none", "isolation.level": "read_committed",
        "enable.partition.eof": True,
    })  # fmt: skip
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    for message in iter(lambda: consumer.poll(15), None):
        if message.error() is not None:  # the end of the partition
            break
        found.append(message.value() or b"")
    consumer.close()
    return found


def test_java_asks_for_offsets_by_isolation_and_time(bootstrap: str, topic: str) -> None:
    tool(
        "ProducerPerformance", "--topic", topic, "--num-records", "10", "--record-size", "100", "--throughput", "-1",
        "--bootstrap-server", bootstrap, "--transactional-id", f"tx-{topic}", "--transaction-duration-ms", "5000",
    )  # fmt: skip
    asked = ["--bootstrap-server", bootstrap, "--topic", topic, "--time"]
    assert tool("GetOffsetShell", *asked, "latest").strip() == f"{topic}:0:11"
    assert tool("GetOffsetShell", *asked, "earliest").strip() == f"{topic}:0:0"
    assert tool("GetOffsetShell", *asked, "max-timestamp").strip() == f"{topic}:0:10"
