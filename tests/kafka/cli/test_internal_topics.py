"""Kafka's own topics, read with the formats that know their records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.kafka.cli.test_names import run
from tests.kafka.cluster import Kafka


def lines(kafka: Kafka, topic: str, format: str, key: str) -> list[tuple[Any, Any]]:
    """Keys and values of the records whose decoded key matches: other tests write here too."""
    words = ["--key-format", format, "--value-format", format, "-K", "\t", "-Z", "-e", "--key-grep", key]
    found = run(kafka, "consume", topic, *words).out.decode()
    pairs = [line.partition("\t")[::2] for line in found.splitlines()]
    return [(json.loads(key), None if value == "NULL" else json.loads(value)) for key, value in pairs]


def test_committed_offsets_and_transactions(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic, group, transaction = topic_name(), topic_name(), topic_name()
    run(kafka, "topics", "create", topic, "-p", "1")
    run(kafka, "produce", topic, "--value", "a", "--transactional-id", transaction)
    run(kafka, "consume", topic, "-g", group, "--from-beginning", "-e")
    offsets = [
        (key, value)
        for key, value in lines(kafka, "__consumer_offsets", "consumer-offsets", f'"{group}".*"type":"offset"')
        if value is not None
    ]
    assert offsets
    key, value = offsets[-1]
    assert (key["topic"], key["partition"]) == (topic, 0)
    assert value["offset"] >= 1
    states = [
        value["transactionStatus"] for _, value in lines(kafka, "__transaction_state", "transaction-state", transaction)
    ]
    assert states[-1] in ("PrepareCommit", "CompleteCommit")
