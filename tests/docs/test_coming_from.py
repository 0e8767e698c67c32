"""docs/library/coming-from.md names what other clients really have, and their defaults."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import confluent_kafka
import confluent_kafka.admin
import pytest

from kcli.settings import ConsumerSettings, ProducerSettings

aiokafka, kafka = import_module("aiokafka"), import_module("kafka")  # without types

PAGE = (Path(__file__).resolve().parents[2] / "docs/library/coming-from.md").read_text()
CLASSES = {
    "confluent-kafka": (confluent_kafka.Producer, confluent_kafka.Consumer, confluent_kafka.admin.AdminClient),
    "kafka-python": (kafka.KafkaProducer, kafka.KafkaConsumer, kafka.KafkaAdminClient),
    "aiokafka": (aiokafka.AIOKafkaProducer, aiokafka.AIOKafkaConsumer),
}
WORDS = {"consumer_timeout_ms", "async", "for"}
"""A setting, and what Python has."""


def tables() -> list[list[dict[str, str]]]:
    """The tables of the page: rows by the names of their columns."""
    found = []
    for text in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()]
        found.append([dict(zip(rows[0], row, strict=True)) for row in rows[2:]])
    return found


@pytest.mark.parametrize("client", CLASSES)
def test_what_a_client_is_said_to_have_is_there(client: str) -> None:
    cells = [row[client] for rows in tables()[1:] for row in rows if client in row]
    names = set(re.findall(r"`(?:await )?(\w+)", " ".join(cells))) - WORDS
    assert len(names) > 5
    assert names <= {name for one in CLASSES[client] for name in (one.__name__, *dir(one))}


def test_the_defaults_are_theirs() -> None:
    rows = {row[""]: row for row in tables()[0]}
    consumer, producer = kafka.KafkaConsumer.DEFAULT_CONFIG, kafka.KafkaProducer.DEFAULT_CONFIG
    reading = inspect.signature(aiokafka.AIOKafkaConsumer).parameters
    sending = inspect.signature(aiokafka.AIOKafkaProducer).parameters
    resets = ConsumerSettings().reset, consumer["auto_offset_reset"], reading["auto_offset_reset"].default
    levels = ConsumerSettings().isolation, consumer["isolation_level"], reading["isolation_level"].default
    once = ProducerSettings().idempotence, producer["enable_idempotence"], sending["enable_idempotence"].default
    lingers = ProducerSettings().linger * 1000, producer["linger_ms"], sending["linger_ms"].default
    for name, expected in (
        ("without a committed offset", [f"`{reset}`" for reset in resets]),
        ("isolation", [f"`{level}`" for level in levels]),
        ("idempotent producer", ["yes" if value else "no" for value in once]),
        ("linger", [f"{value:.0f} ms" if value else "0" for value in lingers]),
    ):
        assert [rows[name][client] for client in ("kcli", "kafka-python", "aiokafka")] == expected, name
